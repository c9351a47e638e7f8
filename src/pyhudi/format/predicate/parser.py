"""Text -> predicate: the part of SQL that pruning understands; everything else is refused with its position."""

from __future__ import annotations

import datetime
import decimal
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from pyhudi.errors import InvalidRequest
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
)


def parse(text: str) -> Predicate:
    """The predicate of a text such as `day = '2024-12-31' AND (fare > 5 OR tip IS NULL)`.

    Understood: AND, OR, NOT, parentheses, = == != <> < <= > >= with the column on either side, [NOT] IN, [NOT] BETWEEN,
    IS [NOT] NULL, [NOT] LIKE 'prefix%', a boolean column by itself, numbers, 'strings' ('' is a quote), TRUE, FALSE,
    NULL, DATE '…', TIMESTAMP '…'; columns plain or in `backticks`.
    """
    reader = _Reader(text)
    predicate = reader.disjunction()
    if reader.current.kind is not _Kind.END:
        reader.refuse("AND, OR or the end")
    return predicate


class _Kind(StrEnum):
    WORD = r"[^\W\d]\w*"
    QUOTED = r"`(?:[^`]|``)+`"
    STRING = r"'(?:[^']|'')*'"
    NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w)"
    SYMBOL = r"<>|!=|==|<=|>=|[=<>(),-]"
    END = r"\Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    kind: _Kind
    text: str
    position: int

    @property
    def keyword(self) -> str:
        return self.text.upper() if self.kind in (_Kind.WORD, _Kind.SYMBOL) else ""


_TOKEN = re.compile(r"\s*(?:" + "|".join(f"(?P<{kind.name}>{kind.value})" for kind in _Kind) + ")")
_KEYWORDS = frozenset(("AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "LIKE", "TRUE", "FALSE"))
_TYPED = {"DATE": iso_date, "TIMESTAMP": datetime.datetime.fromisoformat}
_OPERATORS = {each.value: each for each in Operator} | {"==": Operator.EQ, "<>": Operator.NE}
_MIRRORED = {Operator.LT: Operator.GT, Operator.LE: Operator.GE, Operator.GT: Operator.LT, Operator.GE: Operator.LE}
_MOST_NESTED = 100
_LONGEST_NUMBER = 400


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while not found or found[-1].kind is not _Kind.END:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            raise InvalidRequest(f"filter {text!r}: {text[at]!r} at position {at + 1} has no meaning here")
        kind = _Kind[match.lastgroup]
        found.append(_Token(kind=kind, text=match[kind.name], position=match.start(kind.name)))
        at = match.end()
    return found


class _Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    @property
    def current(self) -> _Token:
        return self._tokens[self._at]

    def refuse(self, expected: str) -> NoReturn:
        found = repr(self.current.text) if self.current.text else "the end"
        where = f"position {self.current.position + 1}"
        raise InvalidRequest(f"filter {self._text!r}: expected {expected} at {where}, found {found}")

    def disjunction(self) -> Predicate:
        self._depth += 1
        if self._depth > _MOST_NESTED:
            self.refuse(f"at most {_MOST_NESTED} levels of nesting")
        parts = [self._conjunction()]
        while self._accept("OR"):
            parts.append(self._conjunction())
        self._depth -= 1
        return parts[0] if len(parts) == 1 else Or(parts=tuple(parts))

    def _conjunction(self) -> Predicate:
        parts = [self._negation()]
        while self._accept("AND"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else And(parts=tuple(parts))

    def _negation(self) -> Predicate:
        turned = False
        while self._accept("NOT"):
            turned = not turned
        predicate = self._condition()
        return Not(part=predicate) if turned else predicate

    def _condition(self) -> Predicate:
        if self._accept("("):
            inner = self.disjunction()
            self._demand(")")
            return inner
        if self._at_column():
            return self._about_column(self._column())
        return self._from_literal()

    def _from_literal(self) -> Predicate:
        if self.current.keyword in ("TRUE", "FALSE") and self._tokens[self._at + 1].keyword not in _OPERATORS:
            return Always(outcome=self._next().keyword == "TRUE")
        value = self._literal("a column, a literal, NOT or '('")
        operator = self._operator()
        if not self._at_column():
            self.refuse("a column")
        return Compare(column=self._column(), operator=_MIRRORED.get(operator, operator), value=value)

    def _about_column(self, column: str) -> Predicate:
        if self.current.keyword in _OPERATORS:
            return Compare(column=column, operator=self._operator(), value=self._literal("a literal"))
        if self._accept("IS"):
            turned = self._accept("NOT")
            self._demand("NULL")
            return Not(part=IsNull(column=column)) if turned else IsNull(column=column)
        turned = self._accept("NOT")
        tests = {"IN": self._in, "BETWEEN": self._between, "LIKE": self._like}
        test = tests.get(self.current.keyword)
        if test is None:
            ends = self.current.kind is _Kind.END or self.current.keyword in ("AND", "OR", ")")
            if turned or not ends:
                self.refuse("IN, BETWEEN or LIKE" if turned else "a comparison, IS, IN, BETWEEN or LIKE")
            return Compare(column=column, operator=Operator.EQ, value=True)
        self._next()
        return Not(part=test(column)) if turned else test(column)

    def _in(self, column: str) -> Predicate:
        self._demand("(")
        values = [self._literal("a literal")]
        while self._accept(","):
            values.append(self._literal("a literal"))
        self._demand(")")
        return In(column=column, values=tuple(values))

    def _between(self, column: str) -> Predicate:
        low = Compare(column=column, operator=Operator.GE, value=self._literal("a literal"))
        self._demand("AND")
        high = Compare(column=column, operator=Operator.LE, value=self._literal("a literal"))
        return And(parts=(low, high))

    def _like(self, column: str) -> Predicate:
        if self.current.kind is not _Kind.STRING:
            self.refuse("a 'pattern'")
        pattern = _unquoted(self.current.text)
        prefix = pattern.removesuffix("%")
        if any(char in prefix for char in "%_\\"):
            self.refuse("a pattern with one % at its end and no other wildcard or escape")
        self._next()
        if prefix == pattern:
            return Compare(column=column, operator=Operator.EQ, value=pattern)
        return StartsWith(column=column, prefix=prefix)

    def _literal(self, expected: str) -> Literal:
        token = self.current
        if token.kind is _Kind.NUMBER or token.keyword == "-":
            return self._number()
        if token.kind is _Kind.STRING:
            self._next()
            return _unquoted(token.text)
        if token.keyword in ("TRUE", "FALSE", "NULL"):
            self._next()
            return None if token.keyword == "NULL" else token.keyword == "TRUE"
        if token.keyword in _TYPED:
            return self._typed_literal()
        self.refuse(expected)

    def _typed_literal(self) -> Literal:
        word = self._next().keyword
        if self.current.kind is not _Kind.STRING:
            self.refuse(f"{word} 'text'")
        try:
            value = _TYPED[word](_unquoted(self.current.text))
        except ValueError:
            self.refuse("a date as '2024-12-31'" if word == "DATE" else "a time as '2024-12-31 23:59:59'")
        self._next()
        return value

    def _number(self) -> int | decimal.Decimal:
        sign = "-" if self._accept("-") else ""
        text = self.current.text
        if self.current.kind is not _Kind.NUMBER or len(text) > _LONGEST_NUMBER:
            self.refuse(f"a number of at most {_LONGEST_NUMBER} digits")
        try:
            value = int(sign + text) if text.isdigit() else decimal.Decimal(sign + text)
        except decimal.InvalidOperation:
            self.refuse("a number with a smaller exponent")
        self._next()
        return value

    def _operator(self) -> Operator:
        operator = _OPERATORS.get(self.current.keyword)
        if operator is None:
            self.refuse("one of = != < <= > >=")
        self._next()
        return operator

    def _at_column(self) -> bool:
        token = self.current
        if token.kind is _Kind.QUOTED:
            return True
        if token.keyword in _TYPED and self._tokens[self._at + 1].kind is _Kind.STRING:
            return False
        return token.kind is _Kind.WORD and token.keyword not in _KEYWORDS

    def _column(self) -> str:
        token = self._next()
        return token.text[1:-1].replace("``", "`") if token.kind is _Kind.QUOTED else token.text

    def _next(self) -> _Token:
        token = self.current
        self._at += 1
        return token

    def _accept(self, keyword: str) -> bool:
        found = self.current.keyword == keyword
        self._at += found
        return found

    def _demand(self, keyword: str) -> None:
        if not self._accept(keyword):
            self.refuse(keyword if keyword.isalpha() else repr(keyword))


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")
