"""Doors for people: the Python interface, Spark's format and SQL, the command line."""
