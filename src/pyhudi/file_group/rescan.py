"""Ranges that a file's writer left out, from the file itself: Java keeps none of a file without rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from pyhudi.file_group.reader import log_items, read_base
from pyhudi.file_group.spec import TableSpec
from pyhudi.file_group.stats import RangeCollector
from pyhudi.format.metadata_records import ColumnRange
from pyhudi.merge.arrow_schema import conform
from pyhudi.merge.deletes import Deletes
from pyhudi.table.slices import BaseFile, LogFile


def ranges_of_file(table: TableSpec, file: BaseFile | LogFile, columns: Sequence[str]) -> tuple[ColumnRange, ...]:
    """The ranges of these columns over all rows of a file."""
    schema = pa.schema([field for field in table.file_schema if field.name in columns])
    collector = RangeCollector(schema, tuple(columns))
    for rows in _rows(table, file, schema):
        collector.add(rows)
    return collector.ranges(str(file.name), {})


def _rows(table: TableSpec, file: BaseFile | LogFile, schema: pa.Schema) -> Iterator[pa.Table]:
    if isinstance(file, BaseFile):
        yield from read_base(table, file, schema)
        return
    for item in log_items(table, [file]):
        if not isinstance(item, Deletes):
            yield conform(item, schema)
