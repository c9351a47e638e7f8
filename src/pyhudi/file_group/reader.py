"""Reading file groups: a slice becomes batches of rows as a query sees them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.errors import CorruptTable, Unsupported
from pyhudi.file_group.spec import TableSpec
from pyhudi.format.log_file import BlockKind, Header, LogBlock, read_blocks, record_frames
from pyhudi.format.predicate import Predicate
from pyhudi.format.predicate import columns as predicate_columns
from pyhudi.format.schema import IS_DELETED, OPERATION, RECORD_KEY
from pyhudi.merge.arrow_schema import conform
from pyhudi.merge.avro import decode_records
from pyhudi.merge.deletes import Deletes, decode_deletes
from pyhudi.merge.filtering import matching
from pyhudi.merge.kernel import Changes
from pyhudi.storage import Storage
from pyhudi.table.slices import BaseFile, FileSlice, LogFile

BATCH_ROWS = 1 << 17


@dataclass(frozen=True, kw_only=True)
class Projection:
    """Which columns a query asks for, in its order, and which rows."""

    columns: tuple[str, ...]
    predicate: Predicate | None = None

    def schema(self, table: TableSpec) -> pa.Schema:
        """The columns with their types."""
        return pa.schema([table.file_schema.field(name) for name in self.columns])

    def needed(self, table: TableSpec) -> pa.Schema:
        """The query's columns and those its predicate looks at."""
        asked = {*self.columns, *(predicate_columns(self.predicate) if self.predicate is not None else ())}
        return pa.schema([field for field in table.file_schema if field.name in asked])


def read_slice(table: TableSpec, part: FileSlice, projection: Projection) -> Iterator[pa.Table]:
    """Rows of a slice, its log files merged over its base file, filtered and cut to the query's columns."""
    needed = projection.needed(table)
    if part.logs:
        batches = _merged(table, part, needed)
    elif part.base is not None:
        batches = read_base(table, part.base, needed)
    else:
        return
    for batch in batches:
        rows = batch if projection.predicate is None else batch.filter(matching(batch, projection.predicate))
        if len(rows):
            yield rows.select(list(projection.columns))


def read_base(table: TableSpec, base: BaseFile, schema: pa.Schema) -> Iterator[pa.Table]:
    """Rows of a base file in these columns."""
    with _opened(table.storage, base) as file:
        present = [name for name in schema.names if name in file.schema_arrow.names]
        if not present:
            count = file.metadata.num_rows
            yield pa.table([pa.nulls(count, field.type) for field in schema], schema=schema)
            return
        for batch in file.iter_batches(BATCH_ROWS, columns=present, use_threads=False):
            yield conform(batch, schema)


def read_changes(table: TableSpec, logs: Sequence[LogFile], schema: pa.Schema) -> Changes:
    """What log files say, folded to the last state of every key, in these columns and those that merging needs."""
    return Changes.fold(log_items(table, logs), table.rule, _for_merging(table, schema))


def log_items(table: TableSpec, logs: Sequence[LogFile]) -> Iterator[pa.RecordBatch | pa.Table | Deletes]:
    """What log files hold, block by block."""
    for log in logs:
        for block in read_blocks(table.storage.read(log.path), log.path):
            yield from _block_items(block, log.path)


def read_keys(table: TableSpec, part: FileSlice) -> pa.ChunkedArray:
    """Record keys of a slice: those of its base file, deleted or not, and those of rows that its log files hold.

    A compaction that was planned before a deleted key came back leaves that key in a log file alone.
    """
    schema = pa.schema([table.file_schema.field(RECORD_KEY)])
    tables = [] if part.base is None else list(read_base(table, part.base, schema))
    if part.logs:
        tables.append(read_changes(table, part.logs, schema).remaining())
    chunks = [chunk for rows in tables for chunk in rows.column(RECORD_KEY).chunks]
    return pa.chunked_array(chunks, type=pa.string())


def merged_rows(table: TableSpec, part: FileSlice, changes: Changes, schema: pa.Schema) -> Iterator[pa.Table]:
    """Base rows under the changes, batch by batch, then the rows that only the changes have."""
    if part.base is not None:
        for batch in read_base(table, part.base, schema):
            yield changes.merge(batch).rows
    yield changes.remaining()


def _merged(table: TableSpec, part: FileSlice, needed: pa.Schema) -> Iterator[pa.Table]:
    schema = _for_merging(table, needed)
    changes = read_changes(table, part.logs, schema)
    for rows in merged_rows(table, part, changes, schema):
        yield rows.select(needed.names)


def _for_merging(table: TableSpec, schema: pa.Schema) -> pa.Schema:
    """The schema with the key, the ordering column and what marks deletes."""
    rule = table.rule
    wanted = {*schema.names, RECORD_KEY, IS_DELETED, OPERATION, *rule.ordering_fields}
    if rule.delete_field is not None:
        wanted.add(rule.delete_field)
    return pa.schema([field for field in table.file_schema if field.name in wanted])


def _block_items(block: LogBlock, path: str) -> Iterator[pa.RecordBatch | pa.Table | Deletes]:
    _refuse_what_merges_otherwise(block, path)
    match block.kind:
        case BlockKind.AVRO_DATA:
            count, frames = record_frames(block.content)
            yield decode_records(frames, count, json.loads(block.headers[Header.SCHEMA]), path)
        case BlockKind.PARQUET_DATA:
            yield pq.ParquetFile(pa.BufferReader(block.content)).read(use_threads=False)
        case BlockKind.DELETE:
            yield decode_deletes(block.content, path)
        case BlockKind.CORRUPT:
            raise CorruptTable(
                f"{path}: damaged block at byte {block.offset} of a committed log file; restore the file from a copy"
            )
        case _:
            raise Unsupported(f"{path}: {block.kind.name} block at byte {block.offset}, which version 9 does not have")


def _refuse_what_merges_otherwise(block: LogBlock, path: str) -> None:
    if block.headers.get(Header.IS_PARTIAL, "false") == "true":
        raise Unsupported(f"{path}: partial updates (block at byte {block.offset}); compact the table with Hudi first")
    if Header.COMPACTED_BLOCK_TIMES in block.headers:
        raise Unsupported(f"{path}: log compaction (block at byte {block.offset}); compact the table with Hudi first")


def _opened(storage: Storage, base: BaseFile) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(StorageFile(storage, base.path, base.size), pre_buffer=True)
    except pa.ArrowInvalid as problem:
        raise CorruptTable(f"{base.path} is no readable Parquet file ({problem}); restore it from a copy") from problem


class StorageFile(io.RawIOBase):
    """A file of a storage as something seekable; every read is one ranged read."""

    def __init__(self, storage: Storage, path: str, size: int) -> None:
        super().__init__()
        self._storage = storage
        self._path = path
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        length = self._size - self._at if size is None or size < 0 else min(size, self._size - self._at)
        if length <= 0:
            return b""
        content = self._storage.read_range(self._path, self._at, length)
        self._at += len(content)
        return content
