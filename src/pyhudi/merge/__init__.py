"""Rows that share a key: which one wins, and how rows travel between Arrow and the payloads of log blocks."""
