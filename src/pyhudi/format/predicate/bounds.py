"""What the bounds of columns prove about a predicate: that no row can match, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

from pyhudi.format.metadata_records import StatValue
from pyhudi.format.predicate.syntax import (
    Always,
    And,
    Compare,
    In,
    IsNull,
    Not,
    Operator,
    Or,
    Predicate,
    StartsWith,
    negated,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is known of a column in a set of rows; a bound of None is unknown."""

    minimum: StatValue | None = None
    maximum: StatValue | None = None
    may_be_null: bool = True
    may_be_value: bool = True


_Bound: TypeAlias = StatValue | None


def may_match(predicate: Predicate, bounds: Mapping[str, Bounds]) -> bool:
    """False only if no row within the bounds matches a typed predicate; of a column without bounds nothing is known."""
    match predicate:
        case Always():
            return predicate.outcome is not False
        case And():
            return all(may_match(part, bounds) for part in predicate.parts)
        case Or():
            return any(may_match(part, bounds) for part in predicate.parts)
        case Not():
            if not isinstance(predicate.part, IsNull | StartsWith):
                return may_match(negated(predicate.part), bounds)
            known = bounds.get(predicate.part.column)
            return known is None or (known.may_be_value and _may_differ(predicate.part, known))
        case IsNull():
            known = bounds.get(predicate.column)
            return known is None or known.may_be_null
        case Compare() | In() | StartsWith():
            known = bounds.get(predicate.column)
            return known is None or (known.may_be_value and _may_hold(predicate, known))
        case _:
            assert_never(predicate)


def _may_differ(leaf: IsNull | StartsWith, known: Bounds) -> bool:
    if isinstance(leaf, IsNull):
        return True
    ends = (known.minimum, known.maximum)
    return not all(isinstance(end, str) and end.startswith(leaf.prefix) for end in ends)


def _may_hold(leaf: Compare | In | StartsWith, known: Bounds) -> bool:
    low, high = known.minimum, known.maximum
    match leaf:
        case Compare():
            return _may_compare(leaf.operator, leaf.value, low, high)
        case In():
            return any(_may_compare(Operator.EQ, value, low, high) for value in leaf.values)
        case StartsWith():
            below = not isinstance(low, str) or low[: len(leaf.prefix)] <= leaf.prefix
            return below and (not isinstance(high, str) or high >= leaf.prefix)
        case _:
            assert_never(leaf)


def _may_compare(operator: Operator, value: Any, low: _Bound, high: _Bound) -> bool:
    match operator:
        case Operator.EQ:
            return _at_most(low, value) and _at_most(value, high)
        case Operator.NE:
            return low is None or high is None or not (_at_most(value, low) and _at_most(high, value))
        case Operator.LT:
            return low is None or not _at_most(value, low)
        case Operator.LE:
            return _at_most(low, value)
        case Operator.GT:
            return high is None or not _at_most(high, value)
        case Operator.GE:
            return _at_most(value, high)


def _at_most(left: Any, right: Any) -> bool:
    """left <= right, true where one is unknown; NaN (which alone differs from itself) is the largest.

    Python orders strings by code point, which is the order of their UTF-8 bytes.
    """
    if left is None or right is None or right != right:
        return True
    return bool(left == left and left <= right)
