"""The chapters of the story, in order; each tells one thing that the table can do and checks that it did."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyhudi.format.instant import WRITES, Action
from pyhudi.interfaces.dataframe import create_table
from pyhudi.interfaces.demo import lost_writer
from pyhudi.interfaces.demo.stage import Stage, in_words
from pyhudi.interfaces.demo.trips import DAYS, SCHEMA, trips
from pyhudi.interfaces.printing import instant_row
from pyhudi.services import text_table
from pyhudi.writes import WriteResult

TRIPS = 120_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """One chapter: what `--chapter` calls it, what it is about, and how it plays."""

    name: str
    about: str
    play: Callable[[Stage], None]


def create(stage: Stage) -> None:
    """A table, its metadata table included."""
    stage.call(
        'create_table(path, schema, table_type="MERGE_ON_READ", record_key=["trip"], partition_by=["day"], …)',
        lambda: create_table(
            stage.path,
            SCHEMA,
            name="trips",
            table_type="MERGE_ON_READ",
            record_key=["trip"],
            partition_by=["day"],
            ordering=["updated"],
        ),
        lambda made: f"table version {made.version} at {stage.path}",
    )


def write(stage: Stage) -> None:
    """New trips, then changes to some of them."""
    _write(stage, "t.insert(trips)", lambda: stage.table.insert(trips(0, TRIPS, updated=1)))
    changes = trips(TRIPS - 10_000, 12_000, updated=2, surcharge=2.5)
    _write(stage, "t.upsert(changes)", lambda: stage.table.upsert(changes))
    stage.facts["rows"], stage.facts["fares"] = stage.snapshot()


def read(stage: Stage) -> None:
    """What is asked for, and nothing more."""
    stage.call("t.to_arrow()", stage.table.to_arrow, lambda rows: f"{len(rows):,} rows, {rows.num_columns} columns")
    where = f"day = '{DAYS[-1]}' AND fare > 46"
    found = stage.call(
        f'''t.to_arrow(where="{where}", columns=["trip", "fare"])''',
        lambda: stage.table.to_arrow(where=where, columns=["trip", "fare"]),
        lambda rows: f"{len(rows):,} rows of one partition; the files of the other days are not opened",
    )
    stage.promise(found.num_columns == 2 and 0 < len(found) < TRIPS // len(DAYS), "filter and columns")
    now, base = stage.snapshot(), stage.snapshot(query="read_optimized")
    stage.tell(f"snapshot:       {in_words(now)}")
    stage.tell(f"read-optimized: {in_words(base)}: base files only, without the changes that wait in logs")
    stage.promise(now[1] > base[1], "changes wait in logs")


def crash(stage: Stage) -> None:
    """A child process is killed while it writes; the next writer undoes what it left."""
    before = stage.snapshot()
    done = lost_writer.FILES_WRITTEN
    stage.tell(f"a child process upserts, and is killed (SIGKILL) after {done} of {len(DAYS)} files …")
    with stage.console.progress("waiting for the child to die"):
        child = subprocess.run([sys.executable, "-m", lost_writer.__name__, stage.path], check=False)
    stage.promise(child.returncode == -signal.SIGKILL, "the child was killed")
    lost = [each for each in stage.table.timeline() if not each.completed]
    stage.promise(len(lost) == 1, "one instant is pending")
    stage.tell(text_table([instant_row(each) for each in lost]))
    stage.tell(f"left on disk: {_files_of(stage, lost[0].requested_time)} files that no commit names")
    stage.promise(_files_of(stage, lost[0].requested_time) == done, "the child left files")
    stage.promise(stage.snapshot() == before, "readers see the table as before")
    stage.tell(f"readers see {in_words(before)}, as before")
    _write(stage, "t.upsert(more)", lambda: stage.table.upsert(trips(0, 5_000, updated=3, surcharge=1.0)))
    undone = [each for each in stage.table.timeline() if each.action is Action.ROLLBACK and each.completed]
    stage.promise(len(undone) == 1 and not _files_of(stage, lost[0].requested_time), "the dead write is undone")
    stage.tell(f"first it found the dead writer and undid its write ({undone[0]}); nobody waited, nothing is left")
    stage.facts["lost"], stage.facts["undone_by"] = str(lost[0]), str(undone[0])


def delete(stage: Stage) -> None:
    """Rows go by their keys."""
    cancelled = trips(20_000, 400, updated=4).select(["trip", "day"])
    result = _write(stage, "t.delete(cancelled)", lambda: stage.table.delete(cancelled))
    stage.promise(result.rows_deleted == len(cancelled), "all cancelled trips are gone")


def travel(stage: Stage) -> None:
    """Every commit can be read again."""
    stage.tell("t.to_arrow(as_of=instant), for every instant so far:")
    rows = []
    for instant, then in stage.totals.items():
        found = stage.snapshot(as_of=instant)
        stage.promise(found == then, f"time travel to {instant}")
        rows.append({"as_of": instant, "trips": found[0], "fares": found[1]})
    stage.tell(text_table(rows))
    stage.facts["moments"] = rows


def compact(stage: Stage) -> None:
    """Logs become base files: first the plan, then exactly that."""
    before = stage.snapshot()
    plan = stage.call('plan = t.plan("compaction"); print(plan)', lambda: stage.table.plan("compaction"), str)
    stage.call(
        "t.apply(plan)",
        lambda: stage.table.apply(plan),
        lambda done: (
            f"{done.instant}: {done.counts['log_files']} log files are {done.counts['file_groups']} base files"
        ),
    )
    stage.promise(stage.snapshot() == stage.snapshot(query="read_optimized") == before, "compaction changes no row")
    stage.tell(f"read-optimized now equals the snapshot: {in_words(before)}")


def timeline(stage: Stage) -> None:
    """Everything that happened, as the table remembers it."""
    instants = stage.table.timeline()
    stage.promise(all(each.completed for each in instants), "nothing is pending")
    stage.tell(text_table([instant_row(each) for each in instants]))
    stage.facts["writes"] = sum(each.action in WRITES for each in instants)


def validate(stage: Stage) -> None:
    """The table checks out."""
    findings = stage.call("t.validate()", stage.table.validate, lambda found: f"{len(found)} findings")
    stage.promise(not findings, f"the table is sound ({findings})")


def over_spark(stage: Stage) -> None:
    """The same table from a Spark session, in a process of its own."""
    missing = _missing_for_spark()
    if missing is not None:
        stage.tell(f"left out: {missing}")
        stage.facts["left_out"] = missing
        return
    before = stage.snapshot()
    script = [sys.executable, "-m", "pyhudi.interfaces.demo.over_spark", stage.path]
    with stage.console.progress("Spark starts, upserts and reads"):
        child = subprocess.run(
            script, capture_output=True, text=True, check=False, env={**os.environ, "PYSPARK_PYTHON": sys.executable}
        )
    stage.promise(child.returncode == 0, f"Spark's part ({child.stderr.strip().rpartition(chr(10))[2]})")
    told = json.loads(child.stdout)
    stage.tell(f"Spark {told['spark']}, no Hudi jar in sight")
    stage.console.say("  >>> t.upsert(df)")
    stage.tell(f"{told['instant']}: {told['updated']:,} updated; {told['files']} files")
    stage.console.say('  >>> spark.read.format("hudi").load(path).groupBy("day") …')
    stage.tell(text_table(told["days"]))
    now = stage.snapshot()
    stage.promise(now == (before[0], round(before[1] + told["updated"], 2)), "each fare that was changed is 1 higher")
    stage.promise(not stage.table.validate(), "the table is still sound")
    stage.facts.update(told)


def _missing_for_spark() -> str | None:
    if importlib.util.find_spec("pyspark") is None:
        return "PySpark is not installed"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "no Java for Spark: none on the path, no JAVA_HOME"
    return None


def _write(stage: Stage, call: str, work: Callable[[], WriteResult]) -> WriteResult:
    result = stage.call(call, work, _outcome)
    stage.remember(result.instant.requested_time)
    return result


def _outcome(result: WriteResult) -> str:
    counts = {
        "inserted": result.rows_inserted,
        "updated": result.rows_updated,
        "deleted": result.rows_deleted,
    }
    done = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    return f"{result.instant}: {done}; {len(result.files)} files"


def _files_of(stage: Stage, instant: str) -> int:
    return sum(instant in found.name for day in DAYS for found in Path(stage.path, day).iterdir())


CHAPTERS = (
    Chapter(name="create", about="a table that Hudi knows", play=create),
    Chapter(name="write", about="rows go in, then changes", play=write),
    Chapter(name="read", about="partitions, columns and the two views", play=read),
    Chapter(name="crash", about="a writer dies, the next one recovers", play=crash),
    Chapter(name="delete", about="rows go by their keys", play=delete),
    Chapter(name="travel", about="the table as it was", play=travel),
    Chapter(name="compact", about="look at the plan, then carry it out", play=compact),
    Chapter(name="timeline", about="what happened", play=timeline),
    Chapter(name="validate", about="is the table sound?", play=validate),
    Chapter(name="spark", about="the same table as a DataFrame", play=over_spark),
)
