"""Records of a log block: a stream of [big-endian int32 length][Avro datum], to and from Arrow, flat schemas only."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pyhudi.errors import CorruptTable, SchemaMismatch
from pyhudi.merge.arrow_schema import arrow_of, avro_fields, conform
from pyhudi.merge.avro_decode import Cursors, checked
from pyhudi.merge.avro_encode import joined_records

_CHUNK_ROWS = 16_384
_CHUNK_BYTES = 64 * 1024 * 1024


def encode_records(rows: pa.Table | pa.RecordBatch, schema: dict[str, Any]) -> bytes:
    """The rows as framed records of the Avro schema, whose columns are taken by name."""
    fields = avro_fields(schema)
    missing = [field.name for field in fields if field.name not in rows.schema.names]
    if missing:
        raise SchemaMismatch(f"the rows to encode lack the columns {missing} of record {schema.get('name')!r}")
    table = conform(rows, arrow_of(schema))
    chunk = _chunk_rows(table.num_rows, table.nbytes)
    buffers = []
    for start in range(0, table.num_rows, chunk):
        part = table.slice(start, chunk).combine_chunks()
        columns = [(field, part.column(i).chunk(0)) for i, field in enumerate(fields)]
        buffers.append(_content(joined_records(columns, framed=True)))
    return b"".join(buffers)


def decode_records(
    frames: memoryview | bytes, count: int, schema: dict[str, Any], name: str = "an Avro data block"
) -> pa.RecordBatch:
    """`count` framed records, read by their writer's schema; `name` says where they lie if they are damaged."""
    fields = avro_fields(schema)
    starts, ends = _frame_bounds(frames, count, name)
    data = np.frombuffer(frames, np.uint8)
    chunk = _chunk_rows(count, len(frames))
    chunks: list[list[pa.Array]] = [[] for _ in fields]
    for start in range(0, count, chunk):
        cursors = Cursors(data, starts[start : start + chunk], ends[start : start + chunk], name)
        for column, field in zip(chunks, fields, strict=True):
            column.append(checked(cursors.column(field), field, name))
        cursors.finish()
    arrays = [
        pa.concat_arrays(column) if column else pa.array([], field.arrow)
        for column, field in zip(chunks, fields, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_of(schema))


def _chunk_rows(count: int, size: int) -> int:
    """Few enough rows that a chunk stays in the processor's cache, and below 2 GiB in any case."""
    return min(_CHUNK_ROWS, max(1, _CHUNK_BYTES * count // max(1, size)))


def _content(cells: pa.Array) -> memoryview:
    _, bounds, data = cells.buffers()
    first, last = (int(struct.unpack_from("<i", bounds, 4 * (cells.offset + i))[0]) for i in (0, len(cells)))
    return memoryview(data)[first:last]


def _frame_bounds(
    frames: memoryview | bytes, count: int, name: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each datum starts and ends: the one walk that goes record by record."""
    if not 0 <= 4 * count <= len(frames):
        raise CorruptTable(f"{name}: {count} records cannot lie in {len(frames)} bytes; restore the file")
    length_at = struct.Struct(">i").unpack_from
    walked = [0] * count
    at = 0
    try:
        for i in range(count):
            walked[i] = at + 4
            at += 4 + length_at(frames, at)[0]
    except struct.error as problem:
        raise CorruptTable(f"{name}: a record's length leads out of the block; restore the file") from problem
    starts = np.array(walked, np.int64)
    ends = np.append(starts[1:] - 4, at)[:count]
    if at != len(frames) or (ends < starts).any():
        raise CorruptTable(f"{name}: the records' lengths do not add up to the block's; restore the file")
    return starts, ends
