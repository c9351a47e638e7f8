"""A table before all its judges: what pyhudi, Java Hudi and hudi-rs read of it must be the rows of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

import pyhudi
from tests.interop.oracle import HudiRs, JavaHudi
from tests.interop.questions import Question, Skips
from tests.interop.rows import Layout, Row, exact

Query = Literal["snapshot", "read_optimized"]

JAVA, JAVA_LISTING, SPARK = "Java", "Java without its metadata table", "pyhudi on Spark"

_META = ["_hoodie_commit_time", "_hoodie_record_key", "_hoodie_partition_path"]


@dataclass(frozen=True, kw_only=True)
class Judges:
    """All who read a table. `spark` is the session pyhudi reads over, where there is one."""

    java: JavaHudi
    hudi_rs: HudiRs
    spark: Any = None

    def agree(
        self,
        path: Path,
        layout: Layout,
        rows: Iterable[Row] | None,
        *,
        query: Query = "snapshot",
        leave_out: Iterable[str] = (),
    ) -> None:
        """All read these rows (or, without any given, what Java reads), with the same Hudi columns."""
        readers: dict[str, Callable[[], pa.Table]] = {
            JAVA: lambda: self.java.read(path, query=query),
            JAVA_LISTING: lambda: self.java.read(path, query=query, metadata=False),
            "pyhudi": lambda: pyhudi.table(str(path)).to_arrow(query=query),
            "hudi-rs": lambda: self.hudi_rs.read(path, query=query),
            SPARK: lambda: read_by_spark(self.spark, path, query),
        }
        absent = {*leave_out, *([SPARK] if self.spark is None else [])}
        answers = {who: read() for who, read in readers.items() if who not in absent}
        expected = answers[JAVA] if rows is None else layout.table(rows)
        for who, answer in answers.items():
            same(answer, expected, layout.schema.names, f"{who} reads {query}")
            same(answer, answers[JAVA], _META, f"{who} reads the Hudi columns of {query}")

    def agree_as_of(self, path: Path, layout: Layout, instant: str, rows: Iterable[Row]) -> None:
        """All who can travel to that instant find these rows there."""
        expected = layout.table(rows)
        for who, answer in {
            "Java": self.java.read(path, as_of=instant),
            "pyhudi": pyhudi.table(str(path)).to_arrow(as_of=instant),
            "hudi-rs": self.hudi_rs.read(path, as_of=instant),
        }.items():
            same(answer, expected, layout.schema.names, f"{who} reads as of {instant}")

    def answer(self, path: Path, rows: Iterable[Row], question: Question, *, java_wrote: bool) -> None:
        """Java, skipping by the metadata table, and pyhudi find exactly the rows for which the question holds."""
        expected = sorted(one["id"] for one in rows if question.holds(one))
        skips = question.skips
        found: dict[str, pa.Table] = {}
        if not (java_wrote and skips is Skips.OUR_FILES_EVEN_WITHOUT):
            skipping = skips is Skips.WELL or (skips is not Skips.NOWHERE and not java_wrote)
            found["Java"] = self.java.read(path, where=question.sql, data_skipping=skipping, columns=["id"])
        if question.ours:
            found["pyhudi"] = pyhudi.table(str(path)).to_arrow(where=question.sql, columns=["id"])
        for who, answer in found.items():
            ids = sorted(answer.column("id").to_pylist())
            assert ids == expected, f"{who} answers {question.sql[:80]}"


def read_by_spark(spark: Any, path: Path, query: Query) -> pa.Table:
    """The rows as pyhudi's own Spark engine reads them."""
    frame = pyhudi.table(str(path)).read(spark, query=query)
    table: pa.Table = frame.toArrow()
    return table


def same(found: pa.Table, expected: pa.Table, names: Iterable[str], what: str) -> None:
    """Exactly the same rows; the first differing ones are shown."""
    wanted = list(names)
    left, right = Counter(exact(found, wanted)), Counter(exact(expected, wanted))
    if left != right:
        more, less = ([text[:300] for text in sorted(each.elements())][:3] for each in (left - right, right - left))
        raise AssertionError(f"{what}: {len(found)} rows for {len(expected)}; too many: {more}; missing: {less}")
