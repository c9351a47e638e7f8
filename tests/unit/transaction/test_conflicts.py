from __future__ import annotations

from collections.abc import Callable

import pytest

from pyhudi.engine.local import LocalEngine
from pyhudi.errors import Conflict
from pyhudi.format.instant import Action, Instant, RequestedTime, State
from pyhudi.format.metadata import CommitMetadata, WriteStat
from pyhudi.format.table_properties import TableType
from pyhudi.transaction.conflicts import conflict_between
from tests.unit.conftest import SimulatedTable, trips


def commit(file_id: str, *, compacted: bool = False) -> CommitMetadata:
    stat = WriteStat(file_id=file_id, path=f"p/{file_id}", partition_path="p", previous_commit="null")
    return CommitMetadata(operation="X", stats=(stat,), compacted=compacted)


def instant(action: Action) -> Instant:
    return Instant(requested_time=RequestedTime("1"), action=action, state=State.COMPLETED)


@pytest.mark.parametrize("action", [Action.COMMIT, Action.DELTA_COMMIT])
def test_two_writes_of_one_file_group_conflict(action: Action) -> None:
    reason = conflict_between(commit("f"), instant(action), commit("f"), instant(action))
    assert reason is not None and "file group f of partition 'p'" in reason
    assert conflict_between(commit("f"), instant(action), commit("g"), instant(action)) is None


def test_a_delta_commit_and_a_compaction_stand_beside_each_other() -> None:
    delta, compaction = instant(Action.DELTA_COMMIT), instant(Action.COMPACTION)
    assert conflict_between(commit("f"), delta, commit("f", compacted=True), instant(Action.COMMIT)) is None
    assert conflict_between(commit("f", compacted=True), compaction, commit("f"), delta) is None


def test_a_file_group_that_was_replaced_meanwhile_conflicts() -> None:
    replaced = CommitMetadata(operation="CLUSTER", replaced={"p": ("f",)})
    reason = conflict_between(commit("f"), instant(Action.COMMIT), replaced, instant(Action.REPLACE_COMMIT))
    assert reason is not None and "replaced" in reason


@pytest.mark.parametrize("table_type", TableType)
def test_the_later_of_two_overlapping_writes_is_undone_and_says_why(
    simulated: Callable[..., SimulatedTable], table_type: TableType
) -> None:
    table = simulated(table_type=table_type)
    table.write("insert", trips(("a", "x", 1, 1.0), ("b", "y", 1, 1.0)))

    class Overtaken(LocalEngine):
        """Another writer commits while this one writes its files."""

        def shuffle(self, located, targets, write):  # type: ignore[no-untyped-def]
            table.write("upsert", trips(("a", "x", 3, 3.0)))
            return super().shuffle(located, targets, write)

    with pytest.raises(Conflict, match="meanwhile"):
        table.client.write("upsert", trips(("a", "x", 2, 2.0)), Overtaken(), {})
    assert table.read() == {"a": ("x", 3, 3.0), "b": ("y", 1, 1.0)}
    assert table.client.table().timeline.pending() == []
    assert not [path for path in table.storage.contents() if ".temp/" in path or ".heartbeat/" in path]
    table.client.write("upsert", trips(("b", "y", 2, 2.0)), LocalEngine(), {})
    assert table.read()["b"] == ("y", 2, 2.0)
