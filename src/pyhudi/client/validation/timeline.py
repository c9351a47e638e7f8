"""R3: the files of the timeline's folder tell one consistent story."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pyhudi.client.validation.facts import Facts
from pyhudi.client.validation.finding import Finding, error, warning
from pyhudi.errors import InvalidRequest
from pyhudi.format.instant import (
    INGESTS,
    SOLO_INSTANT_PREFIX,
    WRITES,
    Action,
    InstantFile,
    RequestedTime,
    State,
    parse_file_name,
    parse_time,
    print_time,
)
from pyhudi.storage import joined

_RULE = "R3"
_TEMPORARY = re.compile(r".+\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|.+\.tmp")
_SKEW_MS = 5 * 60_000
_ZONES_DIFFER_MS = 26 * 3_600_000
_KEEP_ONE = "find out which of the files tell the truth, and remove the others by hand; no writer may work meanwhile"


def timeline_is_consistent(facts: Facts) -> Iterator[Finding]:
    """Names, states, times and their order."""
    files = []
    for info in facts.storage.list(facts.table.timeline.layout.active_folder).files:
        parsed = parse_file_name(info.name)
        if parsed is None:
            yield _no_instant(facts.at(info.path), info.name)
        else:
            files.append(parsed)
    for (time, action), states in _by_instant(files).items():
        where = facts.at(joined(facts.table.timeline.layout.active_folder, f"{time}.{action}"))
        yield from _states_fit(where, states)
        yield from _times_fit(facts, where, states)
    yield from _one_write_each(facts, files)


def nothing_is_unfinished(facts: Facts) -> Iterator[Finding]:
    """Pending writes and rollbacks: no fault while their writer lives, and mended by the next write if it does not."""
    for instant in facts.table.timeline.pending():
        if instant.action in INGESTS or instant.action is Action.ROLLBACK:
            yield warning(
                _RULE,
                str(instant),
                f"{instant.state.name.lower()} and not completed",
                "nothing if its writer is at work; if it died, the next write undoes it",
            )


def _by_instant(files: Iterable[InstantFile]) -> Mapping[tuple[RequestedTime, Action], list[InstantFile]]:
    found: dict[tuple[RequestedTime, Action], list[InstantFile]] = defaultdict(list)
    for file in files:
        found[file.requested_time, file.action.completed_as].append(file)
    return dict(sorted(found.items()))


def _no_instant(where: str, name: str) -> Finding:
    if _TEMPORARY.fullmatch(name):
        return error(
            _RULE, where, "a temporary file among the instants: a write was cut short", "remove it; Java trips over it"
        )
    return warning(_RULE, where, "its name is no instant's", "find out who put it there, and remove it")


def _states_fit(where: str, files: list[InstantFile]) -> Iterator[Finding]:
    """Every state is there once, and no earlier one is missing."""
    states = [file.state for file in files]
    if states.count(State.COMPLETED) > 1:
        times = " and ".join(str(file.completion_time) for file in files if file.state is State.COMPLETED)
        yield error(_RULE, where, f"completed more than once: at {times}", _KEEP_ONE)
    if State.COMPLETED in states and State.INFLIGHT not in states:
        yield error(_RULE, where, "completed without having been inflight", _KEEP_ONE)
    if State.REQUESTED not in states and files[0].action is not Action.SAVEPOINT:
        yield error(_RULE, where, "there is no requested file", _KEEP_ONE)


def _times_fit(facts: Facts, where: str, files: list[InstantFile]) -> Iterator[Finding]:
    """Times are times, completion comes after request, nothing comes from the future."""
    limit = _limit(facts)
    named = facts.table.timeline.layout.completed_name_has_completion_time
    for file in files:
        if file.state is State.COMPLETED and named and file.completion_time is None:
            yield error(_RULE, where, "its completed file has no completion time", _KEEP_ONE)
        if file.completion_time is not None and file.completion_time < file.requested_time:
            yield error(_RULE, where, f"completed at {file.completion_time}, before it was requested", _KEEP_ONE)
    for time in sorted({str(time) for file in files for time in (file.requested_time, file.completion_time) if time}):
        if not _is_time(time):
            yield error(_RULE, where, f"{time} is no time", _KEEP_ONE)
        elif time > limit:
            yield warning(
                _RULE,
                where,
                f"{time} lies in the future",
                "set the writers' clocks and zones; until then new instants come after it",
            )


def _limit(facts: Facts) -> str:
    tolerance = _SKEW_MS if facts.table.properties.timeline_in_utc else _ZONES_DIFFER_MS
    return print_time(facts.now_ms + tolerance)


def _is_time(text: str) -> bool:
    if text.startswith(SOLO_INSTANT_PREFIX):
        return True
    try:
        parse_time(text)
    except InvalidRequest:
        return False
    return True


def _one_write_each(facts: Facts, files: Iterable[InstantFile]) -> Iterator[Finding]:
    actions: dict[RequestedTime, set[Action]] = defaultdict(set)
    for file in files:
        if file.action.completed_as in WRITES:
            actions[file.requested_time].add(file.action.completed_as)
    for time, found in sorted(actions.items()):
        if len(found) > 1:
            where = facts.at(joined(facts.table.timeline.layout.active_folder, time))
            yield error(_RULE, where, f"two writes have this time: {' and '.join(sorted(found))}", _KEEP_ONE)
