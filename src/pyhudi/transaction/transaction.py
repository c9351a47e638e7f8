"""How the timeline moves: an instant is requested, goes inflight and completes, or is undone.

    nothing ── begin ──> REQUESTED ── start ──> INFLIGHT ── complete ──> COMPLETED
                            │                      │
                            └────── undo ──────────┴──> nothing (see `undo`)

Every step creates one file if it is absent and leaves the earlier ones in place. Completion happens under the table's
lock, first on the metadata table, then on the data table: until the second, readers do not count the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from pyhudi.errors import Conflict, FileExists, LeaseLost, StorageError, UnknownOutcome
from pyhudi.file_group.writer import WrittenFile
from pyhudi.format.instant import (
    Action,
    Instant,
    RequestedTime,
    State,
    completed_name,
    inflight_name,
    requested_name,
)
from pyhudi.format.metadata import CommitMetadata
from pyhudi.storage import joined
from pyhudi.table.table import Table
from pyhudi.transaction.conflicts import conflict_between
from pyhudi.transaction.markers import delete_markers
from pyhudi.transaction.metadata_writer import commit_to_metadata
from pyhudi.transaction.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """One instant of ours on the way to completion. `table` is the reading that the work rests on."""

    table: Table
    writer: Writer
    instant: Instant

    @classmethod
    def begin(
        cls,
        table: Table,
        writer: Writer,
        action: Action,
        plan: bytes = b"",
        still_true: Callable[[Table], None] = lambda current: None,
    ) -> Transaction:
        """Request a new instant, later than all there are; the plan is the requested file's content.

        `still_true` is handed the table as it stands under the lock and raises when the plan rests on what has changed.
        """
        with writer.lock.held(f"begin {action}"):
            current = table.reload()
            still_true(current)
            time = writer.next_instant(current)
            writer.heartbeats.start(time)
            instant = Instant(requested_time=time, action=action, state=State.REQUESTED)
            writer.unfinished = instant
            path = joined(current.timeline.layout.active_folder, requested_name(time, action))
            current.storage.create(path, plan)
        return cls(table=table, writer=writer, instant=instant)

    @classmethod
    def resume(cls, table: Table, writer: Writer, instant: Instant) -> Transaction:
        """Take up an instant that was requested earlier, by a plan."""
        writer.heartbeats.start(instant.requested_time)
        writer.unfinished = instant
        return cls(table=table, writer=writer, instant=instant)

    @property
    def time(self) -> RequestedTime:
        """The requested time."""
        return self.instant.requested_time

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Beat while the work goes on, so that nobody takes this writer for dead."""
        beating = self.writer.heartbeats.keep_beating(self.time)
        try:
            yield
        finally:
            beating.stop()

    def start(self, content: bytes = b"") -> None:
        """Go inflight; after this, files may be written."""
        name = inflight_name(self.time, self.instant.action)
        self.table.storage.create(joined(self.table.timeline.layout.active_folder, name), content)

    def complete(self, commit: CommitMetadata, written: Sequence[WrittenFile]) -> Instant:
        """Commit, on the metadata table, then on the table. Raises `Conflict` or `LeaseLost` before anything shows."""
        writer = self.writer
        with writer.lock.held(f"complete {self.instant}"):
            current = self.table.reload()
            self._check_alive(current)
            self._check_conflicts(current, commit)
            if current.metadata is not None:
                commit_to_metadata(current, writer, self.time, commit, written)
            self._check_alive(current)
            completion = writer.next_completion(current)
            name = completed_name(self.time, completion, self.instant.action)
            self._create_completed(joined(current.timeline.layout.active_folder, name), commit.to_bytes())
        writer.unfinished = None
        with suppress(StorageError):  # the commit stands; what is left beside the timeline does no harm
            self.forget()
        return Instant(
            requested_time=self.time,
            action=self.instant.action.completed_as,
            state=State.COMPLETED,
            completion_time=completion,
        )

    def forget(self) -> None:
        """Remove what an instant leaves beside the timeline: markers, heartbeat, owner record."""
        delete_markers(self.table.storage, self.time)
        self.writer.heartbeats.stop(self.time)

    def _check_alive(self, current: Table) -> None:
        """We must still hold the lock and the instant, or somebody has taken us for dead."""
        known = current.timeline.find(self.time)
        if known is None or known.completed:
            raise LeaseLost(f"instant {self.instant} was undone by another writer; nothing was committed, start again")
        if not self.writer.lock.still_held():
            raise LeaseLost(
                f"the table's lock was taken away during {self.instant}; nothing was committed, start again"
            )
        self.writer.heartbeats.check(self.time)

    def _check_conflicts(self, current: Table, commit: CommitMetadata) -> None:
        known = {each.requested_time for each in self.table.timeline.completed_writes()}
        for other in current.timeline.completed_writes():
            if other.requested_time in known:
                continue
            reason = conflict_between(commit, self.instant, current.timeline.commit_metadata(other), other)
            if reason is not None:
                raise Conflict(f"{self.instant} cannot be committed: {reason}. Read the table again and retry")

    def _create_completed(self, path: str, content: bytes) -> None:
        storage = self.table.storage
        try:
            storage.create(path, content)
        except FileExists as problem:
            raise UnknownOutcome(f"{path} exists already; look at the timeline before retrying") from problem
        except StorageError as problem:
            if not self._is_there(path, len(content)):
                raise StorageError(f"{path} was not created and nothing was committed: {problem}") from problem

    def _is_there(self, path: str, size: int) -> bool:
        """Look again after an error that may hide a success."""
        unknown = f"{path} may or may not have been created; look at the timeline before retrying"
        try:
            applied = self.table.storage.stat(path)
        except StorageError as problem:
            raise UnknownOutcome(f"{unknown}: {problem}") from problem
        if applied is not None and applied.size != size:
            raise UnknownOutcome(f"{unknown}: it holds {applied.size} bytes instead of {size}")
        return applied is not None


def summary(commit: CommitMetadata) -> Mapping[str, int]:
    """Row counts over all files of a commit."""
    return {
        "inserted": sum(stat.inserts if not stat.is_log else 0 for stat in commit.stats),
        "updated": sum(stat.updates for stat in commit.stats),
        "deleted": sum(stat.deletes for stat in commit.stats),
    }
