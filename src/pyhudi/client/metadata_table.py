"""Services on the table inside the table: the metadata table is compacted every so many delta commits."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.configs import setting
from pyhudi.engine.base import Engine
from pyhudi.file_group.metadata_tasks import CompactMetadataSlice
from pyhudi.format.file_names import parse_data_file
from pyhudi.format.instant import (
    Action,
    Instant,
    RequestedTime,
    State,
    completed_name,
    inflight_name,
    requested_name,
)
from pyhudi.format.metadata import CommitMetadata, CompactionPlan
from pyhudi.format.metadata.commit import SCHEMA_KEY
from pyhudi.format.metadata_records import metadata_commit_schema_text
from pyhudi.services import compaction
from pyhudi.storage import joined
from pyhudi.table.table import Table
from pyhudi.table.timeline import Timeline
from pyhudi.transaction.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataTableOptions:
    """How the metadata table is kept."""

    compact_after: int = setting(
        "hoodie.metadata.compact.max.delta.commits", 10, "Delta commits of the metadata table between two compactions."
    )


def compact_if_due(table: Table, writer: Writer, engine: Engine, options: MetadataTableOptions) -> Instant | None:
    """Compact the metadata table when enough delta commits have come together; finish a compaction that died."""
    if table.metadata is None or not _is_due(table.metadata.timeline, options):
        return None
    with writer.lock.held("compact the metadata table"):
        current = table.reload()
        if current.metadata is None or not _is_due(current.metadata.timeline, options) or _uncertain(current):
            return None
        inner = Table.load(current.metadata.storage)
        _drop_dead_attempts(inner)
        return _compact(current, Table.load(inner.storage), writer, engine)


def _is_due(timeline: Timeline, options: MetadataTableOptions) -> bool:
    """Pending compactions are always due: nobody else will finish them."""
    if timeline.pending(Action.COMPACTION):
        return True
    compacted = [each.requested_time for each in timeline.completed(Action.COMMIT)]
    newest = max(compacted) if compacted else RequestedTime("")
    since = [each for each in timeline.completed(Action.DELTA_COMMIT) if str(each.completion_time) > newest]
    return len(since) >= options.compact_after


def _uncertain(table: Table) -> bool:
    """True while a data instant is pending whose delta commit is complete: it may still be undone."""
    metadata = table.metadata
    return metadata is not None and any(
        metadata.timeline.find(each.requested_time) is not None for each in table.timeline.pending()
    )


def _drop_dead_attempts(inner: Table) -> None:
    """We hold the lock, so a pending compaction is nobody's: its files go, and it is planned again."""
    for instant in inner.timeline.pending(Action.COMPACTION):
        for partition in inner.partitions():
            for info in inner.storage.list(partition).files:
                name = parse_data_file(info.name)
                if name is not None and name.instant == instant.requested_time:
                    inner.storage.delete(info.path)
        for state in (State.INFLIGHT, State.REQUESTED):
            inner.storage.delete(inner.timeline.path(instant, state))


def _compact(table: Table, inner: Table, writer: Writer, engine: Engine) -> Instant:
    preview = compaction.plan(inner, compaction.CompactionOptions())
    storage, folder = inner.storage, inner.timeline.layout.active_folder
    time = writer.next_instant(table, inner)
    operations = tuple(compaction.operation_of(part) for part in preview.slices)
    plan = CompactionPlan(operations=operations)
    storage.create(joined(folder, requested_name(time, Action.COMPACTION)), plan.to_bytes())
    storage.create(joined(folder, inflight_name(time, Action.COMPACTION)), b"")
    now, salt = writer.machine.clock.now_ms(), writer.salt()
    tasks = [
        CompactMetadataSlice(storage=storage, instant=time, slice=part, created_ms=now, salt=salt)
        for part in preview.slices
    ]
    commit = CommitMetadata(
        operation="COMPACT",
        stats=tuple(engine.run(tasks)),
        extra={SCHEMA_KEY: metadata_commit_schema_text()},
        compacted=True,
    )
    completion = writer.next_completion(table, Table.load(storage))
    storage.create(joined(folder, completed_name(time, completion, Action.COMPACTION)), commit.to_bytes())
    return Instant(requested_time=time, action=Action.COMMIT, state=State.COMPLETED, completion_time=completion)
