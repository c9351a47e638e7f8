"""A storage that refuses a call, or applies it and says that it failed: what a caller is told is what happened."""

import time

import pytest

from pyhudi.errors import HudiError, StorageError, UnknownOutcome
from pyhudi.testing.storage import Fault, Mode
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
    tally,
    write,
)

pytestmark = pytest.mark.simulate

ERRORS_PER_SCENE = 8
NEXT = write("upsert", row("a", 8, 41), row("h", 1, 42), row("p", 8, 43))


def fail_and_try_again(before: Story, step: Step, fault: Fault) -> str:
    story = before.fork()
    process = story.world.process(fault)
    try:
        result = step.act(process)
    except UnknownOutcome:
        told = "unknown outcome"
        assert rows_now(story) in (rows_now(before), rows_after(before, step))
        return told
    except StorageError:
        told = "failed"
        assert rows_now(story) == rows_now(before), "told that it failed, yet it was applied"
        story.note_waiting_compaction()
        story.take(step, process)
    else:
        told = "done"
        step.apply(story.model)
        story.note(result)
    assert rows_now(story)[0] == story.model.snapshot(), told
    story.take(NEXT)
    story.age()
    story.check()
    return told


SCENES = [
    pytest.param(name, kind, id=f"{name}-{kind}")
    for name in STEPS
    for kind in KINDS
    if name not in ("create", "compaction") or (kind.merge_on_read and name == "compaction")
]


@pytest.mark.parametrize(("name", "kind"), SCENES)
def test_what_the_caller_is_told_is_what_happened_and_trying_again_applies_it_once(name: str, kind: Kind):
    step = STEPS[name]
    before = story_before(step, kind)
    calm = before.fork()
    process = calm.world.process()
    calm.take(step, process)
    faults = [Fault(call, mode) for call in range(len(process.plan.trace)) for mode in (Mode.REFUSED, Mode.UNKNOWN)]
    faults = [each for each in faults if each.mode is Mode.REFUSED or process.plan.trace[each.call].mutating]
    chosen = sample(faults, ERRORS_PER_SCENE)
    started = time.perf_counter()
    for fault in chosen:
        try:
            fail_and_try_again(before, step, fault)
        except (AssertionError, HudiError) as failure:
            raise AssertionError(
                f"{name} on {kind}, {fault} ({process.plan.trace[fault.call]}): {failure}"
            ) from failure
    tally("storage errors", len(chosen), started)
    print(f"{name} on {kind}: {len(faults)} storage errors, {len(chosen)} tried: 0 wrong")
