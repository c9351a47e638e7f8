"""Every crash point of every operation: reading, recovery, ageing; never a wrong row, never a table left unsound."""

import time
from dataclasses import dataclass

import pytest

from pyhudi.testing.storage import Call, Fault, Mode
from tests.simulation.scenes import KINDS, STEPS, Kind, Step, Story, row, sample, story_before, tally, write

pytestmark = pytest.mark.simulate

STATES_PER_SCENE = 14
"""so many crash states of each operation and kind of table, evenly spread"""
DOUBLE_FAULTS_PER_SCENE = 4
LATE_WRITES_PER_SCENE = 4

NEXT = write("upsert", row("a", 8, 41), row("h", 1, 42), row("p", 8, 43))

SCENES = [
    pytest.param(name, kind, id=f"{name}-{kind}")
    for name in STEPS
    for kind in KINDS
    if kind.merge_on_read or name != "compaction"
]


@dataclass(frozen=True)
class Ways:
    """The crash points of one operation, and of those that leave the same files one."""

    points: list[Fault]
    distinct: list[Fault]


def ways_to_crash(trace: list[Call]) -> Ways:
    """Reading changes nothing: a crash around it is one after the change before. A torn change leaves a scratch."""
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


def calm_calls(before: Story, step: Step) -> list[Call]:
    """The calls of the step when nothing fails; the story goes well to its end, too."""
    story = before.fork()
    process = story.world.process()
    story.take(step, process)
    story.age()
    story.check()
    return process.plan.trace


def live_on(story: Story) -> None:
    story.take(NEXT)
    assert story.world.process().read() == story.model.snapshot()
    story.age()
    story.check()


@pytest.mark.parametrize(("name", "kind"), SCENES)
def test_a_crash_at_any_call_is_mended_by_the_next_write(name: str, kind: Kind):
    step = STEPS[name]
    before = story_before(step, kind)
    trace = calm_calls(before, step)
    ways = ways_to_crash(trace)
    chosen = sample(ways.distinct, STATES_PER_SCENE)
    started = time.perf_counter()
    for fault in chosen:
        story = before.fork()
        try:
            story.crash(step, fault)
            live_on(story)
        except AssertionError as failure:
            raise AssertionError(f"{name} on {kind}, {fault} ({trace[fault.call]}): {failure}") from failure
    tally("crash states", len(chosen), started)
    print(
        f"{name} on {kind}: {len(ways.points)} crash points, {len(ways.distinct)} states, {len(chosen)} tried: 0 wrong"
    )


@pytest.mark.parametrize(("name", "kind"), SCENES)
def test_a_crash_while_recovering_from_a_crash_is_mended_as_well(name: str, kind: Kind):
    step = STEPS[name]
    before = story_before(step, kind)
    first = ways_to_crash(calm_calls(before, step)).distinct
    second = [Fault(call, mode) for call in range(100) for mode in (Mode.TORN, Mode.AFTER)]
    pairs = [(one, other) for one in first for other in second]
    chosen = sample(pairs, DOUBLE_FAULTS_PER_SCENE, at_full_size=100)
    started = time.perf_counter()
    for one, other in chosen:
        story = before.fork()
        try:
            story.crash(step, one)
            story.crash(NEXT, other)
            live_on(story)
        except AssertionError as failure:
            raise AssertionError(f"{name} on {kind}, {one}, then {other}: {failure}") from failure
    tally("double faults", len(chosen), started)
    print(f"{name} on {kind}: {len(chosen)} double faults: 0 wrong")


@pytest.mark.parametrize(("name", "kind"), [scene for scene in SCENES if scene.values[0] != "create"])
def test_a_write_that_lands_after_its_process_was_mended_away_changes_no_row(name: str, kind: Kind):
    step = STEPS[name]
    before = story_before(step, kind)
    creates = [Fault(at, Mode.TORN) for at, call in enumerate(calm_calls(before, step)) if call.verb == "create"]
    chosen = sample(creates, LATE_WRITES_PER_SCENE)
    started = time.perf_counter()
    for fault in chosen:
        story = before.fork()
        victim = story.crash(step, fault)
        story.take(NEXT)
        victim.plan.land_late_calls()
        assert story.world.process().read() == story.model.snapshot(), fault
        story.age()
        assert story.world.process().read() == story.model.snapshot(), fault
    tally("writes that landed late", len(chosen), started)
