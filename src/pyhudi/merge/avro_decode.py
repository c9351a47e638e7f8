"""Avro data into Arrow columns, one column of many records at a time.

`Cursors` holds a position in every record; reading a column moves all of them. No position ever passes the end of its
record: damaged bytes are CorruptTable, never a wild read.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pyhudi.errors import CorruptTable
from pyhudi.merge.arrow_schema import AvroField

Positions = npt.NDArray[np.int64]

_PAD = 16
"""Spare bytes around the records: the widest window that is read at once."""


class Cursors:
    """A position in each of many records of one schema; starts ascend and records do not overlap."""

    def __init__(self, data: npt.NDArray[np.uint8], starts: Positions, ends: Positions, name: str) -> None:
        low, high = (int(starts[0]), int(ends[-1])) if starts.size else (0, 0)
        self._bytes = np.zeros(high - low + 2 * _PAD, np.uint8)
        self._bytes[_PAD : _PAD + high - low] = data[low:high]
        self._at = starts - (low - _PAD)
        self._ends = ends - (low - _PAD)
        self._name = name

    def column(self, field: AvroField) -> pa.Array:
        """The next column of all records."""
        if field.null_branch is None:
            return _array(field.arrow, self._values(field, None), None, self._at.size)
        branch = self._bytes[self._at]
        self._at += 1
        self._check(self._at <= self._ends, field)
        valid = branch == 2 * (1 - field.null_branch)
        self._check(valid | (branch == 2 * field.null_branch), field)
        rows = None if valid.all() else np.flatnonzero(valid)
        return _array(field.arrow, self._values(field, rows), rows, self._at.size)

    def finish(self) -> None:
        """Every record must have been read to its end."""
        if not np.array_equal(self._at, self._ends):
            raise CorruptTable(
                f"{self._name}: records are longer than their schema says; the block is damaged, restore the file"
            )

    def _values(self, field: AvroField, rows: Positions | None) -> npt.NDArray[np.generic] | pa.Array:
        at, ends = (self._at, self._ends) if rows is None else (self._at[rows], self._ends[rows])
        values = _READERS[field.physical](self, at, ends, field)
        if rows is not None:
            self._at[rows] = at
        return values

    def _check(self, holds: npt.NDArray[np.bool_], field: AvroField) -> None:
        if not holds.all():
            raise CorruptTable(
                f"{self._name}: damaged at column {field.name!r} ({int((~holds).sum())} records); restore the file"
            )

    def _varints(self, at: Positions, ends: Positions, field: AvroField) -> npt.NDArray[np.int64]:
        """Zigzag numbers; moves `at`."""
        digits = self._bytes[at]
        value = (digits & 0x7F).astype(np.uint64)
        at += 1
        more = np.flatnonzero(digits >= 0x80)
        shift = 7
        while more.size:
            self._check(np.array(shift <= 63), field)
            digits = self._bytes[at[more]]
            value[more] |= (digits & 0x7F).astype(np.uint64) << np.uint64(shift)
            at[more] += 1
            more = more[digits >= 0x80]
            shift += 7
        self._check(at <= ends, field)
        return (value >> np.uint64(1)).view(np.int64) ^ -(value & np.uint64(1)).view(np.int64)

    def _ints(self, at: Positions, ends: Positions, field: AvroField) -> npt.NDArray[np.int32]:
        wide = self._varints(at, ends, field)
        narrow = wide.astype(np.int32)
        self._check(narrow == wide, field)
        return narrow

    def _fixed(self, at: Positions, ends: Positions, field: AvroField, width: int) -> npt.NDArray[np.uint8]:
        """`width` bytes of each record as a matrix; moves `at`."""
        window = np.lib.stride_tricks.sliding_window_view(self._bytes, width)[at]
        at += width
        self._check(at <= ends, field)
        return window

    def _floats(self, at: Positions, ends: Positions, field: AvroField) -> npt.NDArray[np.generic]:
        kind = np.dtype("<f4" if field.physical == "float" else "<f8")
        return self._fixed(at, ends, field, kind.itemsize).view(kind).ravel()

    def _booleans(self, at: Positions, ends: Positions, field: AvroField) -> npt.NDArray[np.bool_]:
        values = self._bytes[at]
        at += 1
        self._check((at <= ends) & (values <= 1), field)
        return values.view(np.bool_)

    def _lengths(self, at: Positions, ends: Positions, field: AvroField) -> npt.NDArray[np.int64]:
        lengths = self._varints(at, ends, field)
        self._check((lengths >= 0) & (lengths <= ends - at), field)
        return lengths

    def _texts(self, at: Positions, ends: Positions, field: AvroField) -> pa.Array | npt.NDArray[np.uint8]:
        lengths = self._lengths(at, ends, field)
        if pa.types.is_decimal(field.arrow):
            return self._decimals(at, lengths, field)
        # one binary array over all bytes: every second element is a value, the others are what lies between
        bounds = np.empty(2 * at.size + 1, np.int32)
        bounds[0:-1:2] = at
        at += lengths
        bounds[1::2] = at
        bounds[-1] = self._bytes.size
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(self._bytes)]
        return pa.Array.from_buffers(pa.binary(), 2 * at.size, buffers).take(pa.array(np.arange(0, 2 * at.size, 2)))

    def _fixed_decimals(self, at: Positions, ends: Positions, field: AvroField) -> npt.NDArray[np.uint8]:
        lengths = np.full(at.size, field.size, np.int64)
        self._check(lengths <= ends - at, field)
        return self._decimals(at, lengths, field)

    def _decimals(self, at: Positions, lengths: npt.NDArray[np.int64], field: AvroField) -> npt.NDArray[np.uint8]:
        """Big-endian two's complement of any length up to 16 -> Arrow's 16 bytes, little-endian; moves `at`."""
        self._check((lengths >= 1) & (lengths <= 16), field)
        at += lengths
        window = np.lib.stride_tricks.sliding_window_view(self._bytes, 16)[at - 16][:, ::-1]
        sign = np.where(self._bytes[at - lengths] >= 0x80, np.uint8(0xFF), np.uint8(0))
        outside = np.arange(16) >= lengths[:, None]
        return np.ascontiguousarray(np.where(outside, sign[:, None], window))


_Reader = Callable[[Cursors, Positions, Positions, AvroField], "npt.NDArray[np.generic] | pa.Array"]

_READERS: dict[str, _Reader] = {
    "boolean": Cursors._booleans,
    "int": Cursors._ints,
    "long": Cursors._varints,
    "float": Cursors._floats,
    "double": Cursors._floats,
    "string": Cursors._texts,
    "bytes": Cursors._texts,
    "fixed": Cursors._fixed_decimals,
}


def checked(array: pa.Array, field: AvroField, name: str) -> pa.Array:
    """The column, after what positions alone cannot show: valid UTF-8, decimals within their digits."""
    try:
        if pa.types.is_string(field.arrow) or pa.types.is_decimal(field.arrow):
            array.validate(full=True)
    except pa.ArrowInvalid as problem:
        raise CorruptTable(f"{name}: column {field.name!r}: {problem}; the block is damaged, restore it") from problem
    return array


def _array(
    arrow: pa.DataType, values: npt.NDArray[np.generic] | pa.Array, rows: Positions | None, count: int
) -> pa.Array:
    """The values as an Arrow array of `count`; they belong to `rows`, the others are null."""
    if isinstance(values, pa.Array):
        return _texts_array(arrow, values, rows, count)
    valid = None
    if rows is not None:
        spread = np.zeros((count, *values.shape[1:]), values.dtype)
        spread[rows] = values
        bits = np.zeros(count, np.bool_)
        bits[rows] = True
        values, valid = spread, pa.py_buffer(np.packbits(bits, bitorder="little"))
    if pa.types.is_boolean(arrow):
        values = np.packbits(values.view(np.bool_), bitorder="little")
    return pa.Array.from_buffers(arrow, count, [valid, pa.py_buffer(values)])


def _texts_array(arrow: pa.DataType, values: pa.Array, rows: Positions | None, count: int) -> pa.Array:
    if rows is not None:
        which = np.full(count, -1, np.int64)
        which[rows] = np.arange(rows.size)
        values = values.take(pa.array(which, mask=which < 0))
    return values.view(arrow)
