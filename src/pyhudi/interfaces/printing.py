"""How rows and values look on a terminal, in JSON and in CSV: nothing is lost in JSON but the types."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pyhudi.format.instant import Instant
from pyhudi.services import printable, text_table

CELL_WIDTH = 48
"""Longer values are cut on a terminal."""


def json_text(document: Any) -> str:
    """One JSON document on one line."""
    return json.dumps(plain(document), ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """A value in what JSON has: times in ISO form, decimals and what is no finite number as text, bytes in hex."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else _NOT_FINITE.get(value, "NaN")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, decimal.Decimal) else value


_NOT_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


def csv_text(rows: pa.Table) -> str:
    """A header and the rows; a null is an empty cell."""
    out = io.StringIO()
    writer = csv.DictWriter(out, rows.column_names, lineterminator="\n")
    writer.writeheader()
    for batch in rows.to_batches(max_chunksize=10_000):
        writer.writerows({name: plain(value) for name, value in row.items()} for row in batch.to_pylist())
    return out.getvalue().removesuffix("\n")


def rows_table(rows: pa.Table, most: int) -> str:
    """The first rows as a table, and how many there are in all."""
    shown = [{name: short(value) for name, value in row.items()} for row in rows.slice(0, most).to_pylist()]
    more = f" (the first {most} are shown; --limit N for more)" if len(rows) > most else ""
    count = f"{len(rows)} row{'' if len(rows) == 1 else 's'}{more}"
    return f"{text_table(shown, rows.column_names, null='null')}\n{count}"


def short(value: Any) -> Any:
    """A cell's value as people read it: numbers and nulls as they are, the rest as text that fits."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    text = str(plain(value))
    return text if len(text) <= CELL_WIDTH else f"{text[: CELL_WIDTH - 1]}…"


def facts(pairs: Sequence[tuple[str, object]]) -> str:
    """Names and values, one pair a line."""
    width = max(len(name) for name, _ in pairs)
    return "\n".join(f"{name.ljust(width)}  {printable(str(value))}" for name, value in pairs)


def instant_row(instant: Instant) -> dict[str, str | None]:
    """An instant as users see it."""
    return {
        "requested_time": instant.requested_time,
        "completion_time": instant.completion_time,
        "action": str(instant.action),
        "state": instant.state.name,
    }
