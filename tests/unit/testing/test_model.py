"""The oracle against cases worked out by hand."""

import pytest

from pyhudi.testing.model import Model


def row(id, ts, v):
    return {"id": id, "ts": ts, "v": v}


def values(rows):
    return {each["id"]: each["v"] for each in rows}


@pytest.mark.parametrize("merge_on_read", [False, True])
@pytest.mark.parametrize(("ordering", "left"), [("ts", 1), (None, 2)])
def test_a_late_row_loses_by_event_time_and_wins_by_commit_time(merge_on_read, ordering, left):
    model = Model(key=["id"], ordering=ordering, merge_on_read=merge_on_read)
    model.write("insert", [row("a", 5, 1)]).write("upsert", [row("a", 4, 2)])
    assert values(model.snapshot()) == {"a": left}
    assert values(model.write("upsert", [row("a", 5, 3)]).snapshot()) == {"a": 3}


@pytest.mark.parametrize("merge_on_read", [False, True])
def test_a_delete_wins_and_yields_to_the_next_row(merge_on_read):
    model = Model(key=["id"], ordering="ts", merge_on_read=merge_on_read)
    model.write("insert", [row("a", 5, 1)]).write("delete", [row("a", 0, 0)])
    assert model.snapshot() == []
    assert values(model.write("upsert", [row("a", 5, 2)]).snapshot()) == {"a": 2}


def test_only_compaction_moves_what_is_read_optimized():
    model = Model(key=["id"], merge_on_read=True).write("insert", [row("a", 1, 1)]).write("upsert", [row("a", 1, 2)])
    assert values(model.read_optimized()) == {"a": 1}
    assert values(model.compact().read_optimized()) == {"a": 2}


def test_a_planned_compaction_leaves_later_changes_aside():
    model = Model(key=["id"], merge_on_read=True).write("insert", [row("a", 1, 1)]).write("delete", [row("a", 0, 0)])
    model.plan_compaction().write("upsert", [row("a", 1, 2), row("b", 1, 3)]).compact()
    assert values(model.read_optimized()) == {"b": 3}
    assert values(model.snapshot()) == {"a": 2, "b": 3}


def test_a_copy_goes_its_own_way():
    model = Model(key=["id"]).write("insert", [row("a", 1, 1)])
    model.copy().write("delete", [row("a", 0, 0)])
    assert values(model.snapshot()) == {"a": 1}
