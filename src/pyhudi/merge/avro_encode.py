"""Arrow columns into Avro data, one column of many records at a time.

Every column becomes one or two binary arrays of cells (the bytes that each record takes from it); joining the cells
of all columns element by element gives the records.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import InternalError
from pyhudi.merge.arrow_schema import AvroField

Bytes = npt.NDArray[np.uint8]
Lengths = npt.NDArray[np.int64]


def joined_records(columns: list[tuple[AvroField, pa.Array]], *, framed: bool) -> pa.Array:
    """One binary value per row: its datum, behind a big-endian int32 length where framed."""
    parts: list[pa.Array] = []
    total = np.zeros(len(columns[0][1]), np.int64)
    for field, column in columns:
        for cells, lengths in _cells_of(field, column):
            parts.append(cells)
            total += lengths
    if framed:
        parts.insert(0, packed(total.astype(">i4").view(np.uint8).reshape(-1, 4), np.full(total.size, 4, np.int64)))
    return pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.binary()))


def packed(matrix: Bytes, lengths: Lengths) -> pa.Array:
    """A binary array of the first `lengths[i]` bytes of each row of the matrix."""
    bounds = np.zeros(lengths.size + 1, np.int32)
    np.cumsum(lengths, out=bounds[1:])
    width = matrix.shape[1]
    data = matrix if int(bounds[-1]) == matrix.size else matrix[np.arange(width) < lengths[:, None]]
    return pa.Array.from_buffers(pa.binary(), lengths.size, [None, pa.py_buffer(bounds), pa.py_buffer(data)])


def varints(values: npt.NDArray[np.int64]) -> tuple[Bytes, Lengths]:
    """Zigzag varints as a matrix and how many bytes of each row count."""
    zigzag = ((values << 1) ^ (values >> 63)).view(np.uint64)
    width = max(1, (int(zigzag.max(initial=0)).bit_length() + 6) // 7)
    lengths = np.ones(values.size, np.int64)
    for digit in range(1, width):
        lengths += zigzag >= np.uint64(1 << 7 * digit)
    matrix = np.empty((values.size, width), np.uint8)
    for digit in range(width):
        matrix[:, digit] = (zigzag >> np.uint64(7 * digit)).astype(np.uint8) | 0x80
    matrix[np.arange(values.size), lengths - 1] &= 0x7F
    return matrix, lengths


def _cells_of(field: AvroField, column: pa.Array) -> list[tuple[pa.Array, Lengths]]:
    valid = None if column.null_count == 0 else column.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_string(field.arrow) or pa.types.is_binary(field.arrow):
        texts = column.cast(pa.binary()).fill_null(b"")
        sizes = pc.binary_length(texts).to_numpy().astype(np.int64)
        return [_prefixed(*varints(sizes), field, valid), (texts, sizes)]
    matrix, lengths = _values_of(field, column)
    return [_prefixed(matrix, lengths, field, valid)]


def _values_of(field: AvroField, column: pa.Array) -> tuple[Bytes, Lengths]:
    arrow = field.arrow
    if pa.types.is_decimal(arrow):
        return _decimals(field, column)
    if pa.types.is_boolean(arrow):
        flags = column.fill_null(False).to_numpy(zero_copy_only=False).view(np.uint8)
        return flags.reshape(-1, 1), np.ones(flags.size, np.int64)
    if pa.types.is_floating(arrow):
        numbers = _raw(column, np.dtype(f"<f{arrow.bit_width // 8}"))
        matrix = numbers.view(np.uint8).reshape(numbers.size, -1)
        return matrix, np.full(numbers.size, matrix.shape[1], np.int64)
    return varints(_raw(column, np.dtype(f"<i{arrow.bit_width // 8}")).astype(np.int64))


def _raw(column: pa.Array, kind: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    """The array's own numbers; whatever stands under a null."""
    data = column.buffers()[1]
    return np.frombuffer(data, kind, count=len(column), offset=column.offset * kind.itemsize)


def _decimals(field: AvroField, column: pa.Array) -> tuple[Bytes, Lengths]:
    """Big-endian two's complement: `size` bytes for a fixed, the fewest that hold the value for bytes."""
    count = len(column)
    numbers = np.frombuffer(column.buffers()[1], np.uint8, count=16 * count, offset=16 * column.offset)
    numbers = numbers.reshape(count, 16)[:, ::-1]
    if column.null_count:
        numbers = np.where(column.is_valid().to_numpy(zero_copy_only=False)[:, None], numbers, np.uint8(0))
    # a byte is spare when it and the top bit of the next are all sign
    sign = np.where(numbers[:, :1] >= 0x80, np.uint8(0xFF), np.uint8(0))
    spare = (numbers[:, :-1] == sign) & ((numbers[:, 1:] ^ sign) < 0x80)
    lengths = 16 - np.logical_and.accumulate(spare, axis=1).sum(axis=1, dtype=np.int64)
    if field.physical == "fixed":
        if (lengths > field.size).any():
            raise InternalError(f"column {field.name!r} holds decimals beyond its type {field.arrow}")
        return np.ascontiguousarray(numbers[:, 16 - field.size :]), np.full(count, field.size, np.int64)
    sizes, size_lengths = varints(lengths)
    shifted = np.take_along_axis(numbers, np.minimum(np.arange(16) + (16 - lengths)[:, None], 15), axis=1)
    return np.concatenate([sizes, shifted], axis=1), size_lengths + lengths


def _prefixed(
    matrix: Bytes, lengths: Lengths, field: AvroField, valid: npt.NDArray[np.bool_] | None
) -> tuple[pa.Array, Lengths]:
    """The cells behind the union's branch; a null is its branch alone."""
    if field.null_branch is not None:
        null, present = 2 * field.null_branch, 2 * (1 - field.null_branch)
        branch = np.full(lengths.size, present, np.uint8) if valid is None else np.where(valid, present, null)
        matrix = np.concatenate([branch.astype(np.uint8).reshape(-1, 1), matrix], axis=1)
        lengths = lengths + 1 if valid is None else np.where(valid, lengths + 1, 1)
    return packed(matrix, lengths), lengths
