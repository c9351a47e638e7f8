"""Tables, JSON and CSV: what a terminal, a machine and a spreadsheet get."""

from __future__ import annotations

import datetime
import decimal
import json
import math

import pyarrow as pa

from pyhudi.interfaces.printing import csv_text, facts, json_text, rows_table
from pyhudi.services import text_table


def test_numbers_stand_to_the_right() -> None:
    assert text_table([{"name": "a", "size": 5}, {"name": "bcd", "size": 1200}]).splitlines() == [
        "name  size",
        "----  ----",
        "a        5",
        "bcd   1200",
    ]


def test_no_rows_still_have_columns() -> None:
    assert text_table([], ["a", "b"]).splitlines() == ["a  b", "-  -"]


def test_text_from_a_table_cannot_steer_the_terminal() -> None:
    shown = text_table([{"name": "\x1b[2Jgone\n", "place": "Zürich"}])
    assert "\x1b" not in shown and r"\x1b[2Jgone\n" in shown
    assert "Zürich" in shown


def test_a_long_value_is_cut_and_a_null_shows() -> None:
    lines = rows_table(pa.table({"a": ["x" * 100, None]}), 10).splitlines()
    assert lines[2] == "x" * 47 + "…"
    assert lines[3] == "null"


def test_numbers_stay_to_the_right_of_nulls() -> None:
    assert rows_table(pa.table({"a": [10, None]}), 10).splitlines()[2:4] == ["  10", "null"]


def test_rows_beyond_the_most_are_counted() -> None:
    assert (
        rows_table(pa.table({"a": range(9)}), 4).splitlines()[-1]
        == "9 rows (the first 4 are shown; --limit N for more)"
    )


def test_json_holds_every_type_that_a_table_has() -> None:
    document = {
        "decimal": decimal.Decimal("1.50"),
        "date": datetime.date(2024, 12, 31),
        "time": datetime.datetime(2024, 12, 31, 23, 59, tzinfo=datetime.UTC),
        "bytes": b"\x00\xff",
        "numbers": [math.nan, math.inf, -math.inf, 1.5, True, None],
    }
    assert json.loads(json_text(document)) == {
        "decimal": "1.50",
        "date": "2024-12-31",
        "time": "2024-12-31T23:59:00+00:00",
        "bytes": "00ff",
        "numbers": ["NaN", "Infinity", "-Infinity", 1.5, True, None],
    }


def test_csv_quotes_and_leaves_nulls_empty() -> None:
    rows = pa.table({"a": ['say "hi", all', None], "b": [1, 2]})
    assert csv_text(rows).splitlines() == ["a,b", '"say ""hi"", all",1', ",2"]
    assert csv_text(rows.slice(0, 0)) == "a,b"


def test_facts_are_aligned() -> None:
    assert facts([("a", 1), ("long name", "x")]) == "a          1\nlong name  x"
