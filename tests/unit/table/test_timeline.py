from __future__ import annotations

import pytest

from pyhudi.errors import InstantNotFound
from pyhudi.format.instant import Action, InstantFile, RequestedTime, State, parse_file_name
from pyhudi.format.version import LAYOUT_TWO
from pyhudi.table.timeline import Timeline, next_time
from pyhudi.testing.machine import SimClock
from pyhudi.testing.storage import MemoryStorage


def at(second: int) -> str:
    return f"202601010000{second:02d}000"


def timeline(*names: str, history: dict[str, str] | None = None) -> Timeline:
    files = [parse_file_name(name) for name in names]
    known: list[InstantFile] = [file for file in files if file is not None]
    past = {RequestedTime(time): completion for time, completion in (history or {}).items()}
    return Timeline.of(known, MemoryStorage(SimClock()), LAYOUT_TWO, lambda: past)  # type: ignore[arg-type, return-value]


def commit(second: int, done: int) -> list[str]:
    return [f"{at(second)}.commit.requested", f"{at(second)}.inflight", f"{at(second)}_{at(done)}.commit"]


def test_only_the_furthest_state_of_an_instant_counts() -> None:
    instants = timeline(*commit(1, 2), f"{at(3)}.deltacommit.requested").instants
    assert [(each.requested_time, each.state) for each in instants] == [
        (at(1), State.COMPLETED),
        (at(3), State.REQUESTED),
    ]


def test_a_completed_compaction_is_one_commit_and_known_as_a_service() -> None:
    line = timeline(f"{at(1)}.compaction.requested", f"{at(1)}.compaction.inflight", f"{at(1)}_{at(2)}.commit")
    assert [each.action for each in line.instants] == [Action.COMMIT]
    assert line.table_service_times == {at(1)}


def test_a_savepoint_stands_beside_the_commit_of_its_time() -> None:
    line = timeline(*commit(1, 2), f"{at(1)}.savepoint.inflight", f"{at(1)}_{at(3)}.savepoint")
    assert [each.action for each in line.instants] == [Action.COMMIT, Action.SAVEPOINT]
    found = line.find(at(1))
    assert found is not None and found.action is Action.COMMIT


def test_files_count_when_their_instant_completed_or_was_archived() -> None:
    line = timeline(*commit(5, 6), f"{at(7)}.deltacommit.requested")
    assert line.is_committed(RequestedTime(at(5)))
    assert not line.is_committed(RequestedTime(at(7)))
    assert not line.is_committed(RequestedTime(at(6)))
    assert line.is_committed(RequestedTime(at(4)))


def test_a_pending_instant_is_never_taken_for_archived() -> None:
    line = timeline(f"{at(1)}.deltacommit.requested", *commit(5, 6))
    assert not line.is_committed(RequestedTime(at(1)))


def test_completion_times_come_from_the_name_then_the_history_then_the_time_itself() -> None:
    line = timeline(*commit(5, 9), history={at(1): at(4)})
    assert line.completion_time(RequestedTime(at(5))) == at(9)
    assert line.completion_time(RequestedTime(at(1))) == at(4)
    assert line.completion_time(RequestedTime(at(0))) == at(0)


def test_a_pending_instant_has_no_completed_file() -> None:
    line = timeline(f"{at(1)}.commit.requested")
    with pytest.raises(InstantNotFound):
        line.path(line.instants[0], State.COMPLETED)


def test_new_times_are_later_than_everything() -> None:
    assert next_time(0, None) == "19700101000000000"
    assert next_time(1000, "19700101000000999") == "19700101000001000"
    assert next_time(1000, "19700101000059999") == "19700101000100000"
    assert timeline(*commit(5, 9)).newest_time() == at(9)
