"""R6, R7: keys are unique, and the meta columns of every row tell the truth about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.client.validation.facts import Facts
from pyhudi.client.validation.finding import Finding, error, guarded, warning
from pyhudi.errors import InvalidRequest
from pyhudi.file_group.keying import record_keys
from pyhudi.file_group.reader import Projection, read_slice
from pyhudi.file_group.spec import TableSpec
from pyhudi.format.instant import RequestedTime
from pyhudi.format.schema import COMMIT_SEQNO, COMMIT_TIME, FILE_NAME, META_COLUMNS, PARTITION_PATH, RECORD_KEY
from pyhudi.table.slices import FileSlice

_CHECKS_KEYS = frozenset({"UPSERT", "UPSERT_PREPPED", "DELETE", "DELETE_PREPPED", "COMPACT", "LOG_COMPACT", "CLUSTER"})
"""Operations that never add a second row of a key."""

_WRITE_AGAIN = "write the rows again: delete their keys, then insert them"


def rows_tell_the_truth(facts: Facts, spec: TableSpec) -> Iterator[Finding]:
    """Reads key and meta columns of the latest slices, and when validation goes deep of all others."""
    latest = {part.paths for part in facts.latest}
    by_partition = groupby(sorted(facts.slices, key=_partition_of), key=_partition_of)
    for partition, parts in by_partition:
        keys: list[pa.ChunkedArray] = []
        numbers: list[pa.ChunkedArray] = []
        for part in parts:
            rows = _Rows(facts, spec, part)
            yield from guarded("R7", facts.at(part.paths[0]), rows.check())
            if rows.read is not None and part.paths in latest:
                keys.append(rows.read.column(RECORD_KEY))
                numbers.append(rows.read.column(COMMIT_SEQNO))
        yield from _keys_are_unique(facts, partition, keys)
        yield from _numbers_are_unique(partition, numbers)


class _Rows:
    """The rows of one slice, read once."""

    def __init__(self, facts: Facts, spec: TableSpec, part: FileSlice) -> None:
        self.read: pa.Table | None = None
        self._facts, self._spec, self._part = facts, spec, part

    def check(self) -> Iterator[Finding]:
        """R7, for what one slice can tell."""
        keys = self._facts.table.properties.keys
        columns = [*META_COLUMNS, *(name for name in keys.key_fields if name in self._spec.file_schema.names)]
        projection = Projection(columns=tuple(columns))
        batches = list(read_slice(self._spec, self._part, projection))
        self.read = rows = pa.concat_tables([projection.schema(self._spec).empty_table(), *batches])
        where = self._facts.at(self._part.paths[0])
        for column, expected in (
            (PARTITION_PATH, pc.equal(rows.column(PARTITION_PATH), self._part.partition_path)),
            (FILE_NAME, pc.starts_with(rows.column(FILE_NAME), str(self._part.file_id))),
        ):
            strays = rows.column(column).filter(pc.invert(pc.fill_null(expected, False)))
            if len(strays):
                what = f"{len(strays)} rows of the slice say {column}={strays[0].as_py()!r}"
                yield error("R7", where, what, _WRITE_AGAIN)
        yield from self._times_are_committed(where, rows.column(COMMIT_TIME))
        if keys.key_fields and len(columns) == len(META_COLUMNS) + len(keys.key_fields):
            yield from self._keys_are_made_right(where, rows)

    def _times_are_committed(self, where: str, times: pa.ChunkedArray) -> Iterator[Finding]:
        for time in pc.unique(times).to_pylist():
            if time is None or not self._facts.is_known(RequestedTime(time)):
                what = f"rows were written at {time}, and no instant of that time completed"
                yield error("R7", where, what, _WRITE_AGAIN)

    def _keys_are_made_right(self, where: str, rows: pa.Table) -> Iterator[Finding]:
        try:
            made = record_keys(rows, self._facts.table.properties.keys)
        except InvalidRequest as problem:
            yield error("R7", where, str(problem), _WRITE_AGAIN)
            return
        wrong = rows.filter(pc.invert(pc.fill_null(pc.equal(made, rows.column(RECORD_KEY)), False)))
        if len(wrong):
            what = (
                f"{len(wrong)} rows do not have the key of their columns, the first {wrong.slice(0, 1).to_pylist()[0]}"
            )
            yield error("R7", where, what, _WRITE_AGAIN)


def _partition_of(part: FileSlice) -> str:
    return part.partition_path


def _keys_are_unique(facts: Facts, partition: str, keys: Sequence[pa.ChunkedArray]) -> Iterator[Finding]:
    """R6. Inserts do not look for keys that are there; where one was made, two rows of a key may be meant."""
    twice, example = _repeated(keys)
    if not twice:
        return
    what = f"{twice} keys have more than one row, the first is {example!r}"
    if _inserts_unchecked(facts):
        yield warning(
            "R6", facts.at(partition), what, "nothing if rows were inserted twice on purpose; else upsert them"
        )
    else:
        yield error("R6", facts.at(partition), what, "delete these keys, then insert the rows that are right")


def _numbers_are_unique(partition: str, numbers: Sequence[pa.ChunkedArray]) -> Iterator[Finding]:
    twice, example = _repeated(numbers)
    if twice:
        yield error(
            "R7", partition, f"{twice} sequence numbers are there twice, the first is {example!r}", _WRITE_AGAIN
        )


def _repeated(columns: Sequence[pa.ChunkedArray]) -> tuple[int, str | None]:
    """How many values stand there more than once, and one of them."""
    values = pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string()).drop_null()
    if pc.count_distinct(values).as_py() == len(values):
        return 0, None
    counts = pc.value_counts(values)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1)).field("values").sort()
    return len(repeated), repeated[0].as_py()


def _inserts_unchecked(facts: Facts) -> bool:
    operations = {commit.operation for commit in facts.commits.values()}
    return bool(facts.table.timeline.history()) or not operations <= _CHECKS_KEYS
