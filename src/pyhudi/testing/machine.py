"""A machine that repeats itself: time that only moves when asked, ids from a seed, processes that die on command."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator

from pyhudi.clock import Owner


class Crash(BaseException):
    """The simulated death of a process; no handler in the house may catch it."""


class SimClock:
    """A clock whose every reading is one millisecond later, so that nothing rests on frozen time."""

    def __init__(self, start_ms: int = 1_700_000_000_000, zone_offset_ms: int = 0) -> None:
        self._now_ms = start_ms
        self._zone_offset_ms = zone_offset_ms

    def now_ms(self) -> int:
        self._now_ms += 1
        return self._now_ms

    def sleep_ms(self, duration_ms: int) -> None:
        self._now_ms += duration_ms

    def local_offset_ms(self, at_ms: int) -> int:
        return self._zone_offset_ms

    def every(self, interval_ms: int, work: Callable[[], None]) -> Never:
        """Nothing: within a simulated operation no interval ever passes."""
        return Never()


class Never:
    """Work that is due later than anything that is simulated."""

    def stop(self) -> None:
        """There is nothing to stop."""


class SimIds:
    """Ids of one simulated process, the same for the same seed; `other_process` makes its neighbours."""

    def __init__(self, seed: int = 0, host: str = "sim") -> None:
        self._start(seed, host, itertools.count(1), set())

    def uuid(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._seed}/{self._pid}/{next(self._numbers)}"))

    def owner(self) -> Owner:
        return self._owner

    def is_dead(self, owner: Owner) -> bool:
        return owner.host == self._owner.host and owner in self._dead

    def kill(self, owner: Owner) -> None:
        """From now on that process is provably dead to all on its host."""
        self._dead.add(owner)

    def deaths(self) -> int:
        """How many processes have died."""
        return len(self._dead)

    def other_process(self, host: str | None = None) -> SimIds:
        """The ids of another process of the same simulation."""
        other = SimIds.__new__(SimIds)
        other._start(self._seed, host or self._owner.host, self._pids, self._dead)
        return other

    def _start(self, seed: int, host: str, pids: Iterator[int], dead: set[Owner]) -> None:
        self._seed, self._pids, self._dead = seed, pids, dead
        self._pid = next(pids)
        self._numbers = itertools.count()
        self._owner = Owner(host=host, pid=self._pid, started=1, token=self.uuid())
