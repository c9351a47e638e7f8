"""Predicates as values, and how a NOT moves down to the leaves.

They mean what SQL means: a comparison with NULL is neither true nor false, and only rows for which the whole is true
match. Floats order as in Spark (NaN equals itself and is the largest, -0.0 equals 0.0), strings by their UTF-8 bytes.
"""

from __future__ import annotations

import datetime
import decimal
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, assert_never

Literal: TypeAlias = bool | int | float | str | decimal.Decimal | datetime.date | datetime.datetime | None
"""None is NULL. A datetime without zone is UTC where the column holds instants."""


class Operator(StrEnum):
    """How a column is compared with a literal."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """Column against literal."""

    column: str
    operator: Operator
    value: Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class In:
    """The column equals one of the values."""

    column: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IsNull:
    """The column has no value."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartsWith:
    """The string begins with the prefix."""

    column: str
    prefix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Always:
    """The same for every row; None: nobody here can judge it."""

    outcome: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """The opposite; what is unknown stays unknown."""

    part: Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class And:
    """All parts."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Or:
    """At least one part."""

    parts: tuple[Predicate, ...]


Predicate: TypeAlias = Compare | In | IsNull | StartsWith | Always | Not | And | Or


def columns(predicate: Predicate) -> frozenset[str]:
    """Every column that the predicate names."""
    match predicate:
        case Always():
            return frozenset()
        case Not():
            return columns(predicate.part)
        case And() | Or():
            return frozenset().union(*(columns(part) for part in predicate.parts))
        case _:
            return frozenset((predicate.column,))


def negated(predicate: Predicate) -> Predicate:
    """What is true exactly where the predicate is false."""
    match predicate:
        case Compare():
            return Compare(column=predicate.column, operator=_OPPOSITE[predicate.operator], value=predicate.value)
        case In():
            parts = (Compare(column=predicate.column, operator=Operator.NE, value=each) for each in predicate.values)
            return And(parts=tuple(parts))
        case IsNull() | StartsWith():
            return Not(part=predicate)
        case Always():
            return Always(outcome=None if predicate.outcome is None else not predicate.outcome)
        case Not():
            return predicate.part
        case And():
            return Or(parts=tuple(negated(part) for part in predicate.parts))
        case Or():
            return And(parts=tuple(negated(part) for part in predicate.parts))
        case _:
            assert_never(predicate)


def positive(predicate: Predicate) -> Predicate:
    """The same with NOT before `IsNull` and `StartsWith` only, so that unknown may count as false everywhere."""
    match predicate:
        case Not(part=IsNull() | StartsWith()):
            return predicate
        case Not():
            return positive(negated(predicate.part))
        case And():
            return And(parts=tuple(positive(part) for part in predicate.parts))
        case Or():
            return Or(parts=tuple(positive(part) for part in predicate.parts))
        case _:
            return predicate


def iso_date(text: str) -> datetime.date:
    """The date of a text as 2024-12-31, no other form; ValueError otherwise."""
    date = datetime.date.fromisoformat(text)
    if date.isoformat() != text:
        raise ValueError(f"{text!r} is no date as 2024-12-31")
    return date


_OPPOSITE = {
    Operator.EQ: Operator.NE,
    Operator.NE: Operator.EQ,
    Operator.LT: Operator.GE,
    Operator.GE: Operator.LT,
    Operator.GT: Operator.LE,
    Operator.LE: Operator.GT,
}
