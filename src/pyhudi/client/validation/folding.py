"""R13: what a compaction wrote is what its input merges to, and a base file holds nothing newer than itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.client.validation.facts import Facts
from pyhudi.client.validation.finding import Finding, error, guarded
from pyhudi.file_group.reader import Projection, read_slice
from pyhudi.file_group.spec import TableSpec
from pyhudi.format.file_names import FileId
from pyhudi.format.instant import Action, Instant, RequestedTime
from pyhudi.format.metadata import CompactionOperation
from pyhudi.format.schema import COMMIT_TIME, FILE_NAME, RECORD_KEY
from pyhudi.storage import joined
from pyhudi.table.slices import BaseFile, FileSlice

_RULE = "R13"
_RESTORE = "restore the table to the instant before it, and write again what came after"


def base_files_fold_what_came_before(facts: Facts, spec: TableSpec) -> Iterator[Finding]:
    """Compactions whose input is still there are merged again, dry; of all columns when validation goes deep."""
    timeline = facts.table.timeline
    bases = {part.base.path: part.base for part in facts.slices if part.base is not None}
    for base in bases.values():
        yield from guarded(_RULE, facts.at(base.path), _nothing_newer(facts, spec, base))
    for instant in timeline.completed(Action.COMMIT):
        if instant.requested_time in timeline.table_service_times:
            yield from _same_as_merged(facts, spec, instant, bases)


def _same_as_merged(facts: Facts, spec: TableSpec, instant: Instant, bases: dict[str, BaseFile]) -> Iterator[Finding]:
    written = {(stat.partition_path, stat.file_id): stat.path for stat in facts.commits[instant].stats}
    plan = facts.table.timeline.compaction_plan(replace(instant, action=Action.COMPACTION))
    for operation in plan.operations:
        base = bases.get(written.get((operation.partition_path, operation.file_id), ""))
        before = _input(facts, operation)
        if base is not None and before is not None:
            yield from guarded(_RULE, facts.at(base.path), _merged_again(facts, spec, before, base))


def _input(facts: Facts, operation: CompactionOperation) -> FileSlice | None:
    """The slice that was compacted, while all its files are there."""
    partition = operation.partition_path
    base = facts.base_file(joined(partition, operation.data_file)) if operation.data_file else None
    logs = [facts.log_file(joined(partition, name)) for name in operation.log_files]
    there = [log for log in logs if log is not None]
    if len(there) < len(logs) or (operation.data_file and base is None):
        return None
    return FileSlice(
        partition_path=partition,
        file_id=FileId(operation.file_id),
        base_instant=RequestedTime(operation.base_instant),
        base=base,
        logs=tuple(sorted(there, key=lambda log: log.name.replay_order)),
    )


def _merged_again(facts: Facts, spec: TableSpec, before: FileSlice, base: BaseFile) -> Iterator[Finding]:
    names = [name for name in spec.file_schema.names if name != FILE_NAME] if facts.deep else [RECORD_KEY, COMMIT_TIME]
    after = FileSlice(
        partition_path=base.partition_path,
        file_id=base.name.file_id,
        base_instant=base.name.instant,
        base=base,
        logs=(),
    )
    expected, found = (_sorted_rows(spec, part, names) for part in (before, after))
    if len(expected) != len(found):
        what = f"the compaction wrote {len(found)} rows, its input merges to {len(expected)}"
        yield error(_RULE, facts.at(base.path), what, _RESTORE)
        return
    wrong = [name for name in names if not _equal(expected.column(name), found.column(name))]
    if wrong:
        what = f"the compaction wrote other values than its input merges to, in {', '.join(wrong)}"
        yield error(_RULE, facts.at(base.path), what, _RESTORE)


def _sorted_rows(spec: TableSpec, part: FileSlice, names: list[str]) -> pa.Table:
    projection = Projection(columns=tuple(names))
    rows = pa.concat_tables([projection.schema(spec).empty_table(), *read_slice(spec, part, projection)])
    return rows.sort_by(RECORD_KEY)


def _equal(left: pa.ChunkedArray, right: pa.ChunkedArray) -> bool:
    """Same values, where NaN is itself."""
    if pa.types.is_floating(left.type):
        left, right = (pc.if_else(pc.is_nan(each), None, each) for each in (left, right))
    return bool(left.equals(right))


def _nothing_newer(facts: Facts, spec: TableSpec, base: BaseFile) -> Iterator[Finding]:
    """Read-optimized queries see a state of the past: no row of a base file is newer than the file."""
    here = facts.base_file(base.path)
    if here is None:
        return
    alone = FileSlice(
        partition_path=base.partition_path,
        file_id=base.name.file_id,
        base_instant=base.name.instant,
        base=here,
        logs=(),
    )
    for rows in read_slice(spec, alone, Projection(columns=(COMMIT_TIME,))):
        newest = pc.max(rows.column(COMMIT_TIME)).as_py()
        if newest is not None and newest > base.name.instant:
            what = f"it holds rows of {newest}, which is later than the file itself"
            yield error(_RULE, facts.at(base.path), what, _RESTORE)
            return
