"""What a literal means for a column: literals brought onto the values that a column of its type can hold.

Numbers, dates and times lie on a grid (whole numbers, cents, days, micros), so a literal between two of its points
turns into the nearest point that tells the same rows apart, and one beyond its ends into a plain answer.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pyhudi.errors import InvalidRequest
from pyhudi.format.metadata_records import ValueType
from pyhudi.format.predicate.syntax import (
    Always,
    And,
    Compare,
    In,
    IsNull,
    Literal,
    Not,
    Operator,
    Or,
    Predicate,
    StartsWith,
    iso_date,
    positive,
)
from pyhudi.format.schema import META_COLUMNS


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """The values that a column can hold; precision and scale are those of a decimal."""

    kind: ValueType
    precision: int = 0
    scale: int = 0

    @property
    def steps(self) -> int:
        """Points of the grid in one unit: of the number, the day or the second."""
        return int(10**self.scale) if self.kind is ValueType.DECIMAL else _STEPS[self.kind]

    @property
    def limit(self) -> int:
        """The points lie from -limit to limit - 1, for a decimal from -limit + 1."""
        if self.kind is ValueType.DECIMAL:
            return int(10**self.precision)
        return 1 << (31 if self.kind in _IN_32_BITS else 63)

    def value(self, point: int) -> int | decimal.Decimal:
        """A point of the grid as statistics and typed predicates hold it: a count of steps, for a decimal itself."""
        if self.kind is ValueType.DECIMAL:
            return decimal.Decimal(point).scaleb(-self.scale, _EXACT)
        return point


def domains_of(schema: Mapping[str, Any]) -> dict[str, Domain | None]:
    """Domain of each column of an Avro record schema and of the meta columns; None where no literal can be compared."""
    domains: dict[str, Domain | None] = dict.fromkeys(META_COLUMNS, Domain(kind=ValueType.STRING))
    return domains | {field["name"]: _domain_of(field["type"]) for field in schema["fields"]}


def typed(predicate: Predicate, domains: Mapping[str, Domain | None], *, lenient: bool = False) -> Predicate:
    """The predicate with real column names, literals in their columns' domains, and NOT before leaves only.

    A column that is not there, or a literal that does not fit, raises InvalidRequest; `lenient` it is unjudgeable.
    """
    return _typed(positive(predicate), domains, lenient)


_LARGEST_EXPONENT = 1000
_EXACT = decimal.Context(prec=80)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

_STEPS: Mapping[ValueType, int] = {
    ValueType.INT: 1,
    ValueType.LONG: 1,
    ValueType.DATE: 1,
    ValueType.TIMESTAMP_MILLIS: 1_000,
    ValueType.TIMESTAMP_MICROS: 1_000_000,
    ValueType.LOCAL_TIMESTAMP_MILLIS: 1_000,
    ValueType.LOCAL_TIMESTAMP_MICROS: 1_000_000,
}
_IN_32_BITS = frozenset({ValueType.INT, ValueType.DATE})
_NUMBERS = frozenset({ValueType.INT, ValueType.LONG, ValueType.DECIMAL})
_FLOATS = frozenset({ValueType.FLOAT, ValueType.DOUBLE})
_LOCAL_TIMES = frozenset({ValueType.LOCAL_TIMESTAMP_MILLIS, ValueType.LOCAL_TIMESTAMP_MICROS})

_OF_AVRO: Mapping[tuple[str, str | None], ValueType] = {
    ("boolean", None): ValueType.BOOLEAN,
    ("int", None): ValueType.INT,
    ("long", None): ValueType.LONG,
    ("float", None): ValueType.FLOAT,
    ("double", None): ValueType.DOUBLE,
    ("string", None): ValueType.STRING,
    ("int", "date"): ValueType.DATE,
    ("long", "timestamp-millis"): ValueType.TIMESTAMP_MILLIS,
    ("long", "timestamp-micros"): ValueType.TIMESTAMP_MICROS,
    ("long", "local-timestamp-millis"): ValueType.LOCAL_TIMESTAMP_MILLIS,
    ("long", "local-timestamp-micros"): ValueType.LOCAL_TIMESTAMP_MICROS,
}


def _domain_of(avro: Any) -> Domain | None:
    if isinstance(avro, list):
        branches = [branch for branch in avro if branch != "null"]
        return _domain_of(branches[0]) if len(branches) == 1 else None
    described = avro if isinstance(avro, dict) else {"type": avro}
    physical, logical = described.get("type"), described.get("logicalType")
    if logical == "decimal":
        return Domain(kind=ValueType.DECIMAL, precision=described["precision"], scale=described.get("scale", 0))
    kind = _OF_AVRO.get((physical, logical)) if isinstance(physical, str) else None
    return Domain(kind=kind) if kind is not None else None


def _typed(predicate: Predicate, domains: Mapping[str, Domain | None], lenient: bool) -> Predicate:
    match predicate:
        case And():
            return And(parts=tuple(_typed(part, domains, lenient) for part in predicate.parts))
        case Or():
            return Or(parts=tuple(_typed(part, domains, lenient) for part in predicate.parts))
        case Not():
            inner = _typed(predicate.part, domains, lenient)
            return inner if isinstance(inner, Always) else Not(part=inner)
        case Always():
            return predicate
        case _:
            try:
                return _typed_leaf(predicate, domains)
            except InvalidRequest:
                if not lenient:
                    raise
                return Always(outcome=None)


def _typed_leaf(leaf: Compare | In | IsNull | StartsWith, domains: Mapping[str, Domain | None]) -> Predicate:
    column = _resolved(leaf.column, domains)
    if isinstance(leaf, IsNull):
        return IsNull(column=column)
    domain = domains[column]
    if domain is None:
        raise InvalidRequest(f"column {column!r} has a type that no filter can compare; test only IS [NOT] NULL on it")
    match leaf:
        case Compare():
            return _compared(column, leaf.operator, leaf.value, domain)
        case In():
            return _listed(column, leaf.values, domain)
        case StartsWith():
            if domain.kind is not ValueType.STRING:
                raise InvalidRequest(f"column {column!r} is no string; LIKE works on strings only")
            return StartsWith(column=column, prefix=leaf.prefix)


def _resolved(name: str, domains: Mapping[str, Domain | None]) -> str:
    """The column of that name, or the only one that differs in case alone."""
    if name in domains:
        return name
    alike = [each for each in domains if each.casefold() == name.casefold()]
    if len(alike) != 1:
        raise InvalidRequest(f"the filter names column {name!r}; the table has {', '.join(domains)}")
    return alike[0]


def _listed(column: str, values: tuple[Literal, ...], domain: Domain) -> Predicate:
    tests = [_compared(column, Operator.EQ, value, domain) for value in values]
    kept = tuple(test for test in tests if isinstance(test, Compare))
    if domain.kind in _FLOATS:
        return Or(parts=kept)
    return In(column=column, values=tuple(test.value for test in kept))


def _compared(column: str, operator: Operator, value: Literal, domain: Domain) -> Predicate:
    if value is None:
        return Always(outcome=False)
    if domain.kind in _FLOATS:
        return Compare(column=column, operator=operator, value=_as_float(column, value))
    if domain.kind in (ValueType.STRING, ValueType.BOOLEAN):
        wanted = str if domain.kind is ValueType.STRING else bool
        if not isinstance(value, wanted):
            raise _misfit(column, value, domain)
        return Compare(column=column, operator=operator, value=value)
    return _on_grid(column, operator, _exact(column, value, domain) * domain.steps, domain)


def _on_grid(column: str, operator: Operator, wanted: Fraction, domain: Domain) -> Predicate:
    point = math.floor(wanted)
    exact = wanted == point
    lowest = 1 - domain.limit if domain.kind is ValueType.DECIMAL else -domain.limit
    if not exact and operator in (Operator.LT, Operator.GE):
        operator = Operator.LE if operator is Operator.LT else Operator.GT
    if lowest <= point < domain.limit and (exact or operator not in (Operator.EQ, Operator.NE)):
        return Compare(column=column, operator=operator, value=domain.value(point))
    upwards = operator in (Operator.GT, Operator.GE)
    downwards = operator in (Operator.LT, Operator.LE)
    if operator is Operator.NE or (upwards and point < lowest) or (downwards and point >= lowest):
        return Not(part=IsNull(column=column))
    return Always(outcome=False)


def _as_float(column: str, value: Literal) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | decimal.Decimal | str):
        raise _misfit(column, value, None)
    try:
        return float(value)
    except OverflowError:
        return -math.inf if isinstance(value, int) and value < 0 else math.inf
    except ValueError as problem:
        raise _misfit(column, value, None) from problem


def _exact(column: str, value: Literal, domain: Domain) -> Fraction:
    """The literal in units of the domain: the number, days, or seconds."""
    try:
        if domain.kind in _NUMBERS:
            return _as_number(value)
        if domain.kind is ValueType.DATE:
            return Fraction(_as_date(value).toordinal() - _EPOCH.toordinal())
        return Fraction((_as_time(value, domain) - _EPOCH) // datetime.timedelta(microseconds=1), 1_000_000)
    except (ValueError, OverflowError, decimal.InvalidOperation) as problem:
        raise _misfit(column, value, domain) from problem


def _as_number(value: Literal) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | decimal.Decimal | str):
        raise ValueError("no number")
    number = decimal.Decimal(value)
    if number.is_finite() and abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError("a number far out of all range")
    return Fraction(number)


def _as_date(value: Literal) -> datetime.date:
    if isinstance(value, str):
        return iso_date(value)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    raise ValueError("no date")


def _as_time(value: Literal, domain: Domain) -> datetime.datetime:
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    if not isinstance(value, datetime.date):
        raise ValueError("no time")
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    if value.tzinfo is not None and domain.kind in _LOCAL_TIMES:
        raise ValueError("a time with zone for a column without")
    return value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)


def _misfit(column: str, value: Literal, domain: Domain | None) -> InvalidRequest:
    kind = "number" if domain is None else domain.kind.name.lower().replace("_", " ")
    return InvalidRequest(f"column {column!r} is a {kind} column; it cannot be compared with {value!r}")
