"""Units of work on one file group: they pickle, run anywhere, and return what the commit must know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.clock import stopwatch
from pyhudi.errors import InternalError
from pyhudi.file_group.reader import merged_rows, read_base, read_changes, read_keys
from pyhudi.file_group.spec import TableSpec, WriteSpec
from pyhudi.file_group.writer import (
    BaseFileContent,
    WrittenFile,
    write_base_file,
    write_log_file,
    write_partition_metadata,
)
from pyhudi.format.file_names import FileId, MarkerKind, WriteToken
from pyhudi.format.metadata import WriteStat
from pyhudi.format.metadata.commit import NO_PREVIOUS_COMMIT
from pyhudi.format.schema import COMMIT_SEQNO, COMMIT_TIME, PARTITION_PATH, RECORD_KEY
from pyhudi.merge.deletes import Deletes, encode_deletes
from pyhudi.merge.kernel import Changes
from pyhudi.merge.modes import soft_deletes
from pyhudi.table.slices import FileSlice


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try at a task, as its engine counts them."""

    task: int
    stage: int = 0
    number: int = 0

    def token(self, salt: int) -> WriteToken:
        """What stands in file names: no two tries share it, also when an instant is carried out again elsewhere."""
        return WriteToken(f"{self.task}-{salt}-{self.number}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The file group that rows go to: a slice that exists, or a new group."""

    partition_path: str
    file_id: FileId
    slice: FileSlice | None


@dataclass(frozen=True, kw_only=True)
class GroupWrite:
    """How rows of one write become files of their group. `rows` carry key and partition path and the user's columns."""

    spec: WriteSpec
    to_log: bool
    deleting: bool

    def write(self, target: Target, rows: pa.Table, attempt: Attempt) -> list[WrittenFile]:
        """Write the rows (or delete their keys); nothing when there is nothing to do."""
        started = stopwatch()
        if target.slice is None:
            written = None if self.deleting else self._create(target, rows, attempt)
        elif self.to_log:
            written = self._append(target, rows, attempt)
        else:
            written = self._rewrite(target, target.slice, rows, attempt)
        return [_timed(written, started)] if written is not None else []

    def _create(self, target: Target, rows: pa.Table, attempt: Attempt) -> WrittenFile | None:
        stamped = self._stamped(rows, attempt)
        new = stamped.filter(pa.array(~soft_deletes(stamped, self.spec.table.rule)))
        if not len(new):
            return None
        write_partition_metadata(self.spec, target.partition_path)
        content = write_base_file(
            self.spec, target.partition_path, target.file_id, attempt.token(self.spec.salt), [new], MarkerKind.CREATE
        )
        stat = _base_stat(target, content, previous=None, inserts=content.rows)
        return WrittenFile(stat=stat, ranges=content.ranges)

    def _append(self, target: Target, rows: pa.Table, attempt: Attempt) -> WrittenFile:
        if not self.deleting:
            stamped = self._stamped(rows, attempt)
            written = write_log_file(
                self.spec, target.partition_path, target.file_id, attempt.token(self.spec.salt), stamped, None
            )
            return _with_counts(written, updates=len(rows))
        keys = _single(rows.column(RECORD_KEY))
        nothing = self.spec.table.file_schema.empty_table()
        content = encode_deletes(keys, target.partition_path, None)
        written = write_log_file(
            self.spec, target.partition_path, target.file_id, attempt.token(self.spec.salt), nothing, content
        )
        return _with_counts(written, deletes=len(rows))

    def _rewrite(self, target: Target, part: FileSlice, rows: pa.Table, attempt: Attempt) -> WrittenFile:
        table = self.spec.table
        if part.base is None:
            raise InternalError(f"file group {part.file_id} of a copy-on-write table has no base file; report this")
        item = _key_deletes(rows) if self.deleting else self._stamped(rows, attempt)
        changes = Changes.fold([item], table.rule, table.file_schema)
        counts = {"updates": 0, "deletes": 0, "inserts": 0}

        def merged() -> Iterator[pa.Table]:
            for batch in read_base(table, part.base, table.file_schema) if part.base else ():
                outcome = changes.merge(batch)
                counts["updates"] += outcome.updated
                counts["deletes"] += outcome.deleted
                yield outcome.rows
            new = changes.remaining()
            counts["inserts"] += len(new)
            yield new

        content = write_base_file(
            self.spec, target.partition_path, target.file_id, attempt.token(self.spec.salt), merged(), MarkerKind.MERGE
        )
        return WrittenFile(stat=_base_stat(target, content, previous=part, **counts), ranges=content.ranges)

    def _stamped(self, rows: pa.Table, attempt: Attempt) -> pa.Table:
        """Rows in the stored schema, with commit time and sequence numbers of this write."""
        schema = self.spec.table.file_schema
        numbers = pc.cast(pa.array(range(len(rows)), pa.int64()), pa.string())
        prefix = f"{self.spec.instant}_{attempt.task}-{attempt.stage}-{attempt.number}_"
        own = {
            COMMIT_TIME: pa.repeat(pa.scalar(str(self.spec.instant)), len(rows)),
            COMMIT_SEQNO: pc.binary_join_element_wise(pa.scalar(prefix), numbers, ""),
            RECORD_KEY: rows.column(RECORD_KEY),
            PARTITION_PATH: rows.column(PARTITION_PATH),
        }
        columns = [
            own[field.name]
            if field.name in own
            else rows.column(field.name)
            if field.name in rows.schema.names
            else pa.nulls(len(rows), field.type)
            for field in schema
        ]
        return pa.table(columns, schema=schema)


@dataclass(frozen=True, kw_only=True)
class CompactSlice:
    """Compaction of one slice: base file and logs become the next base file."""

    spec: WriteSpec
    slice: FileSlice

    def run(self, attempt: Attempt) -> WrittenFile:
        """Write the base file; rows keep the commit times they have."""
        started = stopwatch()
        table = self.spec.table
        changes = read_changes(table, self.slice.logs, table.file_schema)
        rows = merged_rows(table, self.slice, changes, table.file_schema)
        content = write_base_file(
            self.spec,
            self.slice.partition_path,
            self.slice.file_id,
            attempt.token(self.spec.salt),
            rows,
            MarkerKind.CREATE,
        )
        target = Target(partition_path=self.slice.partition_path, file_id=self.slice.file_id, slice=self.slice)
        stat = replace(
            _base_stat(target, content, previous=self.slice),
            log_files_compacted=len(self.slice.logs),
            log_bytes_compacted=sum(log.size for log in self.slice.logs),
        )
        return _timed(WrittenFile(stat=stat, ranges=content.ranges), started)


@dataclass(frozen=True, kw_only=True)
class KeyScan:
    """The record keys of a file group, for the simple index."""

    table: TableSpec
    slice: FileSlice

    def run(self, attempt: Attempt) -> pa.ChunkedArray:
        """Keys of the slice."""
        del attempt
        return read_keys(self.table, self.slice)


def _key_deletes(rows: pa.Table) -> Deletes:
    """Deletes that win over whatever the file holds."""
    count = len(rows)
    return Deletes(
        keys=_single(rows.column(RECORD_KEY)),
        ordering=pa.nulls(count, pa.int32()),
        is_default=np.ones(count, np.bool_),
    )


def _base_stat(
    target: Target,
    content: BaseFileContent,
    *,
    previous: FileSlice | None,
    updates: int = 0,
    inserts: int = 0,
    deletes: int = 0,
) -> WriteStat:
    base = previous.base if previous else None
    return WriteStat(
        file_id=target.file_id,
        path=content.path,
        partition_path=target.partition_path,
        previous_commit=str(previous.base_instant) if previous else NO_PREVIOUS_COMMIT,
        writes=content.rows,
        updates=updates,
        inserts=inserts,
        deletes=deletes,
        bytes_written=content.size,
        file_size=content.size,
        previous_base_file=str(base.name) if base else None,
    )


def _with_counts(written: WrittenFile, *, updates: int = 0, deletes: int = 0) -> WrittenFile:
    return replace(written, stat=replace(written.stat, updates=updates, deletes=deletes))


def _timed(written: WrittenFile, started: float) -> WrittenFile:
    elapsed = int((stopwatch() - started) * 1000)
    new = written.stat.previous_commit == NO_PREVIOUS_COMMIT
    stat = replace(written.stat, create_ms=elapsed) if new else replace(written.stat, upsert_ms=elapsed)
    return replace(written, stat=stat)


def _single(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined
