"""Instants: what the files of the timeline are called, and the times they carry."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NewType

from pyhudi.errors import InvalidRequest

RequestedTime = NewType("RequestedTime", str)
CompletionTime = NewType("CompletionTime", str)

INIT_INSTANT = RequestedTime("00000000000000")
SOLO_INSTANT_PREFIX = "00000000000000"
INSTANT_DIGITS = 17


class Action(StrEnum):
    """What an instant does; the word stands in its file names."""

    COMMIT = "commit"
    DELTA_COMMIT = "deltacommit"
    COMPACTION = "compaction"
    LOG_COMPACTION = "logcompaction"
    REPLACE_COMMIT = "replacecommit"
    CLUSTERING = "clustering"
    CLEAN = "clean"
    ROLLBACK = "rollback"
    RESTORE = "restore"
    SAVEPOINT = "savepoint"
    INDEXING = "indexing"

    @property
    def completed_as(self) -> Action:
        """The word in the completed file: a compaction completes as a commit, and so on."""
        return _COMPLETED_AS.get(self, self)


_COMPLETED_AS = {
    Action.COMPACTION: Action.COMMIT,
    Action.LOG_COMPACTION: Action.DELTA_COMMIT,
    Action.CLUSTERING: Action.REPLACE_COMMIT,
}

WRITES = frozenset({Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT})
"""Completed actions that add files which readers see."""

INGESTS = frozenset({Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT})
"""Pending actions that are failed writes when their writer is gone; pending table services wait to be run again."""


class State(IntEnum):
    """How far an instant has come; only forward."""

    REQUESTED = 0
    INFLIGHT = 1
    COMPLETED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """One action at one requested time, in the furthest state the timeline holds."""

    requested_time: RequestedTime
    action: Action
    state: State
    completion_time: CompletionTime | None = None

    @property
    def completed(self) -> bool:
        """True once its completed file exists."""
        return self.state is State.COMPLETED

    def __str__(self) -> str:
        return f"{self.requested_time}.{self.action}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstantFile:
    """A file in the timeline's folder, taken apart."""

    requested_time: RequestedTime
    action: Action
    state: State
    completion_time: CompletionTime | None


_WORDS = frozenset(Action)
_NAME = re.compile(r"(\d+)(?:_(\d+))?\.(\w+)(?:\.(requested|inflight))?")


def parse_file_name(name: str) -> InstantFile | None:
    """What a name in the timeline's folder says; None for files that are no instants (temporary or foreign ones)."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    requested, completion, word, suffix = match.groups()
    if word == "inflight" and suffix is None and completion is None:
        return InstantFile(
            requested_time=RequestedTime(requested), action=Action.COMMIT, state=State.INFLIGHT, completion_time=None
        )
    if word not in _WORDS or (suffix and completion):
        return None
    state = State.COMPLETED if suffix is None else State[suffix.upper()]
    return InstantFile(
        requested_time=RequestedTime(requested),
        action=Action(word),
        state=state,
        completion_time=CompletionTime(completion) if completion else None,
    )


def requested_name(requested_time: RequestedTime, action: Action) -> str:
    """Name of the requested file."""
    return f"{requested_time}.{action}.requested"


def inflight_name(requested_time: RequestedTime, action: Action) -> str:
    """Name of the inflight file; a commit's carries no action word."""
    return f"{requested_time}.inflight" if action is Action.COMMIT else f"{requested_time}.{action}.inflight"


def completed_name(requested_time: RequestedTime, completion_time: CompletionTime, action: Action) -> str:
    """Name of the completed file in timeline layout 2."""
    return f"{requested_time}_{completion_time}.{action.completed_as}"


_EPOCH = datetime.datetime(1970, 1, 1)


def print_time(epoch_ms: int) -> str:
    """Milliseconds since the epoch (already shifted into the table's zone) as an instant time of 17 digits."""
    moment = _EPOCH + datetime.timedelta(milliseconds=epoch_ms)
    return f"{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}"


def parse_time(text: str) -> int:
    """Milliseconds since the epoch, in the table's zone; 14-digit times of old tables mean the end of their second."""
    padded = text + "999" if len(text) == 14 else text[:INSTANT_DIGITS]
    if len(padded) != INSTANT_DIGITS or not padded.isdigit():
        raise InvalidRequest(f"{text!r} is no instant time; write it as yyyyMMddHHmmssSSS")
    try:
        moment = datetime.datetime.strptime(padded[:14], "%Y%m%d%H%M%S")
    except ValueError as problem:
        raise InvalidRequest(f"{text!r} is no instant time: {problem}") from problem
    return int((moment - _EPOCH).total_seconds()) * 1000 + int(padded[14:])
