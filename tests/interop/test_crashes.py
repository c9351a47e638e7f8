"""A writer of one engine is killed in the middle of a write, and the other engine writes next."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pyhudi.format.file_names import parse_data_file
from tests.interop.campaign import FULL, KINDS, PLACES_KNOWN, Campaign
from tests.interop.judges import Judges
from tests.interop.oracle import JavaHudi, OracleError
from tests.interop.rows import SIMPLE, Row
from tests.interop.victim import POINTS

pytestmark = pytest.mark.interop

SHARED = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.write.lock.wait_time_ms": "1000",
    "hoodie.write.lock.num_retries": "2",
    "hoodie.write.lock.client.num_retries": "2",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "500",
}
"""How Java writes a table that others write too: it takes pyhudi's lock, and leaves what may still be alive."""

LOCK_CASES, STAGE_CASES = (6, 10) if FULL else (1, 1)
LOCKED = ["before the metadata commit", "between the two commits", "before the clean-up"]
EXPIRY_S = 200


def each_kind(*points: str) -> list[tuple[str, str]]:
    """Every point on both types of table; in CI the types take turns."""
    if FULL:
        return [(kind, point) for kind in KINDS for point in points]
    return list(zip(itertools.cycle(KINDS), points, strict=False))


@pytest.fixture
def table(judges: Judges, kind: str, tmp_path: Path) -> Campaign:
    """A table of ours with a history."""
    table = Campaign(
        path=tmp_path / "t", layout=SIMPLE, kind=kind, judges=judges, settings=dict(PLACES_KNOWN), brief=True
    )
    table.created_by_us()
    table.insert(table.new_rows(12))
    return table


def kill_us(table: Campaign, rows: Sequence[Row], point: str) -> None:
    """An upsert of these rows by a process that is killed there; what it committed goes into the model."""
    file = table.path.parent / "rows.parquet"
    pq.write_table(table.layout.table(rows), file, store_schema=False)
    command = [sys.executable, "-m", "tests.interop.victim", str(table.path), str(file), "upsert", point]
    root = Path(__file__).resolve().parents[2]
    dead = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    if point == "before the clean-up":
        table.model.upsert(rows)
    table.check()


def grown_older(table: Campaign, seconds: float) -> None:
    """Everything that tells its age by its file time, as if written so long ago."""
    for folder in (".hoodie", ".hoodie/timeline", ".hoodie/.heartbeat"):
        for file in (table.path / folder).glob("*"):
            if file.is_file():
                at = file.stat().st_mtime - seconds
                os.utime(file, (at, at))


def unfinished(table: Campaign) -> list[str]:
    return [str(one) for one in table.table.timeline() if not one.completed]


def orphans(table: Campaign) -> list[str]:
    """What a crash must not leave for good: data files and markers of instants that never completed.

    Markers of a completed instant do no harm; archiving removes them.
    """
    completed = {str(one.requested_time) for one in table.table.timeline() if one.completed}
    names = [file.name for file in table.path.rglob("*") if ".hoodie" not in file.relative_to(table.path).parts]
    parsed = [(name, parse_data_file(name)) for name in names if not name.endswith(".crc")]
    files = [name for name, data in parsed if data is not None and str(data.instant) not in completed]
    marked = [folder.name for folder in (table.path / ".hoodie" / ".temp").iterdir() if folder.is_dir()]
    return files + [instant for instant in marked if instant not in completed]


def pyhudi_goes_on(table: Campaign) -> None:
    """Writes, and nothing is left of the crash."""
    started = time.monotonic()
    table.upsert(table.changed_rows(3))
    table.delete(table.some_rows(7))
    assert time.monotonic() - started < 30, "somebody waited for a dead owner"
    assert unfinished(table) == []
    assert orphans(table) == []
    if table.model.merge_on_read:
        table.compact()
    table.travel(last=3)
    table.brief = False
    table.check()


@pytest.mark.parametrize(("kind", "point"), each_kind(*POINTS))
def test_we_are_killed_and_java_writes_next(table: Campaign, point: str) -> None:
    kill_us(table, table.changed_rows(2), point)
    table.java_upsert(table.changed_rows(3))
    assert unfinished(table) == []
    pyhudi_goes_on(table)
    table.java_delete(table.some_rows(6))


@pytest.mark.parametrize(("kind", "point"), each_kind(*LOCKED)[:LOCK_CASES])
def test_java_takes_the_lock_of_a_dead_owner_once_it_has_expired(table: Campaign, point: str) -> None:
    table.settings |= SHARED
    kill_us(table, table.changed_rows(2), point)
    with pytest.raises(OracleError, match="(?i)lock"):
        table.java_upsert(table.changed_rows(3))
    table.settings["hoodie.write.lock.filesystem.expire"] = "1"
    grown_older(table, EXPIRY_S)
    table.java_upsert(table.changed_rows(3))
    pyhudi_goes_on(table)


@pytest.mark.parametrize(("kind", "point"), each_kind(*LOCKED)[-LOCK_CASES:])
def test_we_take_the_lock_of_a_dead_owner_for_java_too(table: Campaign, point: str) -> None:
    table.settings |= SHARED
    kill_us(table, table.changed_rows(2), point)
    pyhudi_goes_on(table)
    table.java_upsert(table.changed_rows(3))
    table.java_delete(table.some_rows(6))


STAGES: dict[str, str] = {
    "requested": ".hoodie/timeline/*.requested",
    "inflight": ".hoodie/timeline/*.inflight",
    "marked": ".hoodie/.temp/*/*",
    "metadata commit begun": ".hoodie/metadata/.hoodie/timeline/*commit.requested",
    "metadata commit completed": ".hoodie/metadata/.hoodie/timeline/*_*.deltacommit",
}


@contextmanager
def killed_once(path: Path, pattern: str, java: JavaHudi) -> Iterator[None]:
    """The JVM is killed as soon as there is a file of that pattern that was not there before."""
    before = set(path.glob(pattern))
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            if set(path.glob(pattern)) - before:
                java.kill()
                return
            time.sleep(0.0005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


@pytest.mark.parametrize(("kind", "stage"), each_kind(*STAGES)[-STAGE_CASES:])
def test_java_is_killed_and_we_write_next(
    table: Campaign, stage: str, judges: Judges, java_that_dies: Callable[[], JavaHudi]
) -> None:
    rows = table.changed_rows(2)
    table.judges = replace(judges, java=java_that_dies())
    completed = len(table.table.timeline())
    with killed_once(table.path, STAGES[stage], table.judges.java), pytest.raises(OracleError, match="died"):
        table.java_upsert(rows)
    table.judges = judges
    after = [one for one in table.table.timeline() if one.completed]
    if len(after) > completed:
        table.model.upsert(rows)
    table.check()
    table.upsert(table.changed_rows(4))
    grown_older(table, EXPIRY_S)
    pyhudi_goes_on(table)
    table.java_upsert(table.changed_rows(3))


@pytest.fixture
def java_that_dies() -> Iterator[Callable[[], JavaHudi]]:
    started: list[JavaHudi] = []

    def start() -> JavaHudi:
        started.append(JavaHudi())
        return started[-1]

    yield start
    for java in started:
        java.close()
