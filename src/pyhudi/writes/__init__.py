"""Writes that can be asked of a table: rows to file groups, file groups to a commit."""

from pyhudi.writes.write import OPERATIONS, Operation, WriteOptions, WriteResult, write_rows

__all__ = ["OPERATIONS", "Operation", "WriteOptions", "WriteResult", "write_rows"]
