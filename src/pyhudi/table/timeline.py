"""The timeline of a table: instants in order, their states and completion times, active and archived."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pyhudi.errors import InstantNotFound
from pyhudi.format.instant import (
    WRITES,
    Action,
    CompletionTime,
    Instant,
    InstantFile,
    RequestedTime,
    State,
    completed_name,
    inflight_name,
    parse_file_name,
    parse_time,
    print_time,
    requested_name,
)
from pyhudi.format.metadata import CommitMetadata, CompactionPlan
from pyhudi.format.version import TimelineLayout
from pyhudi.storage import Storage, joined

History: TypeAlias = Callable[[], Mapping[RequestedTime, CompletionTime]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Timeline:
    """One reading of the timeline's folder. Instants are sorted by requested time, one per time and action."""

    instants: tuple[Instant, ...]
    table_service_times: frozenset[RequestedTime]
    layout: TimelineLayout
    storage: Storage
    history: History

    @classmethod
    def load(cls, storage: Storage, layout: TimelineLayout, history: History) -> Timeline:
        """One listing; the archived part is read only when somebody asks for it."""
        files = [parse_file_name(info.name) for info in storage.list(layout.active_folder).files]
        return cls.of([file for file in files if file is not None], storage, layout, history)

    @classmethod
    def of(cls, files: Iterable[InstantFile], storage: Storage, layout: TimelineLayout, history: History) -> Timeline:
        """Instants from their files: the furthest state of each time and action counts."""
        furthest: dict[tuple[RequestedTime, Action], InstantFile] = {}
        services: set[RequestedTime] = set()
        for file in files:
            key = (file.requested_time, file.action.completed_as)
            known = furthest.get(key)
            if known is None or file.state > known.state:
                furthest[key] = file
            if file.action.completed_as is not file.action:
                services.add(file.requested_time)
        instants = sorted(
            (
                Instant(
                    requested_time=file.requested_time,
                    action=file.action,
                    state=file.state,
                    completion_time=file.completion_time,
                )
                for file in furthest.values()
            ),
            key=lambda instant: (instant.requested_time, instant.action),
        )
        return cls(
            instants=tuple(instants),
            table_service_times=frozenset(services),
            layout=layout,
            storage=storage,
            history=history,
        )

    def completed(self, *actions: Action) -> list[Instant]:
        """Completed instants of these actions, or of all."""
        return [each for each in self.instants if each.completed and (not actions or each.action in actions)]

    def completed_writes(self) -> list[Instant]:
        """Completed commits, deltacommits and replacecommits."""
        return [each for each in self.instants if each.completed and each.action in WRITES]

    def pending(self, *actions: Action) -> list[Instant]:
        """Requested or inflight instants of these actions, or of all."""
        return [each for each in self.instants if not each.completed and (not actions or each.action in actions)]

    def find(self, requested_time: str) -> Instant | None:
        """The instant of that requested time that is not a savepoint."""
        for instant in self.instants:
            if instant.requested_time == requested_time and instant.action is not Action.SAVEPOINT:
                return instant
        return None

    @functools.cached_property
    def start(self) -> RequestedTime | None:
        """The earliest instant of a write or table service still active; what lies before it is archived."""
        times = [each.requested_time for each in self.instants if each.action.completed_as in WRITES]
        return min(times) if times else None

    def is_committed(self, requested_time: RequestedTime) -> bool:
        """True when files that carry this time count: completed here, or archived."""
        state = self._states.get(requested_time)
        if state is not None:
            return state is State.COMPLETED
        return self.start is None or requested_time < self.start

    def completion_time(self, requested_time: RequestedTime) -> CompletionTime:
        """When a committed instant completed; for a time the history does not know, the requested time itself."""
        known = self._completions.get(requested_time)
        if known is not None:
            return known
        return self.history().get(requested_time, CompletionTime(requested_time))

    @functools.cached_property
    def _states(self) -> Mapping[RequestedTime, State]:
        writes = [each for each in self.instants if each.action.completed_as in WRITES]
        return {instant.requested_time: instant.state for instant in writes}

    @functools.cached_property
    def _completions(self) -> Mapping[RequestedTime, CompletionTime]:
        return {
            instant.requested_time: instant.completion_time
            for instant in self.instants
            if instant.completion_time is not None and instant.action in WRITES
        }

    def newest_time(self) -> str | None:
        """The largest requested or completion time on the active timeline."""
        times = [str(each.completion_time or each.requested_time) for each in self.instants]
        times += [str(each.requested_time) for each in self.instants]
        return max(times) if times else None

    def path(self, instant: Instant, state: State | None = None) -> str:
        """Where an instant's file of a state (its own, if none is given) lies."""
        wanted = instant.state if state is None else state
        if wanted is State.REQUESTED:
            name = requested_name(instant.requested_time, instant.action)
        elif wanted is State.INFLIGHT:
            name = inflight_name(instant.requested_time, instant.action)
        else:
            completion = instant.completion_time
            if completion is None:
                raise InstantNotFound(f"{instant} has not completed, so it has no completed file")
            name = completed_name(instant.requested_time, completion, instant.action)
        return joined(self.layout.active_folder, name)

    def commit_metadata(self, instant: Instant) -> CommitMetadata:
        """What a completed write says."""
        path = self.path(instant)
        return CommitMetadata.from_bytes(self.storage.read(path), path)

    def compaction_plan(self, instant: Instant) -> CompactionPlan:
        """The plan of a pending compaction."""
        path = self.path(instant, State.REQUESTED)
        return CompactionPlan.from_bytes(self.storage.read(path), path)


def next_time(now_ms: int, newest: str | None) -> str:
    """The time for a new instant: now, but later than everything the timeline holds."""
    now = print_time(now_ms)
    if newest is None or now > newest:
        return now
    return print_time(parse_time(newest) + 1)
