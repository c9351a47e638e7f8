"""The filter language: what is understood, what a literal means for a column, what bounds prove."""

import datetime
import decimal
import json

import pytest

from pyhudi.errors import InvalidRequest
from pyhudi.format.metadata_records import ValueType
from pyhudi.format.predicate import (
    Always,
    And,
    Bounds,
    Compare,
    Domain,
    In,
    IsNull,
    Not,
    Operator,
    Or,
    StartsWith,
    columns,
    domains_of,
    may_match,
    parse,
    typed,
)

D = decimal.Decimal
NAN = float("nan")

DOMAINS = {
    "i": Domain(kind=ValueType.INT),
    "l": Domain(kind=ValueType.LONG),
    "f": Domain(kind=ValueType.FLOAT),
    "d": Domain(kind=ValueType.DOUBLE),
    "s": Domain(kind=ValueType.STRING),
    "b": Domain(kind=ValueType.BOOLEAN),
    "day": Domain(kind=ValueType.DATE),
    "at": Domain(kind=ValueType.TIMESTAMP_MICROS),
    "ms": Domain(kind=ValueType.TIMESTAMP_MILLIS),
    "local": Domain(kind=ValueType.LOCAL_TIMESTAMP_MICROS),
    "dec": Domain(kind=ValueType.DECIMAL, precision=6, scale=2),
    "raw": None,
}


def compare(column, operator, value):
    return Compare(column=column, operator=Operator(operator), value=value)


TRUE_C = compare("c", "=", True)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a = 5", compare("a", "=", 5)),
        ("a == -5", compare("a", "=", -5)),
        ("5 < a", compare("a", ">", 5)),
        ("a <> 'it''s'", compare("a", "!=", "it's")),
        ("`odd ``name` >= 1.50", compare("odd `name", ">=", D("1.50"))),
        ("tag = 'ü'", compare("tag", "=", "ü")),
        ("day < DATE '2024-12-31'", compare("day", "<", datetime.date(2024, 12, 31))),
        ("t > timestamp '2024-12-31 10:00:00'", compare("t", ">", datetime.datetime(2024, 12, 31, 10))),
        ("date = 'x'", compare("date", "=", "x")),
        ("a is null", IsNull(column="a")),
        ("a IS NOT NULL", Not(part=IsNull(column="a"))),
        ("a IN (1, NULL, 2e3)", In(column="a", values=(1, None, D("2e3")))),
        ("a NOT IN (1)", Not(part=In(column="a", values=(1,)))),
        ("a BETWEEN 1 AND 2", And(parts=(compare("a", ">=", 1), compare("a", "<=", 2)))),
        ("a LIKE 'x%'", StartsWith(column="a", prefix="x")),
        ("a LIKE 'x'", compare("a", "=", "x")),
        ("active AND NOT old", And(parts=(compare("active", "=", True), Not(part=compare("old", "=", True))))),
        ("NOT NOT a = 1", compare("a", "=", 1)),
        ("true", Always(outcome=True)),
        ("a = 1 OR b = 2 AND c", Or(parts=(compare("a", "=", 1), And(parts=(compare("b", "=", 2), TRUE_C))))),
        ("(a = 1 OR b = 2) AND c", And(parts=(Or(parts=(compare("a", "=", 1), compare("b", "=", 2))), TRUE_C))),
    ],
)
def test_what_sql_says_is_understood(text, meaning):
    assert parse(text) == meaning


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a column, a literal, NOT or '(' at position 1, found the end"),
        ("a =", "expected a literal at position 4"),
        ("a = b", "expected a literal at position 5, found 'b'"),
        ("a = 'x", "position 5"),
        ('a = "x"', "position 5"),
        ("a = 1 2", "expected AND, OR or the end at position 7"),
        ("(a = 1", "expected ')' at position 7, found the end"),
        ("a LIKE '%x'", "one % at its end"),
        ("a LIKE 'x_%'", "one % at its end"),
        ("a NOT 5", "expected IN, BETWEEN or LIKE at position 7"),
        ("DATE '2024-13-01' < a", "expected a date"),
        ("a = DATE '20240101'", "expected a date"),
        ("a = 1e99999999999999999999", "smaller exponent"),
        ("a = " + "9" * 401, "at most 400 digits"),
        ("(" * 101 + "a = 1" + ")" * 101, "100 levels"),
        ("a = 5abc", "position 5"),
        ("a = 1; DROP TABLE x", "';' at position 6"),
    ],
)
def test_anything_else_is_refused_with_its_position(text, says):
    with pytest.raises(InvalidRequest) as problem:
        parse(text)
    assert says in str(problem.value)


def test_columns_are_those_of_every_leaf():
    assert columns(parse("a = 1 OR NOT (b IS NULL AND c IN (1) AND d LIKE 'x%') OR true")) == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("i < 2.5", compare("i", "<=", 2)),
        ("i >= 2.5", compare("i", ">", 2)),
        ("i = 2.5", Always(outcome=False)),
        ("i != 2.5", Not(part=IsNull(column="i"))),
        ("i = '7'", compare("i", "=", 7)),
        ("i < 3000000000", Not(part=IsNull(column="i"))),
        ("i > 3000000000", Always(outcome=False)),
        ("l > 3000000000", compare("l", ">", 3000000000)),
        ("i > -3000000000", Not(part=IsNull(column="i"))),
        ("i IN (1, 2.5, NULL)", In(column="i", values=(1,))),
        ("i = NULL", Always(outcome=False)),
        ("NOT i = NULL", Always(outcome=False)),
        ("NOT i IN (1, NULL)", And(parts=(compare("i", "!=", 1), Always(outcome=False)))),
        ("NOT (i < 1 OR s IS NULL)", And(parts=(compare("i", ">=", 1), Not(part=IsNull(column="s"))))),
        ("NOT s LIKE 'x%'", Not(part=StartsWith(column="s", prefix="x"))),
        ("f = 0.1", compare("f", "=", 0.1)),
        ("d IN (1, 2)", Or(parts=(compare("d", "=", 1.0), compare("d", "=", 2.0)))),
        ("dec = 1.5", compare("dec", "=", D("1.50"))),
        ("dec < 1.234", compare("dec", "<=", D("1.23"))),
        ("dec <= 10000", Not(part=IsNull(column="dec"))),
        ("day = '1970-01-02'", compare("day", "=", 1)),
        ("at = TIMESTAMP '1970-01-01 00:00:01'", compare("at", "=", 1_000_000)),
        ("at = '1970-01-01T01:00:01+01:00'", compare("at", "=", 1_000_000)),
        ("at >= DATE '1970-01-02'", compare("at", ">=", 86_400_000_000)),
        ("ms < TIMESTAMP '1970-01-01 00:00:00.0015'", compare("ms", "<=", 1)),
        ("local = TIMESTAMP '1970-01-01 00:00:01'", compare("local", "=", 1_000_000)),
        ("raw IS NULL", IsNull(column="raw")),
        ("S = 'x'", compare("s", "=", "x")),
    ],
)
def test_a_literal_becomes_a_value_of_its_column(text, meaning):
    assert typed(parse(text), DOMAINS) == meaning


@pytest.mark.parametrize(
    "text",
    [
        "i = 'x'", "i = TRUE", "s = 5", "b = 1", "day = '2024-1-1'", "day = 5", "raw = 'x'", "nowhere = 1",
        "i LIKE '1%'", "d = 'x'", "day < TIMESTAMP '2024-01-01'", "i = 1e5000", "dec = '1e999999999'",
        "local = '1970-01-01T00:00:00Z'",
    ],
)  # fmt: skip
def test_a_literal_that_does_not_fit_is_refused_or_left_unjudged(text):
    predicate = parse(text)
    with pytest.raises(InvalidRequest):
        typed(predicate, DOMAINS)
    assert typed(predicate, DOMAINS, lenient=True) == Always(outcome=None)
    assert typed(Not(part=predicate), DOMAINS, lenient=True) == Always(outcome=None)


def test_domains_come_from_the_avro_types():
    fixed = {"type": "fixed", "name": "fixed", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2}
    types = {
        "i": "int", "s": ["null", "string"], "dec": [fixed, "null"], "raw": "bytes", "either": ["int", "string"],
        "at": {"type": "long", "logicalType": "timestamp-micros"}, "part": {"type": "array", "items": "int"},
        "clock": {"type": "long", "logicalType": "time-micros"},
    }  # fmt: skip
    schema = json.loads(json.dumps({"fields": [{"name": name, "type": kind} for name, kind in types.items()]}))
    domains = domains_of(schema)
    assert domains["_hoodie_record_key"] == Domain(kind=ValueType.STRING)
    assert {name: domain and domain.kind for name, domain in domains.items() if name in types} == {
        "i": ValueType.INT, "s": ValueType.STRING, "dec": ValueType.DECIMAL, "raw": None, "either": None,
        "at": ValueType.TIMESTAMP_MICROS, "part": None, "clock": None,
    }  # fmt: skip
    assert domains["dec"] == Domain(kind=ValueType.DECIMAL, precision=10, scale=2)


@pytest.mark.parametrize(
    ("text", "low", "high", "may"),
    [
        ("i = 5", 1, 4, False),
        ("i = 4", 1, 4, True),
        ("i < 1", 1, 4, False),
        ("i <= 1", 1, 4, True),
        ("i > 4", 1, 4, False),
        ("i >= 4", 1, 4, True),
        ("i != 4", 4, 4, False),
        ("i != 4", 4, 5, True),
        ("i IN (0, 9)", 1, 4, False),
        ("NOT i IN (4)", 4, 4, False),
        ("i = 5", None, 4, False),
        ("i = 3", None, 4, True),
        ("i != 4", None, 4, True),
        ("i < 0", None, None, True),
        ("s = 'b'", "a", "c", True),
        ("s > '😀'", "\ud7ff", "\uffff", False),
        ("s LIKE 'ab%'", "b", "c", False),
        ("s LIKE 'ab%'", "a", "abz", True),
        ("s LIKE 'ab%'", "abc", "x", True),
        ("s LIKE 'ab%'", "ac", "x", False),
        ("s NOT LIKE 'ab%'", "ab", "abz", False),
        ("s NOT LIKE 'ab%'", "ab", "ac", True),
        ("d > 5", 1.0, NAN, True),
        ("d < 5", NAN, NAN, False),
        ("d = 'NaN'", 1.0, NAN, True),
        ("d = 'NaN'", 1.0, 2.0, False),
        ("d = 0", -0.0, -0.0, True),
        ("d != 0", -0.0, 0.0, False),
        ("i IS NULL", 1, 4, False),
    ],
)
def test_bounds_rule_out_what_lies_outside(text, low, high, may):
    predicate = typed(parse(text), DOMAINS)
    (column,) = columns(predicate)
    assert may_match(predicate, {column: Bounds(minimum=low, maximum=high, may_be_null=False)}) is may
    assert may_match(predicate, {}) is True


def test_nulls_match_only_is_null():
    nulls = {"i": Bounds(may_be_value=False)}
    for text in ("i = 1", "i != 1", "NOT i = 1", "i IN (1)", "i NOT IN (1)", "i IS NOT NULL"):
        assert not may_match(typed(parse(text), DOMAINS), nulls)
    assert may_match(parse("i IS NULL"), nulls)
    nothing = {"i": Bounds(may_be_value=False, may_be_null=False)}
    assert not may_match(parse("i IS NULL"), nothing)


def test_parts_that_nobody_can_judge_rule_nothing_out():
    unknown = Always(outcome=None)
    inside = {"i": Bounds(minimum=1, maximum=4, may_be_null=False)}
    no = compare("i", "=", 9)
    assert may_match(unknown, inside)
    assert may_match(Not(part=unknown), inside)
    assert may_match(Or(parts=(no, unknown)), inside)
    assert not may_match(And(parts=(no, unknown)), inside)
