"""A predicate of ours as a condition of Spark's, which its Parquet reader can use."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody gives it

from pyhudi.errors import InvalidRequest
from pyhudi.format.metadata_records import ValueType
from pyhudi.format.predicate import (
    Always,
    And,
    Compare,
    Domain,
    In,
    IsNull,
    Literal,
    Not,
    Operator,
    Or,
    Predicate,
    StartsWith,
    typed,
)


def condition(predicate: Predicate, domains: Mapping[str, Domain | None]) -> Column:
    """The same rows; literals that do not fit their column raise `InvalidRequest`."""
    return _Conditions(domains).of(typed(predicate, domains))


_COMPARED: Mapping[Operator, Callable[[Any, Any], Any]] = {
    Operator.EQ: operator.eq,
    Operator.NE: operator.ne,
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
}
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROS = {ValueType.TIMESTAMP_MILLIS: 1000, ValueType.TIMESTAMP_MICROS: 1}
_LOCAL_MICROS = {ValueType.LOCAL_TIMESTAMP_MILLIS: 1000, ValueType.LOCAL_TIMESTAMP_MICROS: 1}


class _Conditions:
    def __init__(self, domains: Mapping[str, Domain | None]) -> None:
        self._domains = domains

    def of(self, predicate: Predicate) -> Column:
        match predicate:
            case And():
                return reduce(operator.and_, map(self.of, predicate.parts), F.lit(True))
            case Or():
                return reduce(operator.or_, map(self.of, predicate.parts), F.lit(False))
            case Not():
                return ~self.of(predicate.part)
            case Always():
                if predicate.outcome is None:
                    raise InvalidRequest("a filter with a part that nobody can judge cannot be evaluated; state it")
                return F.lit(predicate.outcome)
            case IsNull():
                return _column(predicate.column).isNull()
            case StartsWith():
                return _column(predicate.column).startswith(predicate.prefix)
            case In():
                values = [self._literal(predicate.column, each) for each in predicate.values]
                return _column(predicate.column).isin(values)
            case Compare():
                value = self._literal(predicate.column, predicate.value)
                found: Column = _COMPARED[predicate.operator](_column(predicate.column), value)
                return found
            case _:
                assert_never(predicate)

    def _literal(self, column: str, value: Literal) -> Column:
        """The value in the column's own type: dates and times come as counts of days and of the column's units."""
        domain = self._domains.get(column)
        kind = domain.kind if domain is not None else None
        if isinstance(value, int) and kind is ValueType.DATE:
            return F.date_from_unix_date(F.lit(value))
        if isinstance(value, int) and kind in _MICROS:
            return F.timestamp_micros(F.lit(value * _MICROS[kind]).cast("bigint"))
        if isinstance(value, int) and kind in _LOCAL_MICROS:
            moment = _EPOCH + datetime.timedelta(microseconds=value * _LOCAL_MICROS[kind])
            return F.expr(f"TIMESTAMP_NTZ '{moment.isoformat(sep=' ', timespec='microseconds')}'")
        return F.lit(value)


def _column(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")
