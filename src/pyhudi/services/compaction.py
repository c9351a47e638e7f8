"""Compaction: base files and the log files on them become new base files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyhudi.engine.base import Engine
from pyhudi.errors import InvalidRequest, PlanOutdated
from pyhudi.file_group.spec import FileLayout, TableSpec, WriteSpec
from pyhudi.file_group.tasks import CompactSlice
from pyhudi.format.file_names import FileId, parse_base_file, parse_log_file
from pyhudi.format.instant import Action, Instant, RequestedTime, State
from pyhudi.format.metadata import CommitMetadata, CompactionOperation, CompactionPlan
from pyhudi.format.metadata.commit import SCHEMA_KEY
from pyhudi.services import ServiceResult, TableService, plan_text
from pyhudi.table.slices import BaseFile, FileSlice, LogFile
from pyhudi.table.table import Table
from pyhudi.transaction.transaction import Transaction
from pyhudi.transaction.undo import undo_inflight_service
from pyhudi.transaction.writer import Writer

NAME = "compaction"

_MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionOptions:
    """Everything is compacted; there is nothing to choose yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPreview:
    """The slices that would become base files; `pending` is set when an earlier plan waits to be carried out."""

    slices: tuple[FileSlice, ...]
    pending: Instant | None
    why_nothing: str | None

    @property
    def service(self) -> str:
        return NAME

    @property
    def reason(self) -> str | None:
        return self.why_nothing

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "partition": part.partition_path,
                "file_id": part.file_id,
                "base_instant": part.base_instant,
                "log_files": len(part.logs),
                "log_bytes": sum(log.size for log in part.logs),
                "base_bytes": part.base.size if part.base else 0,
            }
            for part in self.slices
        ]

    def to_dict(self) -> dict[str, Any]:
        return {
            "service": NAME,
            "pending": str(self.pending.requested_time) if self.pending else None,
            "reason": self.why_nothing,
            "steps": [{**row, "files": list(part.paths)} for row, part in zip(self.rows(), self.slices, strict=True)],
        }

    def __str__(self) -> str:
        return plan_text(self, f"{NAME} scheduled at {self.pending.requested_time}" if self.pending else NAME)


def plan(table: Table, options: CompactionOptions) -> CompactionPreview:
    """All slices that have log files; a plan that is already on the timeline comes first."""
    del options
    if not table.properties.is_merge_on_read:
        raise InvalidRequest(f"table at {table.storage.uri} is COPY_ON_WRITE: it has no log files to compact")
    waiting = table.timeline.pending(Action.COMPACTION)
    if waiting:
        operations = table.timeline.compaction_plan(waiting[0]).operations
        sizes = table.files({operation.partition_path for operation in operations})
        slices = tuple(_slice_of(operation, sizes) for operation in operations)
        return CompactionPreview(slices=slices, pending=waiting[0], why_nothing=None)
    slices = tuple(part for part in table.slices(table.partitions()) if part.logs)
    reason = None if slices else "no file slice has log files: every change is in a base file already"
    return CompactionPreview(slices=slices, pending=None, why_nothing=reason)


def execute(preview: CompactionPreview, table: Table, spec: TableSpec, engine: Engine, writer: Writer) -> ServiceResult:
    """Carry out exactly this plan, or raise `PlanOutdated` when a file it rests on has changed."""
    if not preview.slices and preview.pending is None:
        return ServiceResult(service=NAME, instant=None, reason=preview.why_nothing, counts={})
    if preview.pending is None:
        operations = tuple(operation_of(part) for part in preview.slices)
        transaction = Transaction.begin(
            table,
            writer,
            Action.COMPACTION,
            CompactionPlan(operations=operations).to_bytes(),
            still_true=lambda current: check_unchanged(preview, current),
        )
    else:
        transaction = _resumed(preview.pending, table, writer)
    with transaction.alive():
        transaction.start()
        write = WriteSpec(
            table=spec,
            instant=transaction.time,
            indexed_columns=table.indexed_columns,
            layout=FileLayout(),
            salt=writer.salt(),
        )
        written = engine.run([CompactSlice(spec=write, slice=part) for part in preview.slices])
        commit = CommitMetadata(
            operation="COMPACT",
            stats=tuple(file.stat for file in written),
            extra={SCHEMA_KEY: spec.schema_text},
            compacted=True,
        )
        instant = transaction.complete(commit, written)
    return ServiceResult(
        service=NAME,
        instant=instant,
        reason=None,
        counts={"file_groups": len(written), "log_files": sum(len(part.logs) for part in preview.slices)},
        files=tuple(file.stat.path for file in written),
    )


def check_unchanged(preview: CompactionPreview, current: Table) -> None:
    """A log file completed since the plan would be lost between two slices, so the plan must still be exact."""
    now = {(part.partition_path, part.file_id): part for part in current.slices(_partitions(preview.slices))}
    for part in preview.slices:
        found = now.get((part.partition_path, part.file_id))
        if found is None or found.paths != part.paths:
            changed = sorted(set(found.paths if found else ()) ^ set(part.paths))
            raise PlanOutdated(f"compaction plan is out of date: {', '.join(changed)} changed since. Plan again")
    if current.timeline.pending(Action.COMPACTION):
        raise PlanOutdated("another compaction has been scheduled since the plan was made. Plan again")


def _resumed(pending: Instant, table: Table, writer: Writer) -> Transaction:
    """Take up a scheduled compaction; what an earlier, dead attempt left of it goes first."""
    with writer.lock.held(f"resume {pending}"):
        current = table.reload()
        known = current.timeline.find(pending.requested_time)
        if known is None or known.completed:
            raise PlanOutdated(f"{pending} was finished or undone by another writer. Plan again")
        writer.refuse_if_alive(current, known)
        if known.state is State.INFLIGHT:
            undo_inflight_service(current, known)
        return Transaction.resume(table, writer, known)


def operation_of(part: FileSlice) -> CompactionOperation:
    """A slice as a plan on the timeline names it."""
    log_bytes = sum(log.size for log in part.logs)
    base_bytes = part.base.size if part.base else 0
    read, write = (base_bytes + log_bytes) / _MEGABYTE, (base_bytes or log_bytes) / _MEGABYTE
    metrics = {
        "TOTAL_LOG_FILES": float(len(part.logs)),
        "TOTAL_IO_READ_MB": read,
        "TOTAL_LOG_FILES_SIZE": float(log_bytes),
        "TOTAL_IO_WRITE_MB": write,
        "TOTAL_IO_MB": read + write,
    }
    return CompactionOperation(
        partition_path=part.partition_path,
        file_id=part.file_id,
        base_instant=part.base_instant,
        data_file=str(part.base.name) if part.base else None,
        log_files=tuple(str(log.name) for log in part.logs),
        metrics=metrics,
    )


def _slice_of(operation: CompactionOperation, sizes: Mapping[str, Mapping[str, int]]) -> FileSlice:
    """The slice that a plan on the timeline names."""
    path = operation.partition_path
    known = sizes.get(path, {})
    base = parse_base_file(operation.data_file) if operation.data_file else None
    logs: Sequence[Any] = [parse_log_file(name) for name in operation.log_files]
    missing = [name for name in (operation.data_file, *operation.log_files) if name and name not in known]
    if missing:
        raise PlanOutdated(f"pending compaction names {missing[0]}, which the table does not list; validate the table")
    return FileSlice(
        partition_path=path,
        file_id=FileId(operation.file_id),
        base_instant=RequestedTime(operation.base_instant),
        base=BaseFile(partition_path=path, name=base, size=known[str(base)]) if base else None,
        logs=tuple(LogFile(partition_path=path, name=log, size=known[str(log)]) for log in logs),
    )


def _partitions(slices: Sequence[FileSlice]) -> set[str]:
    return {part.partition_path for part in slices}


SERVICE = TableService(name=NAME, options=CompactionOptions, plan=plan, execute=execute)
