"""Writing files of a file group: base files with all their footers, log files of data and delete blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pyhudi.errors import FileExists, LeaseLost
from pyhudi.file_group.footer import footers
from pyhudi.file_group.spec import WriteSpec
from pyhudi.file_group.stats import RangeCollector
from pyhudi.format.file_names import (
    PARQUET,
    PARTITION_METADATA,
    BaseFileName,
    FileId,
    LogFileName,
    MarkerKind,
    WriteToken,
    marker_path,
    partition_depth,
    print_partition_metadata,
)
from pyhudi.format.log_file import BlockKind, Header, frame_records, write_block
from pyhudi.format.metadata import WriteStat
from pyhudi.format.metadata_records import ColumnRange
from pyhudi.format.schema import FILE_NAME, RECORD_KEY
from pyhudi.merge.avro import encode_records
from pyhudi.storage import Content, joined


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file that a task wrote, with what the commit and the metadata table must know of it."""

    stat: WriteStat
    ranges: tuple[ColumnRange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseFileContent:
    """A finished base file: its path, size, number of rows and ranges."""

    path: str
    name: str
    size: int
    rows: int
    ranges: tuple[ColumnRange, ...]


def write_base_file(
    spec: WriteSpec, partition_path: str, file_id: FileId, token: WriteToken, rows: Iterable[pa.Table], kind: MarkerKind
) -> BaseFileContent:
    """Write a base file from batches of stored rows; its name goes into every row."""
    name = str(BaseFileName(file_id=file_id, write_token=token, instant=spec.instant, extension=PARQUET))
    marker = _announce(spec, partition_path, name, kind)
    collector = RangeCollector(spec.table.file_schema, spec.indexed_columns)
    keys: list[pa.ChunkedArray] = []
    misread: set[str] = set()

    def gathered() -> Iterator[pa.Table]:
        for batch in rows:
            named = _with_file_name(batch, name)
            collector.add(named)
            keys.append(named.column(RECORD_KEY))
            misread.update(_misread_floats(named))
            yield named

    content = _encoded(spec, gathered(), keys, frozenset())
    if misread:
        content = _encoded(spec, _decoded(content, spec.table.file_schema), keys, frozenset(misread))
    path = joined(partition_path, name)
    sizes = _column_sizes(content)
    _create(spec, path, [memoryview(content)], marker)
    count = sum(len(part) for part in keys)
    return BaseFileContent(path=path, name=name, size=content.size, rows=count, ranges=collector.ranges(name, sizes))


def write_log_file(
    spec: WriteSpec, partition_path: str, file_id: FileId, token: WriteToken, rows: pa.Table, deletes: bytes | None
) -> WrittenFile:
    """Write a log file: one data block (if there are rows), then one delete block (if there are deletes)."""
    name = str(LogFileName(file_id=file_id, instant=spec.instant, version=1, write_token=token))
    marker = _announce(spec, partition_path, name, MarkerKind.CREATE)
    headers = {Header.INSTANT_TIME: str(spec.instant), Header.SCHEMA: spec.table.file_avro_text}
    blocks: list[bytes] = []
    collector = RangeCollector(spec.table.file_schema, spec.indexed_columns)
    if len(rows):
        stored = _with_file_name(rows, file_id)
        collector.add(stored)
        records = frame_records(len(stored), encode_records(stored, spec.table.file_avro))
        blocks.append(write_block(BlockKind.AVRO_DATA, headers, records))
    if deletes is not None:
        blocks.append(write_block(BlockKind.DELETE, headers, deletes))
    path = joined(partition_path, name)
    _create(spec, path, blocks, marker)
    size = sum(len(block) for block in blocks)
    stat = WriteStat(
        file_id=file_id,
        path=path,
        partition_path=partition_path,
        previous_commit=str(spec.instant),
        writes=len(rows),
        bytes_written=size,
        file_size=size,
        log_version=1,
        log_files=(name,),
    )
    return WrittenFile(stat=stat, ranges=collector.ranges(name, {}))


def write_partition_metadata(spec: WriteSpec, partition_path: str) -> None:
    """Make the folder a partition, unless it is one already."""
    content = print_partition_metadata(spec.instant, partition_depth(partition_path))
    try:
        spec.table.storage.create(joined(partition_path, PARTITION_METADATA), content)
    except FileExists:
        return


def _announce(spec: WriteSpec, partition_path: str, name: str, kind: MarkerKind) -> str:
    """Create the file's marker; undo finds the file by it, whatever happens."""
    marker = marker_path(spec.instant, partition_path, name, kind)
    spec.table.storage.create(marker, b"")
    return marker


def _create(spec: WriteSpec, path: str, content: Content, marker: str) -> None:
    """Create a data file, and take it away again when its marker is gone: then the write is over without it."""
    spec.table.storage.create(path, content)
    if spec.table.storage.stat(marker) is None:
        spec.table.storage.delete(path)
        raise LeaseLost(f"{path} came after its instant {spec.instant} had been undone or completed; it was removed")


def _with_file_name(rows: pa.Table, name: str) -> pa.Table:
    index = rows.schema.get_field_index(FILE_NAME)
    column = pa.repeat(pa.scalar(name, pa.string()), len(rows))
    return rows.set_column(index, pa.field(FILE_NAME, pa.string()), column)


def _encoded(
    spec: WriteSpec, batches: Iterable[pa.Table], keys: Sequence[pa.ChunkedArray], misread: frozenset[str]
) -> pa.Buffer:
    """The file's bytes; `keys` is complete once the batches have been taken. `misread`: columns to write plainly."""
    schema = spec.table.file_schema
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        schema,
        compression=spec.layout.parquet_codec,
        use_dictionary=[column for column in schema.names if column not in misread],
        write_statistics=[column for column in schema.names if column not in misread],
        store_schema=False,
        **_codec_level(spec.layout.parquet_codec),
    ) as writer:
        for batch in batches:
            writer.write_table(batch, row_group_size=spec.layout.row_group_rows)
        all_keys = pa.chunked_array([chunk for part in keys for chunk in part.chunks], type=pa.string())
        writer.add_key_value_metadata(footers(all_keys, spec.table.file_avro_text, spec.layout.bloom))
    return sink.getvalue()


def _decoded(content: pa.Buffer, schema: pa.Schema) -> Iterator[pa.Table]:
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, use_threads=False).cast(schema)


def _misread_floats(rows: pa.Table) -> Iterator[str]:
    """Columns with NaN or -0.0: Parquet's statistics leave NaN out and its dictionaries tell -0.0 from 0.0, so that
    Spark's reader, to whom NaN is the largest number and both zeros are one, would skip row groups with matches.
    """
    for field in rows.schema:
        if pa.types.is_floating(field.type):
            column = rows.column(field.name)
            negative_zero = pc.and_(pc.equal(column, 0), pc.less(pc.divide(pa.scalar(1, field.type), column), 0))
            if pc.any(pc.or_(pc.is_nan(column), negative_zero)).as_py():
                yield field.name


def _codec_level(codec: str) -> dict[str, int]:
    """gzip at its default level costs more than everything else together."""
    return {"compression_level": 1} if codec in ("gzip", "zstd") else {}


def _column_sizes(content: pa.Buffer) -> dict[str, tuple[int, int]]:
    metadata = pq.read_metadata(pa.BufferReader(content))
    sizes: dict[str, tuple[int, int]] = {}
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for index in range(row_group.num_columns):
            column = row_group.column(index)
            compressed, plain = sizes.get(column.path_in_schema, (0, 0))
            sizes[column.path_in_schema] = (
                compressed + column.total_compressed_size,
                plain + column.total_uncompressed_size,
            )
    return sizes
