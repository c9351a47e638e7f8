from __future__ import annotations

import pytest

from pyhudi.errors import InvalidRequest
from pyhudi.format.instant import (
    Action,
    CompletionTime,
    RequestedTime,
    State,
    completed_name,
    inflight_name,
    parse_file_name,
    parse_time,
    print_time,
    requested_name,
)

T, C = RequestedTime("20261118212612103"), CompletionTime("20261118212613000")


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("state", State)
def test_names_of_every_action_and_state_read_back(action: Action, state: State) -> None:
    name = {
        State.REQUESTED: requested_name(T, action),
        State.INFLIGHT: inflight_name(T, action),
        State.COMPLETED: completed_name(T, C, action),
    }[state]
    parsed = parse_file_name(name)
    assert parsed is not None
    assert (parsed.requested_time, parsed.state) == (T, state)
    assert parsed.action == (action.completed_as if state is State.COMPLETED else action)
    assert parsed.completion_time == (C if state is State.COMPLETED else None)


def test_an_inflight_commit_has_no_action_in_its_name() -> None:
    assert inflight_name(T, Action.COMMIT) == f"{T}.inflight"


@pytest.mark.parametrize(
    "name",
    [
        "hoodie.properties",
        ".20261118212612103.commit.crc",
        "20261118212612103.commit.requested.9f1c",
        "20261118212612103_1.commit.requested",
        "20261118212612103.nonsense",
        "manifest_114.5d1b",
        "history",
    ],
)
def test_foreign_and_temporary_names_are_no_instants(name: str) -> None:
    assert parse_file_name(name) is None


@pytest.mark.parametrize("epoch_ms", [0, 1, 999, 1_700_000_000_123, 253_402_300_799_999])
def test_times_print_and_parse_back(epoch_ms: int) -> None:
    text = print_time(epoch_ms)
    assert len(text) == 17
    assert parse_time(text) == epoch_ms


def test_a_time_of_14_digits_means_the_end_of_its_second() -> None:
    assert parse_time("20240101000000") == parse_time("20240101000000999")


@pytest.mark.parametrize("text", ["", "yesterday", "2024", "20241399000000000", "2024010100000000x"])
def test_other_texts_are_refused_as_times(text: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_time(text)
