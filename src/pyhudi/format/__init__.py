"""Hudi on disk, as values: parses bytes to records and prints them back; does no IO, reads no clock."""
