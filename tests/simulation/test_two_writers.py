"""Two writers on one table, the second begun while the first is at any call: no lost update, no row twice."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pyhudi.client.table_client import TableClient
from pyhudi.clock import Machine
from pyhudi.errors import Conflict, HudiError, LeaseLost
from pyhudi.testing.actors import Actor
from pyhudi.testing.machine import SimClock
from pyhudi.testing.world import Process
from tests.simulation.scenes import COMPACT, KINDS, Kind, Step, Story, row, sample, tally, write

pytestmark = pytest.mark.simulate

SCHEDULES_PER_SCENE = 16

SIDE_BY_SIDE = (
    write("upsert", row("c", 8, 31), row("e", 8, 32)),
    write("upsert", row("q", 8, 33), row("s", 8, 34)),
)
PAIRS = {
    "upserts of one file group": (
        write("upsert", row("a", 8, 31), row("e", 8, 32), row("q", 8, 33)),
        write("upsert", row("a", 9, 34), row("f", 8, 35), row("s", 8, 36)),
    ),
    "upserts side by side": SIDE_BY_SIDE,
    "upsert and delete": (
        write("upsert", row("a", 8, 31), row("e", 8, 32)),
        write("delete", row("a", 0, 0), row("q", 0, 0)),
    ),
    "upsert and compaction": (write("upsert", row("a", 8, 931), row("b", 8, 932), row("q", 8, 933)), COMPACT),
    "two compactions": (COMPACT, COMPACT),
}

AFTERWARDS = write("upsert", row("a", 10, 41), row("b", 10, 42), row("e", 10, 43), row("t", 10, 44))


class Duel:
    """Two actors on a fork of a story; the outcome of each is a result or a refusal."""

    def __init__(self, before: Story, steps: tuple[Step, Step]):
        self.story = before.fork()
        self.steps = steps
        self.outcomes = [None, None]
        self.actors = [self._actor(number) for number in (0, 1)]

    def _actor(self, number: int) -> Actor:
        ids = self.story.world.ids.other_process()

        def act(actor: Actor) -> None:
            client = TableClient(actor.storage, Machine(clock=actor, ids=ids), self.story.world.settings)
            process = Process(definition=self.story.world.definition, client=client, ids=ids, plan=actor.storage.plan)
            try:
                self.outcomes[number] = self.steps[number].act(process)
            except HudiError as refusal:
                self.outcomes[number] = refusal

        actor = Actor(self.story.world.disk, ids, act)
        SimClock.sleep_ms(actor, self.story.world.clock.now_ms() - actor.now_ms() - 500 * number)
        return actor


def run(duel: Duel, first: int, second: int | None) -> None:
    """The first makes so many calls, then the second so many (or all), then the first goes on to its end."""
    with ThreadPoolExecutor() as threads:
        for actor in duel.actors:
            actor.begin(threads)
        try:
            _turns(duel, 0, first)
            _turns(duel, 1, second)
            while not all(actor.done for actor in duel.actors):
                went = _turns(duel, 0, None) + _turns(duel, 1, None)
                assert went, "both wait for ever"
        finally:
            for actor in duel.actors:
                if not actor.done:
                    actor.go(dying=True)


def _turns(duel: Duel, number: int, most: int | None) -> int:
    actor, other = duel.actors[number], duel.actors[1 - number]
    went = 0
    while not actor.done and not actor.asleep and (most is None or went < most):
        before = duel.story.world.disk.contents()
        actor.go()
        went += 1
        if duel.story.world.disk.contents() != before:
            other.notice()
    return went


def judge(duel: Duel) -> str:
    story = duel.story
    for outcome in duel.outcomes:
        assert not isinstance(outcome, HudiError) or isinstance(outcome, Conflict | LeaseLost), repr(outcome)
    done = [number for number in (0, 1) if not isinstance(duel.outcomes[number], HudiError)]
    assert done, f"neither committed: {duel.outcomes}"
    assert len(done) == 2 or duel.steps not in (SIDE_BY_SIDE, SIDE_BY_SIDE[::-1]), f"nothing in common: {duel.outcomes}"
    instants = story.world.process().client.table().timeline.instants
    order = {each.requested_time: each.completion_time for each in instants}
    for number in sorted(done, key=lambda each: _completion(order, duel.outcomes[each])):
        duel.steps[number].apply(story.model)
    assert story.world.process().read() == story.model.snapshot(), f"{duel.outcomes}"
    story.check(read_optimized=False)
    for number in {0, 1} - set(done):
        story.take(duel.steps[number])
    story.take(AFTERWARDS)
    story.age()
    story.check(read_optimized=False)
    return "both committed" if len(done) == 2 else f"one {type(duel.outcomes[1 - done[0]]).__name__}"


def _completion(order, result) -> str:
    return order[result.instant.requested_time] if result.instant is not None else ""


SCENES = [
    pytest.param(name, kind, id=f"{name}-{kind}")
    for name, steps in PAIRS.items()
    for kind in KINDS
    if kind.partitioned and (kind.merge_on_read or COMPACT not in steps)
]


@pytest.mark.parametrize(("name", "kind"), SCENES)
def test_a_second_writer_begun_at_any_call_of_the_first(name: str, kind: Kind):
    before = Story.of(kind).start()
    told = {}
    tried = 0
    started = time.perf_counter()
    for steps in (PAIRS[name], PAIRS[name][::-1]):
        alone = Duel(before, steps)
        run(alone, 10_000, None)
        judge(alone)
        calls = [len(actor.storage.plan.trace) for actor in alone.actors]
        once = [(first, None) for first in range(calls[0])]
        twice = [(first, second) for first in range(0, calls[0], 3) for second in range(1, calls[1], 3)]
        for first, second in sample(once, SCHEDULES_PER_SCENE // 4) + sample(
            twice, SCHEDULES_PER_SCENE // 4, at_full_size=200
        ):
            duel = Duel(before, steps)
            try:
                run(duel, first, second)
                outcome = judge(duel)
            except AssertionError as failure:
                who = f"{steps[0]} made {first} calls, then {steps[1]} {second or 'all'}"
                raise AssertionError(f"{name} on {kind}, {who}: {failure}") from failure
            told[outcome] = told.get(outcome, 0) + 1
            tried += 1
    tally("schedules of two writers", tried, started)
    print(f"{name} on {kind}: {tried} schedules, {told}: 0 wrong")
