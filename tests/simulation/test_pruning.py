"""Pruning on = pruning off, in process: odd values (S14) and random predicates on random files (S15)."""

import datetime
import math
import random

import pyarrow as pa
import pytest

from pyhudi.client.create import TableDefinition
from pyhudi.engine.local import LocalEngine
from pyhudi.format.predicate import parse
from pyhudi.format.table_properties import TableType
from pyhudi.merge.filtering import matching
from pyhudi.reads import Query, scan
from pyhudi.testing.world import Process, World
from tests.simulation.scenes import FULL, SEED

pytestmark = pytest.mark.simulate

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("day", pa.string()),
        ("ts", pa.int64()),
        ("f", pa.float64()),
        ("s", pa.string()),
        ("n", pa.int32()),
        ("d", pa.date32()),
        ("b", pa.bool_()),
    ]
)
LONG = "x" * 2048
DAY = datetime.date(2024, 2, 29)
FLOATS = [math.nan, -0.0, 0.0, math.inf, -math.inf, 1.5, -2.5, 1e300, None]
TEXTS = [LONG, "", "a", "b'c", "zz", "\U0001f600", "\uffff", "Ä", None]
NUMBERS = [None, None, -(2**31), 2**31 - 1, 0, 7]
DAYS = [None, DAY, datetime.date(1960, 1, 1)]
PREDICATES = [
    "f > 1",
    "f < 0",
    "f = 0",
    "f = -0.0",
    "f <> 0",
    "f >= 1e300",
    "f is null",
    "f is not null",
    "not f > 1",
    "not f = 0",
    f"s = '{LONG}'",
    f"s > '{LONG[:100]}'",
    "s = ''",
    "s < 'b'",
    "s like 'xx%'",
    "s not like 'x%'",
    "s is null",
    "s >= '\U0001f600'",
    "s > 'zz'",
    "s in ('a', 'zz')",
    "s not in ('a', 'zz')",
    "n is null",
    "n is not null",
    "n > 0",
    "n between 0 and 7",
    "not (n between 0 and 7)",
    "n <> 7",
    "d = date '2024-02-29'",
    "d < date '2000-01-01'",
    "b",
    "not b",
    "day = 'p1'",
    "day <> 'p1' and f > 0",
    "day = 'p1' or n = 7",
    "id = 'k3'",
]


def values(rng: random.Random, key: str) -> dict:
    return {
        "id": key,
        "day": f"p{int(key[1:]) % 4}",
        "ts": rng.randrange(5),
        "f": rng.choice(FLOATS),
        "s": rng.choice(TEXTS),
        "n": rng.choice(NUMBERS),
        "d": rng.choice(DAYS),
        "b": rng.choice([True, False, None]),
    }


def world_of(table_type: TableType) -> World:
    return World(
        definition=TableDefinition(
            name="odd", schema=SCHEMA, table_type=table_type, record_key=["id"], partition_by=["day"], ordering=["ts"]
        )
    )


def fill(process: Process, rng: random.Random, *, merge_on_read: bool) -> None:
    """Few rows a file, so that files differ; logs, a partition that is all null, a file that is empty."""
    process.create()
    for first in range(0, 24, 6):
        process.write("insert", [values(rng, f"k{number}") for number in range(first, first + 6)])
    bare = {"f": None, "s": None, "n": None, "d": None, "b": None}
    process.write("insert", [values(rng, f"k{number}") | bare | {"day": "p7"} for number in (30, 34)])
    process.write("insert", [values(rng, "k40") | {"day": "p9"}])
    process.write("delete", [values(rng, "k40") | {"day": "p9"}])
    process.write("upsert", [values(rng, f"k{number}") for number in range(0, 24, 5)])
    if merge_on_read:
        process.compact()
        process.write("upsert", [values(rng, f"k{number}") for number in range(0, 24, 7)])


def compare(process: Process, texts: list[str]) -> tuple[int, int]:
    """How many slices were read and how many there were, over all predicates; rows must agree."""
    table = process.client.table()
    everything = process.client.read(LocalEngine(), Query(), table)
    read = total = 0
    for text in texts:
        query = Query(predicate=parse(text))
        pruned = process.client.read(LocalEngine(), query, table)
        wanted = everything.filter(matching(everything, query.predicate))
        assert sorted(pruned["id"].to_pylist()) == sorted(wanted["id"].to_pylist()), text
        read += len(scan(table, query).slices)
        total += len(scan(table, Query()).slices)
    return read, total


@pytest.mark.parametrize("table_type", TableType)
def test_s14_odd_values_are_found_with_pruning_as_without(table_type: TableType):
    process = world_of(table_type).process()
    fill(process, random.Random(14), merge_on_read=table_type is TableType.MERGE_ON_READ)
    read, total = compare(process, PREDICATES)
    assert read < 0.8 * total, "nothing was pruned, so nothing was shown"
    print(f"{len(PREDICATES)} predicates: {read} of {total} slices read")


def random_predicate(rng: random.Random, depth: int = 0) -> str:
    if depth < 2 and rng.random() < 0.5:
        left, right = random_predicate(rng, depth + 1), random_predicate(rng, depth + 1)
        return rng.choice([f"({left} and {right})", f"({left} or {right})", f"not ({left} or {right})"])
    column = rng.choice(["f", "s", "n", "d", "day", "id"])
    if rng.random() < 0.15:
        return f"{column} is {rng.choice(['', 'not '])}null"
    literals = [_literal(rng, column) for _ in range(3)]
    shape = rng.choice(["compare", "compare", "in", "between"])
    if shape == "in":
        return f"{column} {rng.choice(['', 'not '])}in ({', '.join(literals)})"
    if shape == "between":
        return f"{column} between {literals[0]} and {literals[1]}"
    return f"{column} {rng.choice(['=', '<>', '<', '<=', '>', '>='])} {literals[0]}"


def _literal(rng: random.Random, column: str) -> str:
    if column == "f":
        return rng.choice(["-2.5", "-0.0", "0", "1.5", "2", "1e300"])
    if column == "n":
        return rng.choice(["-1", "0", "7", "2147483647"])
    if column == "d":
        return f"date '{rng.choice(['1960-01-01', '2000-01-01', '2024-02-29'])}'"
    text = {
        "s": [each for each in TEXTS if each is not None],
        "day": ["p0", "p1", "p7", "p9"],
        "id": ["k1", "k17", "k30"],
    }
    return "'" + rng.choice(text[column]).replace("'", "''") + "'"


@pytest.mark.parametrize("table_type", TableType)
def test_s15_random_predicates_find_with_pruning_what_they_find_without(table_type: TableType):
    rng = random.Random(SEED)
    predicates, read, total = 100, 0, 0
    tables = 20 if FULL else 2
    for _ in range(tables):
        process = world_of(table_type).process()
        fill(process, rng, merge_on_read=table_type is TableType.MERGE_ON_READ)
        now_read, now_total = compare(process, [random_predicate(rng) for _ in range(predicates)])
        read, total = read + now_read, total + now_total
    assert read < total
    print(f"seed {SEED}: {tables} tables, {predicates} predicates each: {read} of {total} slices read, rows equal")
