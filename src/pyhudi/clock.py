"""Time, ids and the identity of this process: the only place that asks the machine.

Everything below the doors is handed a `Clock` and `Ids`; the simulator hands in its own.
"""

from __future__ import annotations

import datetime
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

_ENDED = ("Z", "X")
"""Linux: killed, but not yet waited for by its parent."""


class Clock(Protocol):
    """Wall-clock time in milliseconds, and a way to wait."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def sleep_ms(self, duration_ms: int) -> None:
        """Wait that long."""
        ...

    def local_offset_ms(self, at_ms: int) -> int:
        """How far this machine's zone is ahead of UTC at that moment."""
        ...

    def every(self, interval_ms: int, work: Callable[[], None]) -> Repetition:
        """Call `work` again and again, beside what goes on here, until stopped."""
        ...


class Repetition(Protocol):
    """Work that is called again and again."""

    def stop(self) -> None:
        """Let the current call finish, then no more."""
        ...


class Ids(Protocol):
    """Names that nobody else makes."""

    def uuid(self) -> str:
        """A fresh UUID in its usual 36 characters."""
        ...

    def owner(self) -> Owner:
        """Who we are, to others that find our locks and unfinished instants."""
        ...

    def is_dead(self, owner: Owner) -> bool:
        """True only if that process provably runs no more (never for another host)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One process: host, pid and start time together are never reused; the token tells its writers apart."""

    host: str
    pid: int
    started: int
    token: str


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def sleep_ms(self, duration_ms: int) -> None:
        time.sleep(duration_ms / 1000)

    def local_offset_ms(self, at_ms: int) -> int:
        offset = datetime.datetime.fromtimestamp(at_ms / 1000).astimezone().utcoffset()
        return 0 if offset is None else int(offset.total_seconds() * 1000)

    def every(self, interval_ms: int, work: Callable[[], None]) -> Repetition:
        return Background(interval_ms, work)


class SystemIds:
    """Random ids, and this process's identity as the operating system tells it."""

    def __init__(self) -> None:
        self._token = uuid.uuid4().hex

    def uuid(self) -> str:
        return str(uuid.uuid4())

    def owner(self) -> Owner:
        pid = os.getpid()
        return Owner(host=socket.gethostname(), pid=pid, started=_process_state(pid)[1], token=self._token)

    def is_dead(self, owner: Owner) -> bool:
        if owner.host != socket.gethostname():
            return False
        try:
            os.kill(owner.pid, 0)
        except (ProcessLookupError, OverflowError):
            return True
        except PermissionError:
            pass  # somebody else's process; its start time tells whether it is the owner
        state, started = _process_state(owner.pid)
        reused = 0 not in (started, owner.started) and started != owner.started
        return state in _ENDED or reused


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A clock and ids, handed down together."""

    clock: Clock
    ids: Ids


def system_machine() -> Machine:
    """The real one."""
    return Machine(clock=SystemClock(), ids=SystemIds())


class Background:
    """Calls `work` every `interval_ms` on a thread of its own until stopped."""

    def __init__(self, interval_ms: int, work: Callable[[], None]) -> None:
        self._interval_s = interval_ms / 1000
        self._work = work
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let the current call finish, then no more."""
        self._stop.set()
        self._thread.join()

    def _loop(self) -> None:
        while not self._stop.wait(self._interval_s):
            self._work()


def stopwatch() -> float:
    """Seconds on a clock that only moves forward, for measuring durations."""
    return time.perf_counter()


def _process_state(pid: int) -> tuple[str, int]:
    """State letter and start (in clock ticks since boot) of a process; empty and 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            fields = stat.read().rsplit(b")", 1)[1].split()
        return fields[0].decode(), int(fields[19])
    except (OSError, IndexError, ValueError):
        return "", 0
