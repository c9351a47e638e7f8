"""Spark as an engine: everything that knows Spark lives here and at the doors."""
