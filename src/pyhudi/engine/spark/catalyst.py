"""Spark's filters -> predicates, from the JSON that Catalyst prints of an expression; no JVM is needed for it."""

from __future__ import annotations

import datetime
import decimal
import json
import struct
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from pyhudi.format.predicate import (
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
)


class Filter(Protocol):
    """One filter as Spark hands it over."""

    def tree(self) -> str:
        """Its nodes in preorder, as Catalyst's JSON."""
        ...

    def raw_value(self, node: int) -> int:
        """What the literal at a node holds inside: times do not print without their zone."""
        ...

    def raw_values(self, node: int) -> list[str] | None:
        """What the set at a node holds inside, as text; None if that cannot be told."""
        ...


def predicate_of(source: Filter) -> Predicate:
    """The predicate that the filter states; parts of which nothing is understood cannot be judged."""
    return _Reader(source).predicate()


def unjudged(predicate: Predicate) -> int:
    """How many parts of a predicate nobody can judge."""
    match predicate:
        case Always():
            return int(predicate.outcome is None)
        case Not():
            return unjudged(predicate.part)
        case And() | Or():
            return sum(unjudged(part) for part in predicate.parts)
        case _:
            return 0


_UNKNOWN = Always(outcome=None)
_EPOCH = datetime.datetime(1970, 1, 1)
_OPERATORS = {
    "EqualTo": Operator.EQ,
    "LessThan": Operator.LT,
    "LessThanOrEqual": Operator.LE,
    "GreaterThan": Operator.GT,
    "GreaterThanOrEqual": Operator.GE,
}
_MIRRORED = {Operator.LT: Operator.GT, Operator.LE: Operator.GE, Operator.GT: Operator.LT, Operator.GE: Operator.LE}


class _Reader:
    """Walks the nodes of one filter in preorder."""

    def __init__(self, source: Filter) -> None:
        self._source = source
        self._nodes: list[Mapping[str, Any]] = json.loads(source.tree())
        self._at = 0

    def predicate(self) -> Predicate:
        at, node, name = self._next()
        operands = range(node["num-children"])
        if name in ("And", "Or"):
            parts = tuple(self.predicate() for _ in operands)
            return And(parts=parts) if name == "And" else Or(parts=parts)
        if name == "Not":
            return Not(part=self.predicate())
        if name == "AttributeReference":
            return Compare(column=node["name"], operator=Operator.EQ, value=True)
        if name == "Literal":
            return Always(outcome=_boolean(node))
        return self._leaf(at, name, [self._operand() for _ in operands])

    def _leaf(self, at: int, name: str, operands: list[_Operand]) -> Predicate:
        column = operands[0] if operands else None
        if isinstance(column, _Value) and len(operands) == 2 and isinstance(operands[1], _Column):
            return self._compared(name, operands[1], column, mirrored=True)
        if not isinstance(column, _Column):
            return _UNKNOWN
        values = [each for each in operands[1:] if isinstance(each, _Value)]
        if len(values) < len(operands) - 1:
            return _UNKNOWN
        match name:
            case "IsNull":
                return IsNull(column=column.name)
            case "IsNotNull":
                return Not(part=IsNull(column=column.name))
            case "In":
                return In(column=column.name, values=tuple(each.value for each in values))
            case "InSet":
                return self._in_set(at, column)
            case _:
                return self._compared(name, column, values[0], mirrored=False) if len(values) == 1 else _UNKNOWN

    def _compared(self, name: str, column: _Column, value: _Value, *, mirrored: bool) -> Predicate:
        operator = _OPERATORS.get(name)
        if operator is not None:
            operator = _MIRRORED.get(operator, operator) if mirrored else operator
            return Compare(column=column.name, operator=operator, value=value.value)
        if name == "EqualNullSafe":
            null = IsNull(column=column.name)
            if value.value is None:
                return null
            equal = Compare(column=column.name, operator=Operator.EQ, value=value.value)
            return And(parts=(Not(part=null), equal))
        if name == "StartsWith" and isinstance(value.value, str) and not mirrored:
            return StartsWith(column=column.name, prefix=value.value)
        return _UNKNOWN

    def _in_set(self, at: int, column: _Column) -> Predicate:
        texts = self._source.raw_values(at)
        decode = _decoder(column.kind, raw=True)
        if texts is None or decode is None:
            return _UNKNOWN
        return In(column=column.name, values=tuple(decode(text) for text in texts))

    def _operand(self) -> _Operand:
        at, node, name = self._next()
        for _ in range(node["num-children"]):
            self._operand()
        if name == "AttributeReference":
            return _Column(node["name"], node["dataType"])
        if name != "Literal" or not isinstance(node["dataType"], str):
            return None
        if node["value"] is None:
            return _Value(None)
        raw = node["dataType"] in _TIMES
        decode = _decoder(node["dataType"], raw=raw)
        if decode is None:
            return None
        return _Value(decode(str(self._source.raw_value(at)) if raw else node["value"]))

    def _next(self) -> tuple[int, Mapping[str, Any], str]:
        at = self._at
        self._at += 1
        node = self._nodes[at]
        return at, node, node["class"].rsplit(".", 1)[-1]


class _Column:
    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: Any) -> None:
        self.name = name
        self.kind = kind


class _Value:
    __slots__ = ("value",)

    def __init__(self, value: Literal) -> None:
        self.value = value


_Operand = _Column | _Value | None

_TIMES: Mapping[str, Callable[[str], Literal]] = {
    "timestamp": lambda text: _time(text).replace(tzinfo=datetime.UTC),
    "timestamp_ntz": lambda text: _time(text),
}
_DECODERS: Mapping[str, Callable[[str], Literal]] = {
    "string": str,
    "byte": int,
    "short": int,
    "integer": int,
    "long": int,
    "float": lambda text: _single(float(text)),
    "double": float,
    "boolean": lambda text: text == "true",
    **_TIMES,
}


def _decoder(kind: Any, *, raw: bool) -> Callable[[str], Literal] | None:
    if not isinstance(kind, str):
        return None
    if kind.startswith("decimal("):
        return decimal.Decimal
    if kind == "date":
        return _day if raw else datetime.date.fromisoformat
    return _DECODERS.get(kind)


def _boolean(node: Mapping[str, Any]) -> bool | None:
    """A literal by itself; NULL is left unjudged."""
    return node["value"] == "true" if node["dataType"] == "boolean" and node["value"] is not None else None


def _time(micros: str) -> datetime.datetime:
    return _EPOCH + datetime.timedelta(microseconds=int(micros))


def _day(days: str) -> datetime.date:
    return (_EPOCH + datetime.timedelta(days=int(days))).date()


def _single(value: float) -> float:
    """The number that a float column holds for it: Java prints floats with no more digits than it needs."""
    single: float = struct.unpack("f", struct.pack("f", value))[0]
    return single
