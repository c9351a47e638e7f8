"""Every query whose answer by Java Hudi we know is answered alike, or refused for a reason that stands here."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import pyhudi
from pyhudi.errors import HudiError, InstantNotFound, Unsupported

TABLES = Path(__file__).parent / "tables"
READ = ("snapshot", "read_optimized", "time_travel")

TABLES_REFUSED = {
    "v9_120_cow_custom_keygen": "key generator CUSTOM",
    "v9_120_cow_timestamp_keygen": "key generator TIMESTAMP",
    "v9_120_cow_virtual_keys": "no meta columns",
    "v9_120_mor_partial_payload": "partial.update.mode=IGNORE_DEFAULTS",
}
"""Tables that are not opened at all."""

QUERIES_REFUSED = {
    "v9_120_cow_null_elements": ("array", 3),
    "v9_120_cow_schema_on_read": ("schema by column ids", 6),
    "v9_120_cow_types": ("column 'st'", 3),
    "v9_120_mor_log_compaction": ("log compaction", 3),
    "v9_120_mor_merge_into": ("partial updates", 4),
    "v9_120_mor_types": ("column 'st'", 4),
}
"""Tables of which some queries are refused: why, and how many."""

EXPECTED = Counter(equal=145, refused=23, refused_by_both=7)
"""What becomes of all queries on the tables that can be opened."""


def plain(value: Any) -> Any:
    """A value as the sidecars write it."""
    match value:
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case decimal.Decimal():
            return {"$dec": str(value)}
        case datetime.datetime() if value.tzinfo is not None:
            return {"$ts": value.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"}
        case datetime.datetime():
            return {"$ntz": value.isoformat(timespec="microseconds")}
        case datetime.date():
            return {"$date": value.isoformat()}
        case bytes():
            return {"$hex": value.hex()}
        case _:
            return value


def texts(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def answer(golden, query):
    """Our rows, in the sidecar's words."""
    asked = {}
    if query["kind"] == "time_travel":
        asked["as_of"] = query["options"]["as.of.instant"]
    elif query["kind"] == "read_optimized":
        asked["query"] = "read_optimized"
    rows = pyhudi.table(str(golden.path)).to_arrow(**asked).to_pylist()
    return [{name: plain(value) for name, value in row.items()} for row in rows]


def outcome(golden, query) -> tuple[str, str]:
    """What becomes of a query, and why it is refused."""
    try:
        rows = answer(golden, query)
    except InstantNotFound as refusal:
        assert "Cleaner cleaned up" in query.get("error", ""), f"{query['options']}: {refusal}"
        return "refused_by_both", str(refusal)
    except Unsupported as refusal:
        return "refused", str(refusal)
    assert "error" not in query, f"Java refuses {query['options']}: {query.get('error')}"
    assert texts(rows) == texts(query["rows"]), query["options"]
    return "equal", ""


def test_queries_are_answered_as_java_answers_them(golden):
    if golden.name in TABLES_REFUSED:
        with pytest.raises(Unsupported, match=TABLES_REFUSED[golden.name]):
            pyhudi.table(str(golden.path))
        return
    reason, expected = QUERIES_REFUSED.get(golden.name, ("", 0))
    outcomes = [outcome(golden, query) for query in golden.queries(*READ)]
    refusals = [why for what, why in outcomes if what == "refused"]
    assert len(refusals) == expected and all(reason in why for why in refusals), refusals
    assert len(outcomes) > 0


def test_how_many_queries_are_answered_and_refused(unpacked):
    """The sum over all tables: a query that silently dropped out would show here."""
    names = [path.name[: -len(".zip")] for path in sorted(TABLES.glob("*.zip"))]
    counts = Counter(
        outcome(table, query)[0]
        for table in map(unpacked, names)
        if table.name not in TABLES_REFUSED
        for query in table.queries(*READ)
    )
    print(f"{dict(counts)} on {len(names) - len(TABLES_REFUSED)} of {len(names)} tables")
    assert counts == EXPECTED


@pytest.mark.parametrize("kind", ["incremental", "cdc"])
def test_changes_are_not_asked_for_yet(unpacked, kind):
    table = unpacked("v9_120_cow_cdc")
    assert table.queries(kind)
    with pytest.raises(HudiError):
        pyhudi.table(str(table.path)).to_arrow(query=kind)
