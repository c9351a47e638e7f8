"""Every crash point of every operation: reading, recovery, ageing; never a wrong row, never a table left unsound."""

from dataclasses import dataclass

import pytest

from pyhudi.testing.machine import Crash
from pyhudi.testing.storage import Call, Fault, Mode
from tests.simulation.scenes import (
    KINDS,
    STEPS,
    Kind,
    Step,
    Story,
    row,
    rows_after,
    rows_now,
    sample,
    story_before,
    write,
)

pytestmark = pytest.mark.simulate

STATES_PER_SCENE = 24
"""so many crash states of each operation and kind of table, chosen by the seed"""

NEXT = write("upsert", row("a", 8, 41), row("h", 1, 42), row("p", 8, 43))


@dataclass(frozen=True)
class Ways:
    """The crash points of one operation, those together that leave the same files."""

    points: list[Fault]
    distinct: list[Fault]


def ways_to_crash(trace: list[Call]) -> Ways:
    """Reading changes nothing, so a crash around it is one after the change before; a torn change leaves a scratch file."""
    points, distinct, seen = [], [], set()
    applied = 0
    for number, call in enumerate(trace):
        for mode in (Mode.BEFORE, Mode.TORN, Mode.AFTER):
            torn = number if mode is Mode.TORN and call.verb in ("create", "replace") else None
            state = (applied + (call.mutating and mode is Mode.AFTER), torn)
            points.append(Fault(number, mode))
            if state not in seen:
                seen.add(state)
                distinct.append(points[-1])
        applied += call.mutating
    return Ways(points, distinct)


def crash_and_live_on(before: Story, step: Step, fault: Fault) -> None:
    story = before.fork()
    victim = story.world.process(fault)
    with pytest.raises(Crash):
        step.act(victim)
    victim.die()

    found = rows_now(story)
    assert rows_now(story) == found, "two readings differ"
    if found == rows_after(before, step):
        step.apply(story.model)
        note_latest(story)
    else:
        assert found == rows_now(before), "neither the state before nor the one after"
        story.note_waiting_compaction()
    if found is None:
        story.take(STEPS["create"])
    story.take(NEXT)
    assert story.world.process().read() == story.model.snapshot()
    story.age()
    story.check()


def note_latest(story: Story) -> None:
    """The crashed operation had completed, though nobody was told of its instant."""
    for instant in story.world.process().client.table().timeline.completed_writes():
        story.versions.setdefault(instant.requested_time, story.model.snapshot())


SCENES = [
    pytest.param(name, kind, id=f"{name}-{kind}")
    for name in STEPS
    for kind in KINDS
    if kind.merge_on_read or name != "compaction"
]


@pytest.mark.parametrize(("name", "kind"), SCENES)
def test_a_crash_at_any_call_is_mended_by_the_next_write(name: str, kind: Kind):
    step = STEPS[name]
    before = story_before(step, kind)
    calm = before.fork()
    process = calm.world.process()
    calm.take(step, process)
    calm.age()
    calm.check()
    ways = ways_to_crash(process.plan.trace)
    chosen = sample(ways.distinct, STATES_PER_SCENE)
    for fault in chosen:
        try:
            crash_and_live_on(before, step, fault)
        except AssertionError as failure:
            call = process.plan.trace[fault.call]
            raise AssertionError(f"{name} on {kind}, {fault.mode.name} call {fault.call} ({call}): {failure}") from failure
    print(f"{name} on {kind}: {len(ways.points)} crash points, {len(ways.distinct)} states, {len(chosen)} tried: 0 wrong")
