"""Filters over every flat type, each as SQL and as what it means for one row.

NaN equals itself and is the largest number, both zeros are one, and a comparison with null is no match: as in Spark.
"""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.interop.rows import UTC, Row

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)


class Skips(enum.Enum):
    """Where Java loses no rows by skipping files; test_java_faults.py shows each case where it does."""

    WELL = "everywhere"
    OUR_FILES = "where Java has written none of the files; elsewhere it is asked without"
    OUR_FILES_EVEN_WITHOUT = "where Java has written none of the files; elsewhere it is not asked"
    NOWHERE = "it is asked without"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One filter. `ours`: pyhudi's filter language has it too."""

    sql: str
    holds: Callable[[Row], bool]
    skips: Skips = Skips.WELL
    ours: bool = True


def _known(column: str, test: Callable[[Any], bool]) -> Callable[[Row], bool]:
    return lambda one: one[column] is not None and test(one[column])


def _float(
    sql: str, column: str, test: Callable[[float], bool], *, nan: bool, skips: Skips = Skips.OUR_FILES
) -> Question:
    holds = _known(column, lambda value: nan if value != value else test(value))
    return Question(sql=sql, holds=holds, skips=skips)


def _of(sql: str, column: str, test: Callable[[Any], bool]) -> Question:
    return Question(sql=sql, holds=_known(column, test))


def _text(sql: str, test: Callable[[str], bool], skips: Skips = Skips.OUR_FILES) -> Question:
    return Question(sql=sql, holds=_known("text", test), skips=skips)


QUESTIONS = (
    _of("flag", "flag", lambda value: value),
    _of("NOT flag", "flag", lambda value: not value),
    Question(sql="flag IS NULL", holds=lambda one: one["flag"] is None),
    _of("small > 6", "small", lambda value: value > 6),
    _of("small = -2147483648", "small", lambda value: value == -(2**31)),
    Question(sql="small IS NULL", holds=lambda one: one["small"] is None),
    _of("large > 9007199254740992", "large", lambda value: value > 2**53),
    _of("large <= 5", "large", lambda value: value <= 5),
    _float("single = 0e0", "single", lambda value: value == 0, nan=False, skips=Skips.OUR_FILES_EVEN_WITHOUT),
    _float("single > 1e38", "single", lambda value: value > 1e38, nan=True),
    _float("single < 0e0", "single", lambda value: value < 0, nan=False),
    _float("double >= 5e-324", "double", lambda value: value > 0, nan=True),
    _float("double < -1e0", "double", lambda value: value < -1, nan=False),
    _float("double <= 0e0", "double", lambda value: value <= 0, nan=False),
    _float("double != 0e0", "double", lambda value: value != 0, nan=True),
    Question(sql="double IS NULL", holds=lambda one: one["double"] is None),
    _of("price = 12.34", "price", lambda value: value == Decimal("12.34")),
    _of("price < -1", "price", lambda value: value < -1),
    _of("wide < 0", "wide", lambda value: value < 0),
    _of("wide > 0", "wide", lambda value: value > 0),
    _text("text = ''", lambda value: value == ""),
    _text(f"text = '{'x' * 2047}y'", lambda value: value == "x" * 2047 + "y"),
    _text("text LIKE 'Gr%'", lambda value: value.startswith("Gr"), Skips.NOWHERE),
    _text("text IN ('a', 'x')", lambda value: value in ("a", "x")),
    _text("text > 'b'", lambda value: value > "b"),
    _text("text < 'A'", lambda value: value < "A"),
    Question(sql="text IS NULL", holds=lambda one: one["text"] is None),
    Question(sql="raw = X'00'", holds=lambda one: one["raw"] == b"\x00", skips=Skips.NOWHERE, ours=False),
    Question(sql="raw > X'FE'", holds=_known("raw", lambda value: value > b"\xfe"), skips=Skips.NOWHERE, ours=False),
    Question(sql="raw IS NULL", holds=lambda one: one["raw"] is None, skips=Skips.NOWHERE),
    _of("day = DATE '1970-01-01'", "day", lambda value: value == EPOCH.date()),
    _of("day > DATE '2000-01-01'", "day", lambda value: value > datetime.date(2000, 1, 1)),
    _of("at < TIMESTAMP '1970-01-01 00:00:00+00:00'", "at", lambda value: value < EPOCH),
    _of("at >= TIMESTAMP '1970-01-01 00:00:00+00:00'", "at", lambda value: value >= EPOCH),
    _of("region = '日本'", "region", lambda value: value == "日本"),
    _of("on < DATE '1970-01-01'", "on", lambda value: value < EPOCH.date()),
    _of("id IN ('k007', 'k008')", "id", lambda value: value in ("k007", "k008")),
    Question(
        sql="region = 'eu' AND small >= 0 OR text IS NULL AND NOT flag",
        holds=lambda one: (
            (one["region"] == "eu" and one["small"] is not None and one["small"] >= 0)
            or (one["text"] is None and one["flag"] is False)
        ),
    ),
)
