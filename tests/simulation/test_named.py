"""Published bugs as tests by name: S10, S39, S40 (numbers of the reliability notes)."""

import itertools

import pytest

from pyhudi.client.recovery import recover
from pyhudi.format.table_properties import TableType
from pyhudi.reads import Query, QueryType
from pyhudi.table.table import Table
from pyhudi.transaction.writer import Writer
from tests.simulation.scenes import COMPACT, KINDS, STEPS, Kind, Story, row, write

pytestmark = pytest.mark.simulate


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_s10_a_commit_whose_heartbeat_went_after_it_is_not_taken_for_a_failed_write(kind: Kind):
    story = Story.of(kind).start()
    readings, ended = [], []

    def look(call):
        if call.verb == "delete" and call.path.startswith(".hoodie/.heartbeat/"):
            ended.append(call)
        elif not readings:
            table = Table.load(story.world.disk)
            readings.extend([table] if table.timeline.pending() else [])

    process = story.world.process()
    process.plan.before_call = look
    story.take(STEPS["upsert"], process)
    assert ended
    story.world.clock.sleep_ms(3_600_000)

    other = story.world.process().client
    _, undone = recover(readings[0], Writer(other.storage, other.machine, other.settings))
    assert not undone
    story.age()
    story.check()


# ---------------------------------------------------------------- S39: every order of changes

CHANGES = ("lower", "equal", "higher", "zero", "null", "delete")
ORDERING = {"lower": 3, "equal": 5, "higher": 8, "zero": 0, "null": None}
SEQUENCES = list(itertools.product(CHANGES, repeat=2))


def rounds() -> list[list]:
    """Two rounds of changes; the key tells which ones happen to it."""
    steps = []
    for at in range(2):
        upserts = [row(_key(each), ORDERING[each[at]], 10 + at) for each in SEQUENCES if each[at] != "delete"]
        deletes = [row(_key(each), 0, 0) for each in SEQUENCES if each[at] == "delete"]
        steps.append([write("upsert", *upserts), write("delete", *deletes)])
    return steps


def _key(changes) -> str:
    return "-".join(changes)


@pytest.mark.parametrize("compacted_after", [(), (0,), (1,), (0, 1)], ids=str)
@pytest.mark.parametrize("table_type", TableType)
@pytest.mark.parametrize("by_event_time", [True, False], ids=["event", "commit"])
def test_s39_every_order_of_changes_gives_the_models_rows_in_logs_and_in_base_files(
    table_type, by_event_time, compacted_after
):
    story = Story.of(Kind(table_type, partitioned=True, by_event_time=by_event_time))
    story.take(STEPS["create"])
    story.take(write("insert", *[row(_key(each), 5, 1) for each in SEQUENCES]))
    for at, changes in enumerate(rounds()):
        for change in changes:
            story.take(change)
        if at in compacted_after and story.kind.merge_on_read:
            story.take(COMPACT)
    story.check()
    if story.kind.merge_on_read:
        story.take(COMPACT)
        story.check()
        assert story.world.process().read(Query(kind=QueryType.READ_OPTIMIZED)) == story.model.snapshot()


@pytest.mark.parametrize("compacted_after", [(), (0,), (1,), (0, 1)], ids=str)
@pytest.mark.parametrize("ordering", [0, -7, None, 5, 9], ids=str)
@pytest.mark.parametrize("table_type", TableType)
def test_s40_a_row_inserted_again_after_its_delete_is_there_whatever_its_ordering_value(
    table_type, ordering, compacted_after
):
    story = Story.of(Kind(table_type, partitioned=False, by_event_time=True))
    story.take(STEPS["create"])
    story.take(write("insert", row("k", ordering, 1), row("other", 1, 1)))
    for at, change in enumerate((write("delete", row("k", 0, 0)), write("upsert", row("k", ordering, 2)))):
        story.take(change)
        if at in compacted_after and story.kind.merge_on_read:
            story.take(COMPACT)
    assert [each for each in story.world.process().read() if each["id"] == "k"] == [row("k", ordering, 2)]
    story.check()
