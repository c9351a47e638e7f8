"""One table that pyhudi and Java Hudi write in turn, with the model of what it must hold after every step."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

import pyhudi
from pyhudi.errors import InstantNotFound
from tests.interop.judges import JAVA_LISTING, SPARK, Judges, Query
from tests.interop.oracle import OracleError
from tests.interop.oracle.java import Operation
from tests.interop.questions import QUESTIONS
from tests.interop.rows import Key, Layout, Model, Row, row

FULL = os.environ.get("PYHUDI_FULL") == "1"
KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")
WRITES = ("commit", "deltacommit", "replacecommit")


def java_options(layout: Layout, kind: str) -> dict[str, str]:
    """What any Java writer of such a table says; all else is its default."""
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.hive_style_partitioning": str(layout.hive_style).lower(),
    }
    if layout.partition_by:
        options["hoodie.datasource.write.partitionpath.field"] = ",".join(layout.partition_by)
    if layout.ordering is not None:
        options["hoodie.table.ordering.fields"] = layout.ordering
    return options


PLACES_KNOWN = {"hoodie.parquet.small.file.limit": "0", "hoodie.compact.inline": "false"}
"""With these the model knows what Java's base files hold: new keys never join old files, nothing compacts unasked."""


@dataclass(kw_only=True)
class Campaign:
    """The table and its history.

    `settings`: how Java writes it. `packed`: only Java knows what base files hold. `brief`: a step is checked by one
    reading of each judge, without questions.
    """

    path: Path
    layout: Layout
    kind: str
    judges: Judges
    settings: dict[str, str]
    packed: bool = False
    brief: bool = False
    java_wrote: bool = False
    history: dict[str, dict[Key, Row]] = field(default_factory=dict)
    turn: int = 0
    numbers: int = 0

    def __post_init__(self) -> None:
        self.model = Model(layout=self.layout, merge_on_read=self.kind == "MERGE_ON_READ")
        self.settings = java_options(self.layout, self.kind) | self.settings
        self._questions = itertools.cycle(QUESTIONS)

    @property
    def table(self) -> pyhudi.HudiTable:
        return pyhudi.table(str(self.path))

    def created_by_us(self, **options: str) -> None:
        pyhudi.create_table(
            str(self.path),
            self.layout.schema,
            name="t",
            table_type=self.kind,
            record_key=["id"],
            partition_by=list(self.layout.partition_by),
            ordering=[self.layout.ordering] if self.layout.ordering else [],
            options={"hoodie.datasource.write.hive_style_partitioning": str(self.layout.hive_style).lower(), **options},
        )
        self.check()

    def created_by_java(self) -> None:
        rows = self.new_rows(20)
        self.judges.java.create(self.path, self._arrow(rows), options=self.settings, operation="insert")
        self.java_wrote = True
        self.model.upsert(rows)
        self.check()

    def insert(self, rows: Sequence[Row]) -> None:
        self.table.insert(self._arrow(rows))
        self.model.upsert(rows)
        self.check()

    def upsert(self, rows: Sequence[Row]) -> None:
        self.table.upsert(self._arrow(rows))
        self.model.upsert(rows)
        self.check()

    def delete(self, rows: Sequence[Row]) -> None:
        self.table.delete(self._arrow(rows))
        self.model.delete(rows)
        self.check()

    def compact(self) -> None:
        result = self.table.run("compaction")
        assert result.instant is not None, result.reason
        self.model.compact()
        self.check()

    def java_upsert(self, rows: Sequence[Row]) -> None:
        self._java_writes(rows, "upsert")
        self.model.upsert(rows)
        self.check()

    def java_delete(self, rows: Sequence[Row]) -> None:
        self._java_writes(rows, "delete")
        self.model.delete(rows)
        self.check()

    def java_compact(self) -> None:
        options = "hoodie.compact.inline.max.delta.commits=1"
        done = self.judges.java.sql(
            f"call run_compaction(op => 'scheduleAndExecute', path => '{self.path}', options => '{options}')"
        )
        assert [one["state"] for one in done] == ["COMPLETED"]
        self.model.compact()
        self.check()

    def java_clean(self, retain: int) -> None:
        name = self.judges.java.table_name(self.path)
        cleaned = self.judges.java.sql(f"call run_clean(table => '{name}', retain_commits => {retain})")
        assert cleaned, "there was nothing to clean"
        self.check()

    def check(self) -> None:
        """After every step: both queries by the judges, some questions, and the moment is remembered."""
        written = [str(one.requested_time) for one in self.table.timeline() if one.completed and one.action in WRITES]
        if written:
            self.history[max(written)] = dict(self.model.rows)
        left_out = [SPARK, JAVA_LISTING] if self.brief else [SPARK]
        self._agree("snapshot", left_out)
        if self.model.merge_on_read or FULL:
            self._agree("read_optimized", left_out if FULL else [SPARK, JAVA_LISTING])
        if not self.brief:
            self.ask(2)

    def check_everywhere(self) -> None:
        """By every judge, Spark too."""
        self._agree("snapshot", [])
        self._agree("read_optimized", [])

    def ask(self, count: int) -> None:
        """The next questions in turn."""
        for question in itertools.islice(self._questions, count):
            self.judges.answer(self.path, self.model.rows.values(), question, java_wrote=self.java_wrote)

    def travel(self, last: int | None = None) -> None:
        """To the last instants or to all; what was cleaned is refused by Java and by us."""
        name = self.judges.java.table_name(self.path)
        cleans = self.judges.java.sql(f"call show_cleans(table => '{name}', limit => 1)")
        kept_from = cleans[0]["earliest_commit_to_retain"] if cleans else ""
        for instant in sorted(self.history)[-last if last else 0 :]:
            if instant >= kept_from:
                self.judges.agree_as_of(self.path, self.layout, instant, self.history[instant].values())
            else:
                with pytest.raises(OracleError, match="Cleaner cleaned up the timestamp of interest"):
                    self.judges.java.read(self.path, as_of=instant)
                with pytest.raises(InstantNotFound, match=kept_from):
                    self.table.to_arrow(as_of=instant)

    def new_rows(self, count: int) -> list[Row]:
        """Rows of keys that were never there."""
        self.turn += 1
        self.numbers += count
        return [row(number, self.turn, self.turn * 10) for number in range(self.numbers - count, self.numbers)]

    def changed_rows(self, step: int, new: int = 2) -> list[Row]:
        """Rows for every so manieth key, each second one older than what is there, and some new ones."""
        self.turn += 1
        known = {one["id"]: one["ts"] for one in self.model.rows.values()}
        rows = []
        for place, number in enumerate(range(self.turn % step, self.numbers, step)):
            there = known.get(f"k{number:03d}")
            late = there is not None and place % 2 == 1
            rows.append(row(number, self.turn, there - 1 if late and there is not None else self.turn * 10))
        return rows + (self.new_rows(new) if new else [])

    def some_rows(self, step: int) -> list[Row]:
        """Keys of the table, every so manieth."""
        return sorted(self.model.rows.values(), key=lambda one: str(one["id"]))[:: max(step, 1)]

    def _java_writes(self, rows: Iterable[Row], operation: Operation) -> None:
        self.judges.java.write(self.path, self._arrow(rows), options=self.settings, operation=operation)
        self.java_wrote = True

    def _arrow(self, rows: Iterable[Row]) -> pa.Table:
        return self.layout.table(rows)

    def _agree(self, query: Query, left_out: Iterable[str]) -> None:
        rows = self.model.rows if query == "snapshot" else None if self.packed else self.model.base
        self.judges.agree(
            self.path, self.layout, None if rows is None else rows.values(), query=query, leave_out=left_out
        )
