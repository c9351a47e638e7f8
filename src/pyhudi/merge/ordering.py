"""Ordering values compared as Hudi's Java types compare.

Numbers, dates and times become int64; texts, bytes and decimals compare as they are. A null is the type's zero: for
an int column that is what Hudi does (it falls back to the int 0), for the others Hudi fails.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import SchemaMismatch

_LAST_MILLISECOND = 9_999_999_999_999
"""Hudi takes a larger number in a delete of a milliseconds column for microseconds."""


def comparable(values: pa.Array, column: pa.Field) -> pa.Array:
    """The values of the ordering column, or those of deletes, in the form that `greater` and `ranks` take."""
    values = _in_type(values, column)
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return values.fill_null(pa.scalar(b"", pa.binary()).cast(kind))
    if pa.types.is_decimal(kind):
        return values.fill_null(pa.scalar(Decimal(0), kind))
    if pa.types.is_floating(kind):
        return pa.array(_total_order(values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)))
    if pa.types.is_date32(kind):
        values = values.cast(pa.int32())
    return values.cast(pa.int64()).fill_null(0)


def is_default(values: pa.Array) -> npt.NDArray[np.bool_]:
    """Which values Hudi takes for "no ordering value": none, and the number 0 where the column holds ints."""
    default = values.is_null()
    if pa.types.is_int32(values.type) or pa.types.is_date32(values.type):
        default = pc.or_(default, pc.equal(values.cast(pa.int32()), 0).fill_null(False))
    return np.asarray(default, dtype=np.bool_)


def greater(left: pa.Array, right: pa.Array) -> npt.NDArray[np.bool_]:
    """Where the left comparable is above the right."""
    return np.asarray(pc.greater(left, right), dtype=np.bool_)


def ranks(values: pa.Array) -> npt.NDArray[np.int64]:
    """Numbers that stand to each other as the comparables do."""
    if pa.types.is_int64(values.type):
        return np.asarray(values, dtype=np.int64)
    return np.asarray(pc.rank(values, tiebreaker="dense"), dtype=np.int64)


def _total_order(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Java's order of doubles: -0.0 below 0.0, NaN above all and equal to itself."""
    bits = np.where(np.isnan(numbers), np.nan, numbers).view(np.int64)
    ordered = np.where(bits < 0, bits ^ np.int64(0x7FFF_FFFF_FFFF_FFFF), bits)
    return np.where(np.isnan(numbers), np.iinfo(np.int64).max, ordered)


def _in_type(values: pa.Array, column: pa.Field) -> pa.Array:
    source, kind = values.type, column.type
    if source == kind or values.null_count == len(values):
        return values.cast(kind) if source == kind else pa.nulls(len(values), kind)
    try:
        if pa.types.is_int64(source) and kind in (pa.timestamp("ms"), pa.timestamp("ms", "UTC")):
            micros = pc.greater(values, _LAST_MILLISECOND)
            values = pc.if_else(micros, pc.divide(values, 1000), values)
        elif pa.types.is_timestamp(source) and pa.types.is_timestamp(kind):
            return values.cast(pa.timestamp(source.unit, kind.tz)).cast(kind, safe=False)
        if _comparable_types(source, kind):
            return values.cast(kind)
    except pa.ArrowInvalid as problem:
        raise SchemaMismatch(
            f"deletes carry ordering values that do not fit column {column.name!r}: {problem}"
        ) from problem
    raise SchemaMismatch(
        f"deletes carry ordering values of type {source}, but the ordering column {column.name!r} is {kind}"
    )


def _comparable_types(source: pa.DataType, kind: pa.DataType) -> bool:
    """Whether a delete may carry its value in that other type."""
    if pa.types.is_int64(source):
        return bool(pa.types.is_timestamp(kind) or pa.types.is_time64(kind))
    if pa.types.is_int32(source):
        return bool(pa.types.is_int64(kind) or pa.types.is_date32(kind))
    if pa.types.is_float32(source):
        return bool(pa.types.is_float64(kind))
    return bool(pa.types.is_decimal(source) and pa.types.is_decimal(kind))
