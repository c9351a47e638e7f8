"""What either side does to keep a table small is read by the other: compaction of the metadata table, archiving."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi.format.instant import Instant
from pyhudi.storage.local import open_storage
from pyhudi.table.metadata_table import METADATA_FOLDER
from pyhudi.table.table import Table
from tests.interop.campaign import FULL, KINDS, PLACES_KNOWN, Campaign
from tests.interop.judges import Judges
from tests.interop.questions import QUESTIONS
from tests.interop.rows import SIMPLE

pytestmark = pytest.mark.interop

ARCHIVES_SOON = {
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
}


def compactions(table: Campaign) -> list[Instant]:
    """Those that the metadata table has completed."""
    inner = Table.load(open_storage(str(table.path)).within(METADATA_FOLDER))
    return [one for one in inner.timeline.instants if one.completed and one.action == "commit"]


def history(table: Campaign, folder: str = ".hoodie") -> list[Path]:
    return sorted((table.path / folder / "timeline" / "history").glob("*.parquet"))


@pytest.fixture
def table(judges: Judges, kind: str, tmp_path: Path) -> Campaign:
    return Campaign(
        path=tmp_path / "t", layout=SIMPLE, kind=kind, judges=judges, settings=dict(PLACES_KNOWN), brief=True
    )


@pytest.mark.parametrize("kind", KINDS[:1])
def test_java_reads_and_goes_on_after_we_compacted_the_metadata_table(table: Campaign) -> None:
    table.created_by_us()
    for _ in range(11):
        rows = table.changed_rows(3)
        table.table.upsert(table.layout.table(rows))
        table.model.upsert(rows)
    assert compactions(table)
    table.check()
    table.ask(len(QUESTIONS) if FULL else 12)
    table.java_upsert(table.changed_rows(3))
    table.upsert(table.changed_rows(4))
    table.check_everywhere()


@pytest.mark.parametrize("kind", KINDS[1:])
def test_we_read_and_go_on_after_java_compacted_the_metadata_table(table: Campaign) -> None:
    table.settings["hoodie.metadata.compact.max.delta.commits"] = "4"
    table.created_by_us()
    table.insert(table.new_rows(12))
    for _ in range(4):
        table.java_upsert(table.changed_rows(4))
    assert compactions(table)
    table.ask(10)
    table.upsert(table.changed_rows(3))
    table.delete(table.some_rows(5))
    table.compact()
    table.check_everywhere()


@pytest.mark.parametrize("kind", KINDS[1:])
def test_we_carry_out_a_compaction_that_java_scheduled(table: Campaign) -> None:
    table.created_by_us()
    table.insert(table.new_rows(12))
    table.upsert(table.changed_rows(3, new=0))
    before = dict(table.model.rows)
    options = "hoodie.compact.inline.max.delta.commits=1"
    table.judges.java.sql(f"call run_compaction(op => 'schedule', path => '{table.path}', options => '{options}')")
    table.upsert(table.changed_rows(4, new=0))
    table.delete(table.some_rows(5))
    table.java_upsert(table.changed_rows(3, new=0))
    assert table.table.run("compaction").counts["file_groups"] > 0
    table.model.base = before
    table.check_everywhere()
    table.compact()
    table.java_upsert(table.changed_rows(3))


@pytest.mark.parametrize("kind", KINDS if FULL else KINDS[1:])
def test_we_read_the_history_that_java_archived(table: Campaign) -> None:
    table.settings |= ARCHIVES_SOON | {"hoodie.metadata.compact.max.delta.commits": "3"}
    table.created_by_us()
    table.insert(table.new_rows(12))
    for _ in range(2):
        table.upsert(table.changed_rows(3))
        table.java_upsert(table.changed_rows(4))
        table.java_delete(table.some_rows(9))
        if table.model.merge_on_read:
            table.java_compact()
    assert history(table), "Java archived nothing"
    assert history(table, ".hoodie/metadata/.hoodie"), "Java archived nothing of the metadata table"
    table.travel()
    table.upsert(table.changed_rows(3))
    if table.model.merge_on_read:
        table.compact()
    table.java_upsert(table.changed_rows(3))
    table.check_everywhere()
