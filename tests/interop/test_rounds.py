"""pyhudi and Java Hudi 1.2.0 write one table in turn; after every step all who read it find the same rows."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.interop.campaign import FULL, KINDS, PLACES_KNOWN, Campaign
from tests.interop.judges import Judges
from tests.interop.oracle import JavaHudi
from tests.interop.questions import QUESTIONS
from tests.interop.rows import COMPLEX, LAYOUTS, PLAIN, SIMPLE, Layout

pytestmark = pytest.mark.interop

ROUNDS = 6 if FULL else 1


@pytest.fixture
def seoul() -> Iterator[None]:
    """This process in another zone, as the JVM beside it."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Seoul"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def play(table: Campaign, rounds: int) -> None:
    """The rounds: pyhudi, Java, pyhudi; compaction and cleaning by either where there is something to do."""
    for number in range(1, rounds + 1):
        table.insert(table.new_rows(12))
        table.upsert(table.changed_rows(3))
        table.delete(table.some_rows(9))
        if table.model.merge_on_read:
            table.compact()
        table.upsert(table.changed_rows(5))
        table.java_upsert(table.changed_rows(4))
        table.java_delete(table.some_rows(8))
        if table.model.merge_on_read:
            table.java_compact()
        table.upsert(table.changed_rows(4))
        table.java_clean(retain=5)
        table.delete(table.some_rows(11))
        table.check_everywhere()
        if FULL:
            table.ask(len(QUESTIONS))
        table.travel(last=None if number == 6 else 3)


OURS = (
    [(kind, layout) for kind in KINDS for layout in LAYOUTS]
    if FULL
    else list(zip(KINDS, (COMPLEX, SIMPLE), strict=True))
)


@pytest.mark.parametrize(("kind", "layout"), OURS, ids=str)
def test_a_table_that_we_created(judges: Judges, kind: str, layout: Layout, tmp_path: Path) -> None:
    table = Campaign(path=tmp_path / "t", layout=layout, kind=kind, judges=judges, settings=dict(PLACES_KNOWN))
    table.created_by_us()
    table.insert(table.new_rows(30))
    table.ask(len(QUESTIONS) if FULL or kind == KINDS[0] else 0)
    play(table, ROUNDS)


@pytest.mark.parametrize("kind", KINDS if FULL else KINDS[:1])
def test_a_table_that_java_created_with_its_defaults(judges: Judges, kind: str, tmp_path: Path) -> None:
    table = Campaign(path=tmp_path / "t", layout=SIMPLE, kind=kind, judges=judges, settings={}, packed=True)
    table.created_by_java()
    assert table.table.config.raw["hoodie.table.timeline.timezone"] == "LOCAL"
    play(table, ROUNDS)


@pytest.mark.usefixtures("seoul")
@pytest.mark.parametrize("kind", KINDS if FULL else KINDS[1:])
def test_a_table_that_java_created_in_another_zone(
    java_hudi: Callable[..., JavaHudi], judges: Judges, kind: str, tmp_path: Path
) -> None:
    judges = replace(judges, java=java_hudi(timezone="Asia/Seoul"))
    table = Campaign(path=tmp_path / "t", layout=PLAIN, kind=kind, judges=judges, settings={}, packed=True)
    table.created_by_java()
    play(table, ROUNDS)
