"""Who works on an instant, and does it live? Hudi's heartbeat file, whose time is the beat, and our owner record.

Heartbeats speak of unfinished instants only: a completed instant has none. So whoever acts on a verdict reads the
timeline again after it and leaves alone what has been completed since.
"""

from __future__ import annotations

import enum
import json
from dataclasses import asdict, dataclass

from pyhudi.clock import Clock, Ids, Owner, Repetition
from pyhudi.configs import setting
from pyhudi.errors import FileMissing, LeaseLost, StorageError
from pyhudi.storage import Storage

HEARTBEAT_FOLDER = ".hoodie/.heartbeat"
OWNER_FOLDER = ".hoodie/.pyhudi/owners"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatOptions:
    """How often a writer shows that it lives, and how long it is believed to; all writers must agree."""

    interval_ms: int = setting("hoodie.client.heartbeat.interval_in_ms", 60_000, "Time between two heartbeats.")
    misses: int = setting(
        "hoodie.client.heartbeat.tolerable.misses", 2, "After this many intervals without a beat a writer is dead."
    )

    @property
    def expiry_ms(self) -> int:
        """A heartbeat older than this has expired."""
        return self.interval_ms * self.misses


class Life(enum.Enum):
    """Whether the writer of an unfinished instant is at work; UNKNOWN is treated as alive."""

    ALIVE = enum.auto()
    DEAD = enum.auto()
    UNKNOWN = enum.auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judgement, with its reason for the log and for errors."""

    life: Life
    reason: str


class Heartbeats:
    """The heartbeats of one writer, and its judgement of other writers' instants."""

    def __init__(self, storage: Storage, clock: Clock, ids: Ids, options: HeartbeatOptions) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._options = options

    def start(self, instant: str) -> None:
        """Say who works on the instant, then beat for the first time; call it before the requested file is there."""
        self._storage.replace(_owner_path(instant), json.dumps(asdict(self._ids.owner())).encode())
        self.beat(instant)

    def beat(self, instant: str) -> None:
        """Show that the writer lives."""
        self._storage.replace(_heartbeat_path(instant), b"")

    def keep_beating(self, instant: str) -> Repetition:
        """Beat beside the work until stopped. A beat that fails is one missed; `check` sees if too many were."""

        def beat() -> None:
            try:
                self.beat(instant)
            except StorageError:
                return

        return self._clock.every(self._options.interval_ms, beat)

    def check(self, instant: str) -> None:
        """Raise `LeaseLost` if others may take this writer's instant for dead; to be called right before completing."""
        beat_ms = self._beat_ms(instant)
        owner = self._owner(instant)
        if owner == self._ids.owner() and beat_ms is not None and not self._expired(beat_ms):
            return
        raise LeaseLost(
            f"the heartbeat of instant {instant} in {self._storage.uri} is gone or older than "
            f"{self._options.expiry_ms} ms; others may have undone it and nothing was committed: start again"
        )

    def stop(self, instant: str) -> None:
        """No more work on the instant; also for the instant of another writer that has been undone."""
        self._storage.delete(_heartbeat_path(instant))
        self._storage.delete(_owner_path(instant))

    def judge(self, instant: str, seen_ms: int) -> Verdict:
        """Whether the writer of an unfinished instant lives; `seen_ms` is when its newest timeline file was written."""
        owner = self._owner(instant)
        if owner is not None and self._ids.is_dead(owner):
            return Verdict(life=Life.DEAD, reason=f"its writer, process {owner.pid} on {owner.host}, runs no more")
        beat_ms = self._beat_ms(instant)
        if beat_ms is not None:
            life = Life.DEAD if self._expired(beat_ms) else Life.ALIVE
            return Verdict(life=life, reason=f"its last heartbeat is {self._ago(beat_ms)}")
        life = Life.DEAD if self._expired(seen_ms) else Life.UNKNOWN
        return Verdict(life=life, reason=f"it has no heartbeat and was begun {self._ago(seen_ms)}")

    def _expired(self, at_ms: int) -> bool:
        return self._clock.now_ms() - at_ms > self._options.expiry_ms

    def _ago(self, at_ms: int) -> str:
        return f"{(self._clock.now_ms() - at_ms) / 1000:.1f} s old (expiry {self._options.expiry_ms / 1000:g} s)"

    def _beat_ms(self, instant: str) -> int | None:
        found = self._storage.stat(_heartbeat_path(instant))
        return None if found is None else found.modified_ms

    def _owner(self, instant: str) -> Owner | None:
        """The owner record; None if there is none, or none that can be read: it may be lost without harm."""
        try:
            fields = json.loads(self._storage.read(_owner_path(instant)))
            return Owner(
                host=str(fields["host"]),
                pid=int(fields["pid"]),
                started=int(fields["started"]),
                token=str(fields["token"]),
            )
        except (FileMissing, ValueError, KeyError, TypeError):
            return None


def _heartbeat_path(instant: str) -> str:
    return f"{HEARTBEAT_FOLDER}/{instant}"


def _owner_path(instant: str) -> str:
    return f"{OWNER_FOLDER}/{instant}.json"
