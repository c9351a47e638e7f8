"""Predicates on rows: SQL's three values, Spark's order of floats, and bounds that never lose a matching row."""

import datetime
import decimal
import math
import struct
from fractions import Fraction

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    may_match,
    parse,
    typed,
)
from pyhudi.merge.filtering import matching, scan_expression

EPOCH = datetime.date(1970, 1, 1)
SCHEMA = pa.schema(
    [
        ("i", pa.int32()), ("l", pa.int64()), ("f", pa.float32()), ("d", pa.float64()), ("s", pa.string()),
        ("b", pa.bool_()), ("day", pa.date32()), ("at", pa.timestamp("us", "UTC")), ("ms", pa.timestamp("ms", "UTC")),
        ("dec", pa.decimal128(5, 2)), ("raw", pa.binary()),
    ]
)  # fmt: skip
DOMAINS = {
    "i": Domain(kind=ValueType.INT), "l": Domain(kind=ValueType.LONG), "f": Domain(kind=ValueType.FLOAT),
    "d": Domain(kind=ValueType.DOUBLE), "s": Domain(kind=ValueType.STRING), "b": Domain(kind=ValueType.BOOLEAN),
    "day": Domain(kind=ValueType.DATE), "at": Domain(kind=ValueType.TIMESTAMP_MICROS),
    "ms": Domain(kind=ValueType.TIMESTAMP_MILLIS), "dec": Domain(kind=ValueType.DECIMAL, precision=5, scale=2),
    "raw": None,
}  # fmt: skip


def narrow(value):
    return struct.unpack("f", struct.pack("f", value))[0]


FLOATS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1, 1.5, math.inf, -math.inf, math.nan, 1e300])
TEXTS = st.sampled_from(["", "a", "ab", "b", "ü", "\ud7ff", "\uffff", "😀", "\x7f"])
DAYS = st.integers(-2, 2).map(lambda day: EPOCH + datetime.timedelta(day))
TIMES = st.integers(-3, 3).map(
    lambda micros: datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(microseconds=micros * 500)
)
CENTS = st.integers(-99999, 99999).map(lambda cents: decimal.Decimal(cents) / 100) | st.sampled_from(
    [decimal.Decimal(text) for text in ("0", "0.01", "1.50", "-1.50", "999.99", "-999.99")]
)
CELLS = {
    "i": st.integers(-3, 3) | st.sampled_from([-(2**31), 2**31 - 1]),
    "l": st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1]),
    "f": FLOATS.filter(lambda value: value != 1e300).map(narrow),
    "d": FLOATS,
    "s": TEXTS,
    "b": st.booleans(),
    "day": DAYS,
    "at": TIMES,
    "ms": TIMES.map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)),
    "dec": CENTS,
    "raw": st.binary(max_size=2),
}
NUMBERS = (
    st.integers(-3, 3)
    | st.sampled_from([2**31, -(2**31) - 1, 2**63, -(2**63) - 1, 10**30, 2**53 + 1])
    | st.sampled_from([decimal.Decimal(text) for text in ("0.5", "1.50", "0.1", "-0.005", "999.995", "1e10")])
)
LITERALS = {
    "i": NUMBERS, "l": NUMBERS, "dec": NUMBERS, "f": NUMBERS | FLOATS, "d": NUMBERS | FLOATS, "s": TEXTS,
    "b": st.booleans(), "day": DAYS, "at": TIMES, "ms": TIMES,
}  # fmt: skip


def with_null(values):
    return st.none() | values


def leaves(column):
    null = st.just(IsNull(column=column))
    if column == "raw":
        return null
    value = with_null(LITERALS[column])
    found = [
        null,
        st.builds(Compare, column=st.just(column), operator=st.sampled_from(Operator), value=value),
        st.builds(In, column=st.just(column), values=st.lists(value, max_size=3).map(tuple)),
    ]
    if column == "s":
        found.append(st.builds(StartsWith, column=st.just(column), prefix=TEXTS))
    return st.one_of(found)


PREDICATES = st.recursive(
    st.sampled_from(sorted(CELLS)).flatmap(leaves) | st.builds(Always, outcome=st.booleans()),
    lambda inner: (
        st.builds(Not, part=inner)
        | st.builds(And, parts=st.lists(inner, min_size=1, max_size=3).map(tuple))
        | st.builds(Or, parts=st.lists(inner, min_size=1, max_size=3).map(tuple))
    ),
    max_leaves=5,
)
ROWS = st.lists(st.fixed_dictionaries({name: with_null(cells) for name, cells in CELLS.items()}), max_size=6)


def table_of(rows):
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def order(column, value):
    """A key that sorts values and literals of a column as Spark compares them."""
    if column in ("f", "d"):
        number = float(value)
        return (1, 0.0) if math.isnan(number) else (0, number)
    if column in ("i", "l", "dec"):
        return Fraction(value)
    return value.encode() if column == "s" else value


def compared(column, operator, cell, value):
    if cell is None or value is None:
        return None
    left, right = order(column, cell), order(column, value)
    return {
        Operator.EQ: left == right, Operator.NE: left != right, Operator.LT: left < right,
        Operator.LE: left <= right, Operator.GT: left > right, Operator.GE: left >= right,
    }[operator]  # fmt: skip


def model(predicate, row):
    """SQL by the book, one row at a time: True, False or None."""
    match predicate:
        case Always():
            return predicate.outcome
        case Not():
            inner = model(predicate.part, row)
            return None if inner is None else not inner
        case And():
            parts = [model(part, row) for part in predicate.parts]
            return False if False in parts else None if None in parts else True
        case Or():
            parts = [model(part, row) for part in predicate.parts]
            return True if True in parts else None if None in parts else False
        case IsNull():
            return row[predicate.column] is None
        case StartsWith():
            cell = row[predicate.column]
            return None if cell is None else cell.startswith(predicate.prefix)
        case In():
            cell = row[predicate.column]
            tests = [compared(predicate.column, Operator.EQ, cell, value) for value in predicate.values]
            return True if True in tests else None if None in tests else False
        case Compare():
            return compared(predicate.column, predicate.operator, row[predicate.column], predicate.value)


def stored(column, value):
    """A cell as statistics hold it."""
    if column == "day":
        return (value - EPOCH).days
    if column in ("at", "ms"):
        micros = (value - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)) // datetime.timedelta(microseconds=1)
        return micros if column == "at" else micros // 1000
    return value


def bounds_of(rows):
    found = {}
    for column in CELLS:
        cells = [row[column] for row in rows if row[column] is not None]
        ends = {}
        if cells and column != "raw":
            ordered = sorted(cells, key=lambda cell: order(column, cell))
            ends = {"minimum": stored(column, ordered[0]), "maximum": stored(column, ordered[-1])}
        found[column] = Bounds(may_be_value=bool(cells), may_be_null=len(cells) < len(rows), **ends)
    return found


@settings(max_examples=400, deadline=None)
@given(ROWS, PREDICATES)
def test_rows_match_as_sql_says(rows, predicate):
    expected = [model(predicate, row) is True for row in rows]
    table = table_of(rows)
    assert matching(table, predicate).to_pylist() == expected
    kept = ds.dataset(table).to_table(filter=scan_expression(predicate, SCHEMA))
    assert kept.num_rows == sum(expected)


@settings(max_examples=600, deadline=None)
@given(ROWS, PREDICATES, st.sets(st.sampled_from(sorted(CELLS))))
def test_bounds_never_rule_out_a_row_that_matches(rows, predicate, unknown):
    bounds = {column: known for column, known in bounds_of(rows).items() if column not in unknown}
    matched = any(model(predicate, row) is True for row in rows)
    assert may_match(typed(predicate, DOMAINS), bounds) or not matched


def test_parquet_row_groups_are_left_out_only_where_nothing_matches(tmp_path):
    table = pa.table({"d": [1.0, 2.0, float("nan"), None, 5.0, 6.0], "s": ["a", "b", "c", "d", "e", None]})
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=2)
    for text in ("d > 4", "d != 5", "d = 'NaN'", "s >= 'd'", "s IS NULL", "NOT d < 5", "s IN ('a', 'e')"):
        predicate = parse(text)
        kept = ds.dataset(path).to_table(filter=scan_expression(predicate, table.schema))
        assert kept.num_rows == matching(table, predicate).to_pylist().count(True), text
    fragment = next(ds.dataset(path).get_fragments())
    groups = fragment.split_by_row_group(filter=scan_expression(parse("s = 'e'"), table.schema))
    assert len(list(groups)) == 1


def test_a_batch_is_masked_like_a_table():
    batch = pa.RecordBatch.from_pylist([{"i": 1}, {"i": None}], schema=pa.schema([("i", pa.int8())]))
    assert matching(batch, parse("i <= 1000")).to_pylist() == [True, False]
    assert matching(batch, parse("true")).to_pylist() == [True, True]


def test_what_cannot_be_evaluated_is_refused():
    rows = table_of([])
    for predicate in (parse("i = 'x'"), parse("raw = 'x'"), parse("nowhere = 1"), Always(outcome=None)):
        with pytest.raises(InvalidRequest):
            matching(rows, predicate)
