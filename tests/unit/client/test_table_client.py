from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from pyhudi.client.create import TableDefinition, create
from pyhudi.engine.local import LocalEngine
from pyhudi.errors import InvalidRequest, PlanOutdated, SchemaMismatch, TableExists, TableNotFound, Unsupported
from pyhudi.format.instant import Action
from pyhudi.format.table_properties import TableType
from pyhudi.table.table import PROPERTIES_PATH, Table
from tests.unit.conftest import SCHEMA, SimulatedTable, trips

A1, A2 = ("a", "x", 1, 1.0), ("a", "x", 2, 2.0)
B1, C1 = ("b", "y", 1, 1.0), ("c", "x", 1, 3.0)


def expected(*rows: tuple[str, str, int, float]) -> dict[str, tuple[str, int, float]]:
    return {key: (part, ts, value) for key, part, ts, value in rows}


def test_rows_inserted_updated_and_deleted_are_read_back(table: SimulatedTable) -> None:
    assert table.read() == {}
    assert table.write("insert", trips(A1, B1)).rows_inserted == 2
    result = table.write("upsert", trips(A2, C1))
    assert (result.rows_inserted, result.rows_updated) == (1, 1)
    assert table.read() == expected(A2, B1, C1)
    assert table.write("delete", trips(B1)).rows_deleted == 1
    assert table.read() == expected(A2, C1)


def test_an_older_event_loses_and_a_later_one_of_equal_time_wins(table: SimulatedTable) -> None:
    table.write("upsert", trips(A2))
    table.write("upsert", trips(A1))
    assert table.read() == expected(A2)
    table.write("upsert", trips(("a", "x", 2, 9.0)))
    assert table.read() == expected(("a", "x", 2, 9.0))


@pytest.mark.parametrize("table_type", TableType)
def test_without_an_ordering_field_the_later_commit_wins(
    simulated: Callable[..., SimulatedTable], table_type: TableType
) -> None:
    table = simulated(table_type=table_type, ordering=())
    table.write("upsert", trips(A2))
    table.write("upsert", trips(A1))
    assert table.read() == expected(A1)


def test_one_batch_with_a_key_twice_upserts_it_once(table: SimulatedTable) -> None:
    table.write("upsert", trips(A2, A1, B1))
    assert table.read() == expected(A2, B1)


def test_deleting_keys_that_are_not_there_changes_nothing(table: SimulatedTable) -> None:
    table.write("insert", trips(A1))
    result = table.write("delete", trips(B1, C1))
    assert result.rows_deleted == 0 and result.files == ()
    assert table.read() == expected(A1)


def test_a_deleted_key_can_come_back(table: SimulatedTable) -> None:
    table.write("insert", trips(A1))
    table.write("delete", trips(A1))
    table.write("upsert", trips(A2))
    assert table.read() == expected(A2)


def test_time_travel_reads_every_earlier_state(table: SimulatedTable) -> None:
    states = []
    for rows in (trips(A1), trips(B1), trips(A2, C1)):
        table.write("upsert", rows)
        states.append(table.read())
    for time, state in zip(table.times(), states, strict=True):
        assert table.read(as_of=time) == state


def test_compaction_leaves_the_snapshot_and_brings_the_read_optimized_view_up(
    simulated: Callable[..., SimulatedTable],
) -> None:
    table = simulated(table_type=TableType.MERGE_ON_READ)
    table.write("insert", trips(A1, B1))
    table.write("upsert", trips(A2))
    table.write("delete", trips(B1))
    before = table.read()
    assert table.read_optimized() == expected(A1, B1)
    done = table.run("compaction")
    assert done.counts == {"file_groups": 2, "log_files": 2}
    assert table.read() == before == expected(A2)
    assert table.read_optimized() == before
    again = table.run("compaction")
    assert again.instant is None and "no file slice has log files" in again.reason


def test_a_plan_made_before_another_write_is_refused(simulated: Callable[..., SimulatedTable]) -> None:
    table = simulated(table_type=TableType.MERGE_ON_READ)
    table.write("insert", trips(A1))
    table.write("upsert", trips(A2))
    plan = table.client.plan("compaction", {})
    table.write("upsert", trips(("a", "x", 3, 3.0)))
    with pytest.raises(PlanOutdated, match="log"):
        table.client.apply(plan, LocalEngine(), {})
    assert table.client.table().timeline.pending() == []


def test_planning_writes_nothing(simulated: Callable[..., SimulatedTable]) -> None:
    table = simulated(table_type=TableType.MERGE_ON_READ)
    table.write("insert", trips(A1))
    table.write("upsert", trips(A2))
    before = table.storage.snapshot()
    plan = table.client.plan("compaction", {})
    assert table.storage.snapshot() == before
    assert plan.to_dict()["steps"][0]["log_files"] == 1


def test_the_metadata_table_is_compacted_every_so_many_commits(simulated: Callable[..., SimulatedTable]) -> None:
    table = simulated(settings={"hoodie.metadata.compact.max.delta.commits": 3})
    for ts in range(1, 9):
        table.write("upsert", trips(("a", "x", ts, float(ts))))
    metadata = table.client.table().metadata
    assert metadata is not None
    assert len(metadata.timeline.completed(Action.COMMIT)) >= 2
    assert table.read() == expected(("a", "x", 8, 8.0))


def test_tables_without_partitions_work_alike(simulated: Callable[..., SimulatedTable]) -> None:
    table = simulated(partitioned=False)
    table.write("insert", trips(A1, B1))
    table.write("upsert", trips(A2))
    assert table.read() == expected(A2, B1)
    assert table.client.table().partitions() == [""]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (trips(A1).drop_columns(["v"]), "v is missing"),
        (trips(A1).append_column("w", pa.array([1])), "w is not in the table"),
        (trips(A1).set_column(2, "ts", pa.array(["1"])), "ts is string, in the table int64"),
    ],
)
def test_rows_of_another_schema_are_refused_and_nothing_is_written(
    table: SimulatedTable, rows: pa.Table, problem: str
) -> None:
    before = table.storage.snapshot()
    with pytest.raises(SchemaMismatch, match=problem):
        table.write("upsert", rows)
    assert table.storage.snapshot() == before


def test_rows_without_a_key_are_refused(table: SimulatedTable) -> None:
    nameless = trips(A1).set_column(0, "id", pa.array([None], pa.string()))
    with pytest.raises(InvalidRequest, match="null or empty"):
        table.write("upsert", nameless)


def test_unknown_operations_services_and_columns_are_refused(table: SimulatedTable) -> None:
    with pytest.raises(InvalidRequest, match="no write operation 'merge'"):
        table.write("merge", trips(A1))
    with pytest.raises(Unsupported, match="clustering is not built yet"):
        table.client.plan("clustering", {})
    with pytest.raises(InvalidRequest, match="no table service"):
        table.client.plan("vacuuming", {})
    with pytest.raises(InvalidRequest, match="nowhere"):
        table.read(where="nowhere = 1")


def definition(**changes: object) -> TableDefinition:
    plain: dict[str, object] = {
        "name": "t",
        "schema": SCHEMA,
        "table_type": TableType.COPY_ON_WRITE,
        "record_key": ["id"],
    }
    return TableDefinition(**{**plain, **changes})  # type: ignore[arg-type]


def test_a_table_is_created_once(table: SimulatedTable) -> None:
    with pytest.raises(TableExists):
        create(table.storage, table.machine, definition())


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"record_key": []}, "names no column"),
        ({"record_key": ["nope"]}, "nope"),
        ({"partition_by": ["nope"]}, "nope"),
        ({"ordering": ["ts", "v"]}, "one is supported"),
        ({"schema": pa.schema([("_hoodie_commit_time", pa.string())])}, "Hudi's own"),
        ({"table_version": 6}, "table version 6"),
        ({"schema": pa.schema([("id", pa.string()), ("n", pa.list_(pa.int32()))])}, "'n'"),
    ],
)
def test_definitions_that_cannot_be_stored_are_refused_by_name(
    simulated: Callable[..., SimulatedTable], changes: dict[str, object], problem: str
) -> None:
    other = simulated()
    place = other.storage.within("elsewhere")
    with pytest.raises((InvalidRequest, Unsupported), match=problem):
        create(place, other.machine, definition(**changes))
    assert place.stat(PROPERTIES_PATH) is None


def test_the_properties_are_what_makes_the_table(simulated: Callable[..., SimulatedTable]) -> None:
    table = simulated()
    table.storage.delete(PROPERTIES_PATH)
    with pytest.raises(TableNotFound):
        Table.load(table.storage)
    create(table.storage, table.machine, definition(name="again", partition_by=["part"]))
    assert Table.load(table.storage).properties.name == "again"
