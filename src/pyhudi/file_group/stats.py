"""Ranges of columns, gathered while a file is written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.format.metadata_records import ColumnRange, RecordType, StatValue, ValueType, combine_ranges

_SIMPLE_TYPES: Mapping[pa.DataType, ValueType] = {
    pa.bool_(): ValueType.BOOLEAN,
    pa.int32(): ValueType.INT,
    pa.int64(): ValueType.LONG,
    pa.float32(): ValueType.FLOAT,
    pa.float64(): ValueType.DOUBLE,
    pa.string(): ValueType.STRING,
    pa.binary(): ValueType.BYTES,
    pa.date32(): ValueType.DATE,
    pa.time64("us"): ValueType.TIME_MICROS,
    pa.timestamp("ms", tz="UTC"): ValueType.TIMESTAMP_MILLIS,
    pa.timestamp("us", tz="UTC"): ValueType.TIMESTAMP_MICROS,
    pa.timestamp("ms"): ValueType.LOCAL_TIMESTAMP_MILLIS,
    pa.timestamp("us"): ValueType.LOCAL_TIMESTAMP_MICROS,
}


def value_type_of(kind: pa.DataType) -> ValueType | None:
    """How index V2 numbers a column type; None where it keeps no range."""
    if pa.types.is_decimal128(kind):
        return ValueType.DECIMAL
    return _SIMPLE_TYPES.get(kind)


class RangeCollector:
    """Ranges of the indexed columns over all batches of one file."""

    def __init__(self, schema: pa.Schema, columns: tuple[str, ...]) -> None:
        self._types = {
            name: kind for name in columns if name in schema.names and (kind := value_type_of(schema.field(name).type))
        }
        self._ranges: dict[str, ColumnRange] = {}

    def add(self, rows: pa.Table) -> None:
        """Take a batch of rows into account."""
        for name, kind in self._types.items():
            new = _range_of(name, rows.column(name), kind)
            known = self._ranges.get(name)
            widened = new if known is None else combine_ranges("", (known, new), tight=False)
            self._ranges[name] = new if widened is None else widened

    def ranges(self, file_name: str, sizes: Mapping[str, tuple[int, int]]) -> tuple[ColumnRange, ...]:
        """The ranges, under the file's name; `sizes` are compressed and uncompressed bytes per column."""
        found = []
        for name in self._types:
            known = self._ranges.get(name) or _empty_range(name)
            compressed, plain = sizes.get(name, (0, 0))
            found.append(
                replace(
                    known,
                    kind=RecordType.COLUMN_STATS,
                    file_name=file_name,
                    total_size=compressed,
                    total_uncompressed_size=plain,
                    tight=False,
                )
            )
        return tuple(found)


def _empty_range(name: str) -> ColumnRange:
    return ColumnRange(
        kind=RecordType.COLUMN_STATS,
        file_name="",
        column=name,
        value_type=ValueType.NULL,
        minimum=None,
        maximum=None,
        value_count=0,
        null_count=0,
    )


def _range_of(name: str, column: pa.ChunkedArray, kind: ValueType) -> ColumnRange:
    minimum, maximum = _bounds(column, kind)
    nothing = column.null_count == len(column)
    return ColumnRange(
        kind=RecordType.COLUMN_STATS,
        file_name="",
        column=name,
        value_type=ValueType.NULL if nothing else kind,
        minimum=minimum,
        maximum=maximum,
        value_count=len(column),
        null_count=column.null_count,
        decimal_type=(column.type.precision, column.type.scale) if kind is ValueType.DECIMAL and not nothing else None,
    )


def _bounds(column: pa.ChunkedArray, kind: ValueType) -> tuple[StatValue | None, StatValue | None]:
    """Smallest and largest value as index V2 stores them; NaN counts as infinity, and zeros span both signs."""
    if kind in (ValueType.FLOAT, ValueType.DOUBLE):
        return _float_bounds(column)
    low, high = (scalar.cast(_stored(column.type)).as_py() for scalar in pc.min_max(column).values())
    return low, high


def _float_bounds(column: pa.ChunkedArray) -> tuple[float | None, float | None]:
    nan = pc.is_nan(column)
    extremes: dict[str, Any] = pc.min_max(pc.if_else(nan, pa.scalar(None, column.type), column)).as_py()
    low, high = extremes["min"], extremes["max"]
    if pc.any(nan).as_py():
        high = math.inf
        low = math.inf if low is None else low
    return (-0.0 if low == 0 else low), (0.0 if high == 0 else high)


def _stored(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_date32(kind):
        return pa.int32()
    return pa.int64() if pa.types.is_timestamp(kind) or pa.types.is_time64(kind) else kind
