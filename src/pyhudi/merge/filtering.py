"""Predicates on Arrow rows: which rows match, and the same as an expression for reading Parquet."""

from __future__ import annotations

from functools import reduce
from typing import Any, TypeAlias, assert_never

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import InvalidRequest
from pyhudi.format.metadata_records import ValueType
from pyhudi.format.predicate import (
    Always,
    And,
    Compare,
    Domain,
    In,
    IsNull,
    Not,
    Operator,
    Or,
    Predicate,
    StartsWith,
    typed,
)

_Operand: TypeAlias = Any
"""A column, a mask, a scalar or an expression: compute functions take each of them."""


def matching(rows: pa.Table | pa.RecordBatch, predicate: Predicate) -> pa.BooleanArray | pa.ChunkedArray:
    """True for each row that matches; never null. InvalidRequest where the predicate does not fit the columns."""
    mask = _Builder({name: rows.column(name) for name in rows.schema.names}, rows.schema).build(predicate)
    if isinstance(mask, pa.Scalar):
        return pa.repeat(pa.scalar(bool(mask.as_py())), rows.num_rows)
    return pc.fill_null(mask, False)


def scan_expression(predicate: Predicate, schema: pa.Schema) -> pc.Expression:
    """The predicate as a filter for reading files with these columns; it keeps exactly the rows that match.

    Only where a file's rows are final: rows on which log files lie must be filtered after the merge.
    """
    condition = _Builder({name: pc.field(name) for name in schema.names}, schema).build(predicate)
    return pc.scalar(bool(condition.as_py())) if isinstance(condition, pa.Scalar) else condition


_DOMAINS: dict[pa.DataType, ValueType] = {
    pa.bool_(): ValueType.BOOLEAN,
    pa.int8(): ValueType.INT,
    pa.int16(): ValueType.INT,
    pa.int32(): ValueType.INT,
    pa.int64(): ValueType.LONG,
    pa.float32(): ValueType.FLOAT,
    pa.float64(): ValueType.DOUBLE,
    pa.string(): ValueType.STRING,
    pa.large_string(): ValueType.STRING,
    pa.date32(): ValueType.DATE,
    pa.timestamp("ms", "UTC"): ValueType.TIMESTAMP_MILLIS,
    pa.timestamp("us", "UTC"): ValueType.TIMESTAMP_MICROS,
    pa.timestamp("ms"): ValueType.LOCAL_TIMESTAMP_MILLIS,
    pa.timestamp("us"): ValueType.LOCAL_TIMESTAMP_MICROS,
}
_COMPARED = {
    Operator.EQ: pc.equal,
    Operator.NE: pc.not_equal,
    Operator.LT: pc.less,
    Operator.LE: pc.less_equal,
    Operator.GT: pc.greater,
    Operator.GE: pc.greater_equal,
}
_NARROW = (pa.int8(), pa.int16())
"""Columns that are widened before they are compared: a literal may lie beyond their ends."""


def _domain(kind: pa.DataType) -> Domain | None:
    if pa.types.is_decimal128(kind):
        return Domain(kind=ValueType.DECIMAL, precision=kind.precision, scale=kind.scale)
    value_type = _DOMAINS.get(kind)
    return Domain(kind=value_type) if value_type is not None else None


class _Builder:
    """Puts compute functions together over columns, which may be arrays or expressions."""

    def __init__(self, columns: dict[str, _Operand], schema: pa.Schema) -> None:
        self._columns = columns
        self._types = {field.name: field.type for field in schema}
        self._domains = {field.name: _domain(field.type) for field in schema}

    def build(self, predicate: Predicate) -> _Operand:
        """The mask; a plain scalar where the columns do not matter."""
        return self._built(typed(predicate, self._domains))

    def _built(self, predicate: Predicate) -> _Operand:
        match predicate:
            case And():
                return self._joined(pc.and_kleene, predicate.parts, neutral=True)
            case Or():
                return self._joined(pc.or_kleene, predicate.parts, neutral=False)
            case Not():
                return pc.invert(self._built(predicate.part))
            case Always():
                if predicate.outcome is None:
                    raise InvalidRequest("a filter with a part that nobody can judge cannot be evaluated; state it")
                return pa.scalar(predicate.outcome)
            case IsNull():
                return pc.is_null(self._columns[predicate.column])
            case StartsWith():
                return pc.starts_with(self._columns[predicate.column], pattern=predicate.prefix)
            case In():
                return self._listed(predicate)
            case Compare():
                return self._compared(predicate)
            case _:
                assert_never(predicate)

    def _joined(self, function: Any, parts: tuple[Predicate, ...], *, neutral: bool) -> _Operand:
        """Parts that are the same for every row are left out, or are the answer."""
        built = [self._built(part) for part in parts]
        constants = [part.as_py() for part in built if isinstance(part, pa.Scalar)]
        if (not neutral) in constants:
            return pa.scalar(not neutral)
        rest = [part for part in built if not isinstance(part, pa.Scalar)]
        return reduce(function, rest) if rest else pa.scalar(neutral)

    def _listed(self, test: In) -> _Operand:
        column, kind = self._operand(test.column)
        return pc.is_in(column, options=pc.SetLookupOptions(pa.array(test.values, kind), skip_nulls=True))

    def _compared(self, test: Compare) -> _Operand:
        column, kind = self._operand(test.column)
        if isinstance(test.value, float):
            return _compared_floats(column, test.operator, test.value)
        return _COMPARED[test.operator](column, pa.scalar(test.value, kind))

    def _operand(self, name: str) -> tuple[_Operand, pa.DataType]:
        if self._types[name] in _NARROW:
            return self._columns[name].cast(pa.int32()), pa.int32()
        return self._columns[name], self._types[name]


def _compared_floats(column: _Operand, operator: Operator, value: float) -> _Operand:
    """Arrow finds NaN different from everything; Spark finds it equal to itself and larger than all else."""
    if value == value:
        mask = _COMPARED[operator](column, pa.scalar(value, pa.float64()))
        return pc.or_kleene(mask, pc.is_nan(column)) if operator in (Operator.GT, Operator.GE) else mask
    if operator in (Operator.EQ, Operator.GE):
        return pc.is_nan(column)
    if operator is Operator.LE:
        return pc.is_valid(column)
    return pc.invert(pc.is_nan(column)) if operator in (Operator.LT, Operator.NE) else pc.less(column, column)
