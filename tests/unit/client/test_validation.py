"""Each rule of validation finds a fault that is planted for it, and none of them cries wolf."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pyhudi.client.table_client import TableClient
from pyhudi.client.validation import Finding
from pyhudi.clock import Machine
from pyhudi.engine.local import LocalEngine
from pyhudi.file_group.metadata_tasks import metadata_hfile
from pyhudi.format.file_names import parse_log_file
from pyhudi.format.log_file import BlockKind, Header, read_blocks, write_block
from pyhudi.format.metadata import CommitMetadata, CompactionOperation, CompactionPlan, RollbackPlan
from pyhudi.format.metadata_records import (
    ALL_PARTITIONS_KEY,
    FileList,
    FileState,
    MetadataRecord,
    RecordType,
    metadata_schema_text,
)
from pyhudi.format.properties import parse_properties, print_properties
from pyhudi.format.table_properties import TableType
from pyhudi.table.metadata_table import METADATA_FOLDER, log_records
from pyhudi.table.table import PROPERTIES_PATH
from pyhudi.testing.machine import Crash
from pyhudi.testing.storage import Fault, FaultPlan, FaultyStorage, Mode
from tests.unit.conftest import SimulatedTable, trips

A1, B1, C1 = ("a", "x", 1, 1.0), ("b", "x", 1, 1.0), ("c", "y", 1, 1.0)
A2, B2 = ("a", "x", 2, 2.0), ("b", "x", 2, 2.0)
LATER = "20991231000000000"
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
FILE_ID = "11111111-1111-1111-1111-111111111111-0"


@pytest.fixture(scope="module")
def written() -> Callable[[TableType], SimulatedTable]:
    """A table of two partitions and two file groups, the first of them updated once; as new for every caller."""
    tables = {kind: filled(SimulatedTable(table_type=kind)) for kind in TableType}
    states = {kind: table.storage.snapshot() for kind, table in tables.items()}

    def fresh(kind: TableType) -> SimulatedTable:
        tables[kind].storage.restore(states[kind])
        return tables[kind]

    return fresh


@pytest.fixture
def cow(written: Callable[[TableType], SimulatedTable]) -> SimulatedTable:
    """The update has rewritten a base file."""
    return written(TableType.COPY_ON_WRITE)


@pytest.fixture
def mor(written: Callable[[TableType], SimulatedTable]) -> SimulatedTable:
    """The update is in a log file."""
    return written(TableType.MERGE_ON_READ)


@pytest.fixture
def compacted(mor: SimulatedTable) -> SimulatedTable:
    mor.run("compaction")
    return mor


def filled(table: SimulatedTable) -> SimulatedTable:
    table.write("upsert", trips(A1, B1, C1))
    table.write("upsert", trips(A2))
    return table


def faults(table: SimulatedTable, *, deep: bool = False) -> list[Finding]:
    return table.client.validate(deep=deep)


def errors(table: SimulatedTable, *, deep: bool = False) -> set[str]:
    return {each.rule for each in faults(table, deep=deep) if each.severity == "error"}


def warnings(table: SimulatedTable) -> list[tuple[str, str]]:
    assert not errors(table)
    return [(each.rule, each.where) for each in faults(table)]


def live(table: SimulatedTable, ending: str, partition: str = "x/") -> str:
    """Path of the newest file of that kind in a partition."""
    names = [path for path in table.storage.contents() if path.startswith(partition) and ending in path]
    return max(names, key=lambda path: path.rpartition("_")[2] if ending == ".parquet" else path)


def last_commit(table: SimulatedTable) -> str:
    timeline = table.client.table().timeline
    return timeline.path(timeline.completed_writes()[-1])


def change_commit(table: SimulatedTable, change: Callable[[CommitMetadata], CommitMetadata]) -> None:
    path = last_commit(table)
    table.storage.replace(path, change(CommitMetadata.from_bytes(table.storage.read(path), path)).to_bytes())


def change_rows(table: SimulatedTable, path: str, change: Callable[[pa.Table], pa.Table]) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(change(pq.read_table(pa.BufferReader(table.storage.read(path)))), sink)
    table.storage.replace(path, sink.getvalue().to_pybytes())


def change_properties(table: SimulatedTable, path: str = PROPERTIES_PATH, **changes: str) -> None:
    raw = parse_properties(table.storage.read(path), path)
    named = {key.replace("__", "."): value for key, value in changes.items()}
    table.storage.replace(path, print_properties(raw | named, "changed"))


def set_column(name: str, value: str) -> Callable[[pa.Table], pa.Table]:
    def change(rows: pa.Table) -> pa.Table:
        return rows.set_column(rows.schema.names.index(name), name, pa.array([value] * len(rows), pa.string()))

    return change


def change_listing(table: SimulatedTable, change: Callable[[dict[str, MetadataRecord]], None]) -> None:
    """Rewrite what the last commit told the `files` partition of the metadata table."""
    path = live(table, ".log.", f"{METADATA_FOLDER}/files/.files")
    name = parse_log_file(path.rpartition("/")[2])
    assert name is not None
    records = {key: record for key, record in log_records(table.storage.read(path), path) if record is not None}
    change(records)
    headers = {Header.INSTANT_TIME: str(name.instant), Header.SCHEMA: metadata_schema_text()}
    content = metadata_hfile(records, created_ms=0, bloom=False)
    table.storage.replace(path, write_block(BlockKind.HFILE_DATA, headers, content))


def changed_entry(key: str, change: Callable[[FileState], FileState]) -> Callable[[dict[str, MetadataRecord]], None]:
    def apply(records: dict[str, MetadataRecord]) -> None:
        listed = records[key]
        assert isinstance(listed, FileList)
        records[key] = dataclasses.replace(listed, entries={n: change(state) for n, state in listed.entries.items()})

    return apply


def timeline_file(table: SimulatedTable, name: str, content: bytes = b"") -> str:
    path = f".hoodie/timeline/{name}"
    table.storage.create(path, content)
    return path


# ------------------------------------------------------------------ sound tables


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("kind", list(TableType))
def test_a_table_is_sound_after_every_step(kind: TableType, partitioned: bool) -> None:
    table = SimulatedTable(table_type=kind, partitioned=partitioned)
    assert faults(table) == []
    for number in range(12):
        table.write("upsert", trips(("a", "x", number, 1.0), (f"n{number}", "y", 1, 1.0)))
        assert number % 5 or faults(table, deep=True) == []
    table.write("delete", trips(A1))
    assert faults(table) == faults(table, deep=True) == []
    if kind is TableType.MERGE_ON_READ:
        table.run("compaction")
        assert faults(table) == faults(table, deep=True) == []


@pytest.mark.parametrize("mode", [Mode.BEFORE, Mode.TORN, Mode.AFTER])
def test_a_writer_that_died_leaves_warnings_and_the_next_write_nothing(mor: SimulatedTable, mode: Mode) -> None:
    before = mor.storage.snapshot()
    mor.storage.forget_calls()
    mor.write("upsert", trips(B2))
    calls = [number for number, call in enumerate(mor.storage.trace) if call.mutating]
    for number in calls[:: max(1, len(calls) // 5)]:
        mor.storage.restore(before)
        ids = mor.ids.other_process()
        dying = TableClient(
            FaultyStorage(mor.storage, FaultPlan(Fault(number, mode))), Machine(clock=mor.clock, ids=ids), {}
        )
        with pytest.raises(Crash):
            dying.write("upsert", trips(B2), LocalEngine(), {})
        mor.ids.kill(ids.owner())
        assert {each.severity for each in faults(mor)} <= {"warning"}
        mor.write("upsert", trips(("d", "y", 1, 1.0)))
        assert faults(mor) == []


def test_an_unfinished_write_is_a_warning(cow: SimulatedTable) -> None:
    timeline_file(cow, f"{LATER}.commit.requested")
    assert ("R3", f"{LATER}.commit") in warnings(cow)


def test_files_of_a_write_that_began_meanwhile_are_left_alone(cow: SimulatedTable) -> None:
    cow.storage.create(f"x/{FILE_ID}_0-0-0_{LATER}.parquet", b"being written")
    assert faults(cow) == []


# ------------------------------------------------------------------ R1: needed files


def test_r1_a_missing_file(cow: SimulatedTable) -> None:
    path = live(cow, ".parquet")
    cow.storage.delete(path)
    assert ("R1", path) in {(each.rule, each.where) for each in faults(cow)}


def test_r1_a_missing_file_that_only_time_travel_needs(cow: SimulatedTable) -> None:
    older = min(path for path in cow.storage.contents() if path.startswith("x/") and cow.times()[0] in path)
    cow.storage.delete(older)
    assert "R1" in errors(cow)


def test_r1_a_file_cut_short(cow: SimulatedTable, mor: SimulatedTable) -> None:
    for table, ending in ((cow, ".parquet"), (mor, ".log.")):
        path = live(table, ending)
        table.storage.replace(path, table.storage.read(path)[:-1])
        assert "R1" in errors(table)


def test_r1_a_file_that_does_not_open(cow: SimulatedTable) -> None:
    path = live(cow, ".parquet")
    cow.storage.replace(path, b"\0" * len(cow.storage.read(path)))
    assert ("R1", path) in {(each.rule, each.where) for each in faults(cow) if "Parquet" in each.what}


def test_r1_a_file_with_fewer_rows_than_were_written(cow: SimulatedTable) -> None:
    change_rows(cow, live(cow, ".parquet"), lambda rows: rows.slice(1))
    assert any(each.rule == "R1" and "rows" in each.what for each in faults(cow))


# ------------------------------------------------------------------ R2: owners


def test_r2_a_file_of_no_instant_is_a_warning_until_the_timeline_has_passed_it(cow: SimulatedTable) -> None:
    first, second = cow.times()
    assert first < f"{first[:-1]}9" < second
    path = f"x/{FILE_ID}_0-0-0_{first[:-1]}9.parquet"
    cow.storage.create(path, b"left by a failed write")
    assert warnings(cow) == [("R2", path)]
    for name in [name for name in cow.storage.contents() if f"/timeline/{first}" in name]:
        cow.storage.delete(name)
    assert ("R2", path) in {(each.rule, each.where) for each in faults(cow) if each.severity == "error"}


def test_r2_a_file_that_a_dead_task_wrote_into_a_completed_commit(mor: SimulatedTable) -> None:
    path = live(mor, ".log.").replace(".log.1_", ".log.1_9")
    mor.storage.create(path, mor.storage.read(live(mor, ".log.")))
    assert "R2" in errors(mor)


def test_r2_files_of_an_instant_that_is_being_undone_have_an_owner(cow: SimulatedTable) -> None:
    time = cow.times()[0][:-1] + "9"
    cow.storage.create(f"x/{FILE_ID}_0-0-0_{time}.parquet", b"half")
    plan = RollbackPlan(instant=time, action="commit", requests=())
    timeline_file(cow, f"{LATER}.rollback.requested", plan.to_bytes())
    assert {rule for rule, _ in warnings(cow)} == {"R3"}


# ------------------------------------------------------------------ R3: the timeline


@pytest.mark.parametrize(
    ("names", "severity", "told"),
    [
        ([f"20240101000000000.commit.{UUID}"], "error", "temporary"),
        (["notes.txt"], "warning", "no instant"),
        (["20240101000000000.clean.requested", "20240101000000000.clean.inflight",
          "20240101000000000_20230101000000000.clean"], "error", "before it was requested"),
        (["20240101000000000.clean.requested", "20240101000000000_20240101000000001.clean"], "error", "inflight"),
        (["20240101000000000.clean.inflight", "20240101000000000_20240101000000001.clean"], "error", "requested file"),
        (["20240101000000000.clean.requested", "20240101000000000.clean.inflight",
          "20240101000000000_20240101000000001.clean", "20240101000000000_20240101000000002.clean"],
         "error", "more than once"),
        (["20240101000000000.clean.requested", "20240101000000000.clean.inflight", "20240101000000000.clean"],
         "error", "no completion time"),
        (["20240101000000000.commit.requested", "20240101000000000.deltacommit.requested"], "error", "two writes"),
        (["20241301000000000.clean.requested"], "error", "no time"),
        ([f"{LATER}.clean.requested"], "warning", "future"),
    ],
)  # fmt: skip
def test_r3_a_timeline_that_contradicts_itself(cow: SimulatedTable, names: list[str], severity: str, told: str) -> None:
    for name in names:
        timeline_file(cow, name)
    found = [each for each in faults(cow) if each.rule == "R3" and told in each.what]
    assert [each.severity for each in found] == [severity]


def test_r3_holds_for_the_metadata_table(cow: SimulatedTable) -> None:
    cow.storage.create(f"{METADATA_FOLDER}/.hoodie/timeline/20240101000000000.deltacommit.{UUID}", b"")
    assert "R3" in errors(cow)


# ------------------------------------------------------------------ R5: one file each


def test_r5_two_base_files_of_one_group_and_instant(cow: SimulatedTable) -> None:
    path = live(cow, ".parquet")
    twin = path.replace("_0-", "_9-")
    assert twin != path
    cow.storage.create(twin, cow.storage.read(path))

    def twice(commit: CommitMetadata) -> CommitMetadata:
        twins = [dataclasses.replace(stat, path=twin) for stat in commit.stats if stat.path == path]
        return commit.with_stats((*commit.stats, *twins))

    change_commit(cow, twice)
    assert "R5" in errors(cow)


# ------------------------------------------------------------------ R6: unique keys


def test_r6_a_key_twice_in_a_base_file(cow: SimulatedTable) -> None:
    change_rows(cow, live(cow, ".parquet"), lambda rows: pa.concat_tables([rows, rows.slice(0, 1)]))
    assert "R6" in errors(cow)


def test_r6_a_key_in_two_slices_of_a_partition() -> None:
    table = SimulatedTable()
    table.write("insert", trips(A1))
    table.write("insert", trips(A2))
    assert warnings(table) == [("R6", "x")], "inserted twice, perhaps on purpose"


# ------------------------------------------------------------------ R7: meta columns


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("_hoodie_commit_time", "20200101000000000"),
        ("_hoodie_partition_path", "elsewhere"),
        ("_hoodie_file_name", "another-file"),
        ("_hoodie_record_key", "not-the-key"),
        ("_hoodie_commit_seqno", "1_1_1"),
    ],
)
def test_r7_a_meta_column_that_lies(cow: SimulatedTable, column: str, value: str) -> None:
    change_rows(cow, live(cow, ".parquet"), set_column(column, value))
    assert "R7" in errors(cow)


def test_r7_rows_of_an_older_slice_are_checked_when_going_deep(cow: SimulatedTable) -> None:
    older = min(path for path in cow.storage.contents() if path.startswith("x/") and cow.times()[0] in path)
    size = len(cow.storage.read(older))
    change_rows(cow, older, set_column("_hoodie_partition_path", "elsewhere"))
    assert size and "R7" not in errors(cow)
    assert "R7" in errors(cow, deep=True)


# ------------------------------------------------------------------ R8: the metadata table


def test_r8_a_wrong_size(cow: SimulatedTable) -> None:
    change_listing(cow, changed_entry("x", lambda state: dataclasses.replace(state, size=state.size + 1)))
    assert errors(cow) >= {"R8"}


def test_r8_a_file_that_is_not_listed(cow: SimulatedTable) -> None:
    change_listing(cow, changed_entry("x", lambda state: dataclasses.replace(state, deleted=True)))
    assert errors(cow) >= {"R8"}


def test_r8_a_file_that_is_gone(cow: SimulatedTable) -> None:
    path = live(cow, ".parquet", "y/")
    cow.storage.delete(path)
    assert ("R8", path) in {(each.rule, each.where) for each in faults(cow)}


def test_r8_a_partition_that_is_not_there(cow: SimulatedTable) -> None:
    def invent(records: dict[str, MetadataRecord]) -> None:
        entry = {"z": FileState(size=0, deleted=False)}
        records[ALL_PARTITIONS_KEY] = FileList(kind=RecordType.PARTITION_LIST, entries=entry)
        files = {f"{FILE_ID}_0-0-0_{cow.times()[0]}.parquet": FileState(size=9, deleted=False)}
        records["z"] = FileList(kind=RecordType.FILES, entries=files)

    change_listing(cow, invent)
    assert ("R8", "z") in {(each.rule, each.where) for each in faults(cow)}


def test_r8_a_partition_that_is_not_listed(cow: SimulatedTable) -> None:
    def forget(records: dict[str, MetadataRecord]) -> None:
        entry = {"y": FileState(size=0, deleted=True)}
        records[ALL_PARTITIONS_KEY] = FileList(kind=RecordType.PARTITION_LIST, entries=entry)

    change_listing(cow, forget)
    assert ("R8", "y") in {(each.rule, each.where) for each in faults(cow)}


def test_r8_a_commit_that_only_the_metadata_table_has(cow: SimulatedTable) -> None:
    time = cow.times()[0][:-1] + "9"
    for name in (f"{time}.deltacommit.requested", f"{time}.deltacommit.inflight", f"{time}_{time}.deltacommit"):
        cow.storage.create(f"{METADATA_FOLDER}/.hoodie/timeline/{name}", b"")
    assert errors(cow) == {"R8"}


# ------------------------------------------------------------------ R11: properties


def test_r11_a_checksum_that_does_not_fit(cow: SimulatedTable) -> None:
    change_properties(cow, hoodie__table__checksum="1")
    (finding,) = faults(cow)
    assert (finding.rule, finding.severity, finding.where) == ("R11", "error", PROPERTIES_PATH)


def test_r11_half_of_a_rewrite(cow: SimulatedTable) -> None:
    for name in ("hoodie.properties.backup", "hoodie.properties.updated"):
        cow.storage.create(f".hoodie/{name}", cow.storage.read(PROPERTIES_PATH))
        assert ("R11", f".hoodie/{name}") in warnings(cow)


def test_r11_a_key_that_is_no_column(cow: SimulatedTable) -> None:
    change_properties(cow, hoodie__table__recordkey__fields="nowhere")
    assert "R11" in errors(cow)


def test_r11_a_metadata_table_of_another_version(cow: SimulatedTable) -> None:
    change_properties(cow, f"{METADATA_FOLDER}/{PROPERTIES_PATH}", hoodie__table__version="8")
    assert "R11" in errors(cow)


def test_r11_a_key_generator_that_can_only_be_guessed(cow: SimulatedTable) -> None:
    raw = parse_properties(cow.storage.read(PROPERTIES_PATH), PROPERTIES_PATH)
    del raw["hoodie.table.keygenerator.type"], raw["hoodie.table.checksum"]
    cow.storage.replace(PROPERTIES_PATH, print_properties(raw, "changed"))
    assert warnings(cow) == [("R11", PROPERTIES_PATH)] * 2


# ------------------------------------------------------------------ R12: log files


def test_r12_a_damaged_block(mor: SimulatedTable) -> None:
    path = live(mor, ".log.")
    content = bytearray(mor.storage.read(path))
    content[10] ^= 1
    mor.storage.replace(path, bytes(content))
    assert "R12" in errors(mor)


def test_r12_a_block_of_another_instant_and_one_of_another_time(mor: SimulatedTable) -> None:
    path = live(mor, ".log.")
    (block,) = read_blocks(mor.storage.read(path), path)
    for kind, headers in (
        (block.kind, {**block.headers, Header.INSTANT_TIME: "20200101000000000"}),
        (BlockKind.COMMAND, dict(block.headers)),
    ):
        mor.storage.replace(path, write_block(kind, headers, bytes(block.content)))
        assert "R12" in errors(mor)


def test_r12_holds_for_the_metadata_table(cow: SimulatedTable) -> None:
    path = live(cow, ".log.", f"{METADATA_FOLDER}/column_stats/.col")
    cow.storage.replace(path, cow.storage.read(path)[:-3])
    assert "R12" in errors(cow)


def test_r12_log_files_of_older_slices_are_checked_when_going_deep(compacted: SimulatedTable) -> None:
    path = live(compacted, ".log.")
    content = bytearray(compacted.storage.read(path))
    content[10] ^= 1
    compacted.storage.replace(path, bytes(content))
    assert errors(compacted, deep=True) >= {"R12"}


# ------------------------------------------------------------------ R13: folding


def test_r13_a_compaction_that_lost_a_row(compacted: SimulatedTable) -> None:
    change_rows(compacted, live(compacted, ".parquet"), lambda rows: rows.slice(1))
    assert any(each.rule == "R13" and "rows" in each.what for each in faults(compacted))


def test_r13_a_compaction_that_kept_the_old_row(compacted: SimulatedTable) -> None:
    first = compacted.times()[0]
    change_rows(compacted, live(compacted, ".parquet"), set_column("_hoodie_commit_time", first))
    assert "R13" in errors(compacted)


def test_r13_a_compaction_that_changed_a_value(compacted: SimulatedTable) -> None:
    def other(rows: pa.Table) -> pa.Table:
        return rows.set_column(rows.schema.names.index("v"), "v", pc.add(rows.column("v"), 1.0))

    change_rows(compacted, live(compacted, ".parquet"), other)
    assert "R13" not in errors(compacted)
    assert "R13" in errors(compacted, deep=True)


def test_r13_a_base_file_newer_than_itself(mor: SimulatedTable) -> None:
    change_rows(mor, live(mor, ".parquet"), set_column("_hoodie_commit_time", mor.times()[-1]))
    assert "R13" in errors(mor)


# ------------------------------------------------------------------ R18: paths


@pytest.mark.parametrize(
    "path", ["../x/stray.parquet", "/etc/stray.parquet", ".hoodie/stray.parquet", "y/stray.parquet"]
)
def test_r18_a_commit_that_names_files_elsewhere(cow: SimulatedTable, path: str) -> None:
    def astray(commit: CommitMetadata) -> CommitMetadata:
        return commit.with_stats((*commit.stats, dataclasses.replace(commit.stats[0], path=path)))

    change_commit(cow, astray)
    assert "R18" in errors(cow)


def test_r18_a_commit_that_replaces_files_elsewhere(cow: SimulatedTable) -> None:
    change_commit(cow, lambda commit: dataclasses.replace(commit, replaced={"../x": ("id",)}))
    assert "R18" in errors(cow)


def test_r18_a_pending_plan_that_reaches_outside(mor: SimulatedTable) -> None:
    operation = CompactionOperation(
        partition_path="..", file_id="id", base_instant="1", data_file="a.parquet", log_files=()
    )
    plan = CompactionPlan(operations=(operation,))
    timeline_file(mor, f"{LATER}.compaction.requested", plan.to_bytes())
    assert "R18" in errors(mor)


def test_r18_partition_metadata_that_is_missing_or_tells_the_wrong_depth(cow: SimulatedTable) -> None:
    path = "x/.hoodie_partition_metadata"
    cow.storage.replace(path, b"commitTime=1\npartitionDepth=3\n")
    assert errors(cow) == {"R18"}
    cow.storage.delete(path)
    assert errors(cow) == {"R18"}


def test_r18_a_partition_that_its_values_would_not_make(cow: SimulatedTable) -> None:
    change_properties(cow, hoodie__datasource__write__partitionpath__urlencode="true")
    cow.storage.create("x=1/.hoodie_partition_metadata", b"commitTime=1\npartitionDepth=1\n")
    assert errors(cow) == {"R18"}


# ------------------------------------------------------------------ what cannot be read


def test_a_commit_that_cannot_be_read_is_told_once_and_does_not_end_the_validation(cow: SimulatedTable) -> None:
    path = last_commit(cow)
    cow.storage.replace(path, b"Obj\x01garbage")
    timeline_file(cow, f"20240101000000000.commit.{UUID}")
    found = faults(cow)
    assert sum(path in each.what for each in found) == 1
    assert any("temporary" in each.what for each in found)
