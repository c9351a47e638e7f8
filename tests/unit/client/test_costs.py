"""Storage calls are counted and bounded: they may not grow with the number of partitions."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from pyhudi.format.table_properties import TableType
from tests.unit.conftest import SCHEMA, SimulatedTable

BOUNDS = {"open": 2, "read": 20, "upsert": 75}
ROWS = 300


def rows(partitions: int, ts: int, only: int | None = None) -> pa.Table:
    numbers = [i for i in range(ROWS) if only is None or i % partitions == only]
    columns = [
        [f"k{i}" for i in numbers],
        [f"p{i % partitions}" for i in numbers],
        [ts] * len(numbers),
        [float(i) for i in numbers],
    ]
    return pa.table(columns, schema=SCHEMA)


def calls(table_type: TableType, partitions: int) -> dict[str, int]:
    table = SimulatedTable(table_type=table_type)
    table.write("insert", rows(partitions, 1))
    counted: dict[str, int] = {}

    def count(what: str, act: Callable[[], object]) -> None:
        table.storage.forget_calls()
        act()
        counted[what] = sum(table.storage.calls.values())

    count("open", table.client.table)
    count("read", lambda: table.read(where="part = 'p1'"))
    count("upsert", lambda: table.write("upsert", rows(partitions, 2, only=1)))
    return counted


@pytest.mark.parametrize("table_type", TableType)
def test_calls_are_bounded_and_do_not_grow_with_the_number_of_partitions(table_type: TableType) -> None:
    few, many = calls(table_type, 3), calls(table_type, 300)
    print(f"storage calls, {table_type}: 3 partitions {few}, 300 partitions {many}")
    assert few == many
    assert all(few[what] <= bound for what, bound in BOUNDS.items())


@pytest.mark.parametrize("table_type", TableType)
def test_calls_stay_bounded_over_many_commits(table_type: TableType) -> None:
    table = SimulatedTable(table_type=table_type)
    table.write("insert", rows(3, 1))
    counted = []
    for ts in range(2, 34):
        table.storage.forget_calls()
        table.write("upsert", rows(3, ts, only=1))
        counted.append(sum(table.storage.calls.values()))
        if table_type is TableType.MERGE_ON_READ and ts % 8 == 0:
            table.run("compaction")
    print(f"storage calls of each commit, {table_type}: {counted}")
    assert max(counted[16:]) <= max(counted[:16]) + 12


def test_a_pruned_read_opens_the_files_of_its_partition_only() -> None:
    table = SimulatedTable()
    table.write("insert", rows(300, 1))
    table.storage.forget_calls()
    found = table.read(where="part = 'p7'")
    opened = {path for path in table.storage.opened if path.endswith(".parquet")}
    assert found == {"k7": ("p7", 1, 7.0)}
    assert len(opened) == 1 and opened.pop().startswith("p7/")
