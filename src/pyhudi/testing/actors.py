"""Every interleaving of a few actors, each a process that runs the house's own code, one storage call at a time.

An actor runs on a thread that waits for its turn before each storage call and while it sleeps. `explore` plays all
orders of turns and deaths, depth first, by playing the scene again from its start, and leaves an order as soon as it
reaches a state, of the files and of all that the actors saw, that another order has reached before.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from pyhudi.testing.machine import Crash, SimClock, SimIds
from pyhudi.testing.storage import Call, FaultPlan, FaultyStorage, MemoryStorage


class Stuck(AssertionError):
    """Every actor that lives sleeps, and nothing is left that could wake one."""


@dataclass(frozen=True, slots=True)
class Move:
    """One turn: this actor makes its next call, or dies before it."""

    actor: int
    dies: bool = False


@dataclass(slots=True)
class Explored:
    """How much was tried."""

    schedules: int = 0
    states: set[Hashable] = field(default_factory=set)


class Actor(SimClock):
    """One process: its storage, its ids, its clock (itself) and what it does. Only a mortal one may die on the way."""

    def __init__(
        self, storage: MemoryStorage, ids: SimIds, act: Callable[[Actor], None], *, mortal: bool = False
    ) -> None:
        super().__init__()
        self.ids = ids
        self.mortal = mortal
        self.done = False
        self.asleep = False
        self.storage = FaultyStorage(storage, FaultPlan(before_call=self._wait_for_turn))
        self._files = storage
        self._act = act
        self._saw = hashlib.sha256()
        self._news = True
        self._dying = False
        self._turn = threading.Semaphore(0)
        self._parked = threading.Semaphore(0)
        self._outcome: Future[None] = Future()

    def begin(self, threads: ThreadPoolExecutor) -> None:
        """Run up to the first call."""
        self._outcome = threads.submit(self._run)
        self._parked.acquire()

    def go(self, *, dying: bool = False) -> None:
        """Make the next call and run up to the one after it, or die instead; raises what the actor raised."""
        self._dying = dying
        self._turn.release()
        self._parked.acquire()
        failure = self._outcome.exception() if self.done else None
        if failure is not None and not isinstance(failure, Crash):
            raise failure

    def seen(self) -> Hashable:
        """All that this actor's future depends on, besides the files."""
        return self._saw.hexdigest(), self._news, self.asleep, self.done

    def world(self) -> Hashable:
        """The files, and how many have died."""
        return tuple(sorted(self._files.contents().items())), self.ids.deaths()

    def sleep_ms(self, duration_ms: int) -> None:
        """Sleep until another actor changes something; not at all if one did since this actor last slept."""
        super().sleep_ms(duration_ms)
        self.asleep, self._news = not self._news, False
        self._wait_for_turn(Call("sleep", ""))

    def notice(self) -> None:
        """Another actor has changed something."""
        self.asleep, self._news = False, not self.asleep

    def _wait_for_turn(self, call: Call) -> None:
        self._parked.release()
        self._turn.acquire()
        if self._dying:
            self.storage.plan.crashed = True
            raise Crash(f"killed before {call.verb} {call.path}")
        met = [(path, held) for path, held in self._files.contents().items() if f"{path}/".startswith(f"{call.path}/")]
        self._saw.update(repr((call, sorted(met), self.ids.deaths())).encode())

    def _run(self) -> None:
        try:
            self._act(self)
        finally:
            self.done = True
            self._parked.release()


def explore(scene: Callable[[], Sequence[Actor]], limit: int = 100_000) -> Explored:
    """Play every order of the scene's turns; raises what an actor raised, or `Stuck`, with the moves that led there."""
    explored = Explored()
    unplayed: list[tuple[Move, ...]] = [()]
    with ThreadPoolExecutor() as threads:
        while unplayed:
            explored.schedules += 1
            if explored.schedules > limit:
                raise AssertionError(f"more than {limit} orders of turns; make the scene smaller")
            actors = scene()
            for actor in actors:
                actor.begin(threads)
            try:
                unplayed.extend(_play(actors, unplayed.pop(), explored.states))
            finally:
                for actor in actors:
                    if not actor.done:
                        actor.go(dying=True)
    return explored


def _play(actors: Sequence[Actor], given: Sequence[Move], states: set[Hashable]) -> list[tuple[Move, ...]]:
    """Play the given moves, then the first possible one each time; the moves that were left out there are returned."""
    made: tuple[Move, ...] = ()
    left_out: list[tuple[Move, ...]] = []
    while not all(actor.done for actor in actors):
        moves = _moves(actors)
        if not moves:
            raise Stuck(f"all who live sleep, after {made}")
        if len(made) < len(given):
            moves = [given[len(made)]]
        else:
            state = (actors[0].world(), *(actor.seen() for actor in actors))
            if state in states:
                break
            states.add(state)
            left_out.extend((*made, other) for other in moves[1:])
        made = (*made, moves[0])
        try:
            _make(moves[0], actors)
        except AssertionError as failure:
            raise AssertionError(f"{failure} after {made}") from failure
    return left_out


def _moves(actors: Sequence[Actor]) -> list[Move]:
    alive = [number for number, actor in enumerate(actors) if not actor.done]
    turns = [Move(number) for number in alive if not actors[number].asleep]
    deaths = [Move(number, dies=True) for number in alive if actors[number].mortal]
    return turns + deaths


def _make(move: Move, actors: Sequence[Actor]) -> None:
    actor, before = actors[move.actor], actors[0].world()
    if move.dies:
        actor.ids.kill(actor.ids.owner())
    actor.go(dying=move.dies)
    if actors[0].world() != before:
        for other in actors:
            if other is not actor:
                other.notice()
