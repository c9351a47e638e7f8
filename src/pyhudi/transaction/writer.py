"""One writer of one table: its lock, its heartbeats and its clock, and how it names instants."""

from __future__ import annotations

from collections.abc import Mapping

from pyhudi.clock import Machine
from pyhudi.configs import read_options
from pyhudi.errors import Conflict
from pyhudi.format.instant import CompletionTime, Instant, RequestedTime
from pyhudi.storage import Storage
from pyhudi.table.table import Table
from pyhudi.table.timeline import Timeline, next_time
from pyhudi.transaction.heartbeats import HeartbeatOptions, Heartbeats, Life, Verdict
from pyhudi.transaction.locks import LockOptions, TableLock


class Writer:
    """What a transaction needs besides the table."""

    def __init__(self, storage: Storage, machine: Machine, settings: Mapping[str, object]) -> None:
        self.storage = storage
        self.machine = machine
        self.lock = TableLock(storage, machine.clock, machine.ids, read_options(LockOptions, settings))
        self.unfinished: Instant | None = None
        """the instant that this writer has begun and neither completed nor undone"""
        self.heartbeats = Heartbeats(storage, machine.clock, machine.ids, read_options(HeartbeatOptions, settings))

    def table_time_ms(self, table: Table) -> int:
        """Now, shifted into the zone of the table's timeline."""
        now = self.machine.clock.now_ms()
        return now if table.properties.timeline_in_utc else now + self.machine.clock.local_offset_ms(now)

    def next_instant(self, table: Table, *others: Table) -> RequestedTime:
        """A time later than all that these timelines and the metadata table's hold; to be used under the lock only.

        The metadata table has instants of its own, and a clock may lag behind the one that made them.
        """
        metadata = () if table.metadata is None else (table.metadata.timeline,)
        return RequestedTime(self._next(table, *metadata, *(other.timeline for other in others)))

    def next_completion(self, table: Table, *others: Table) -> CompletionTime:
        """A completion time later than all that these timelines hold; to be used under the lock only."""
        return CompletionTime(self._next(table, *(other.timeline for other in others)))

    def salt(self) -> int:
        """A number for write tokens that no other attempt is likely to have."""
        return int(self.machine.ids.uuid()[:7], 16)

    def verdict(self, table: Table, instant: Instant) -> Verdict:
        """Whether whoever works on a pending instant lives."""
        found = table.storage.stat(table.timeline.path(instant))
        seen_ms = found.modified_ms if found is not None else self.machine.clock.now_ms()
        return self.heartbeats.judge(instant.requested_time, seen_ms)

    def refuse_if_alive(self, table: Table, instant: Instant) -> None:
        """Raise `Conflict` when somebody is at work on a pending table service; one just planned has no beat."""
        verdict = self.verdict(table, instant)
        if verdict.life is Life.ALIVE:
            raise Conflict(f"{instant} is being carried out by another writer ({verdict.reason}); wait for it")

    def _next(self, table: Table, *others: Timeline) -> str:
        newest = [timeline.newest_time() or "" for timeline in (table.timeline, *others)]
        return next_time(self.table_time_ms(table), max(newest) or None)
