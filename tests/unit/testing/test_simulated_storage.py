"""The simulator itself: counts, snapshots, every way to fail, every order of turns."""

import pickle

import pytest

from pyhudi.errors import FileMissing, StorageError
from pyhudi.testing.actors import Actor, Stuck, explore
from pyhudi.testing.machine import Crash, SimClock, SimIds
from pyhudi.testing.storage import Call, Fault, FaultPlan, FaultyStorage, MemoryStorage, Mode


def test_calls_and_bytes_are_counted_over_all_views():
    memory = MemoryStorage()
    memory.within("a").create("x", b"1234")
    memory.read("a/x")
    memory.within("a").read_range("x", 1, 2)
    with pytest.raises(FileMissing):
        memory.read("nothing")
    memory.list("")
    assert memory.calls == {"create": 1, "read": 2, "read_range": 1, "list": 1}
    assert (memory.bytes_written, memory.bytes_read, memory.opened) == (4, 6, ["a/x", "a/x"])
    assert memory.trace[2] == Call("read_range", "a/x")
    memory.forget_calls()
    assert not memory.calls


def test_a_snapshot_brings_everything_back():
    memory = MemoryStorage()
    memory.create("x", b"1")
    snapshot, view = memory.snapshot(), memory.within("sub")
    memory.replace("x", b"2")
    memory.create("sub/y", b"3")
    memory.restore(snapshot)
    assert memory.contents() == {"x": b"1"}
    view.create("y", b"4")
    assert memory.read("sub/y") == b"4"


@pytest.mark.parametrize(
    ("mode", "error", "applied"),
    [
        (Mode.BEFORE, Crash, False),
        (Mode.TORN, Crash, False),
        (Mode.AFTER, Crash, True),
        (Mode.REFUSED, StorageError, False),
        (Mode.UNKNOWN, StorageError, True),
    ],
)
def test_each_mode_fails_in_its_way(mode, error, applied):
    memory = MemoryStorage()
    plan = FaultPlan(Fault(1, mode))
    faulty = FaultyStorage(memory, plan)
    faulty.create("first", b"1")
    with pytest.raises(error):
        faulty.within("sub").create("x", b"0123")
    assert ("sub/x" in memory.contents()) is applied
    assert plan.crashed is (error is Crash)
    assert plan.trace == [Call("create", "first"), Call("create", "sub/x")]


def test_a_dead_process_makes_no_more_calls():
    memory = MemoryStorage()
    faulty = FaultyStorage(memory, FaultPlan(Fault(0, Mode.AFTER)))
    with pytest.raises(Crash):
        faulty.create("x", b"1")
    with pytest.raises(Crash):
        faulty.delete("x")
    assert memory.contents() == {"x": b"1"}


def test_a_torn_call_may_land_later():
    memory = MemoryStorage()
    plan = FaultPlan(Fault(0, Mode.TORN))
    with pytest.raises(Crash):
        FaultyStorage(memory, plan).within("sub").create("x", b"0123")
    plan.land_late_calls()
    plan.land_late_calls()
    assert memory.read("sub/x") == b"0123"


def test_faults_and_files_are_shared_with_pickled_copies():
    memory = MemoryStorage()
    faulty = FaultyStorage(memory, FaultPlan(Fault(1, Mode.BEFORE)))
    pickle.loads(pickle.dumps(faulty)).create("x", b"1")
    with pytest.raises(Crash):
        faulty.create("y", b"2")
    assert memory.contents() == {"x": b"1"}


def test_time_never_stands_still_and_ids_repeat_by_seed():
    clock = SimClock(1000)
    assert [clock.now_ms(), clock.now_ms()] == [1001, 1002]
    clock.sleep_ms(50)
    assert clock.now_ms() == 1053
    one, same, other = SimIds(1), SimIds(1), SimIds(2)
    assert one.uuid() == same.uuid() != other.uuid()
    assert one.owner() == same.owner()
    neighbour = one.other_process()
    assert neighbour.owner() != one.owner()
    assert neighbour.uuid() != one.uuid()
    neighbour.kill(one.owner())
    assert one.is_dead(one.owner())
    assert not one.other_process(host="elsewhere").is_dead(one.owner())


def counter_scene(actors, mortal=False):
    """A counter without a lock: read, then write back one more."""
    ends = set()

    def scene():
        files = MemoryStorage()
        files.create("n", b"0")

        def add(actor):
            actor.storage.replace("n", b"%d" % (int(actor.storage.read("n")) + 1))
            ends.add(files.contents()["n"])

        return [Actor(files, SimIds(number), add, mortal=mortal) for number in range(actors)]

    return scene, ends


def test_explore_finds_the_lost_update_of_a_counter_without_lock():
    scene, ends = counter_scene(3)
    explored = explore(scene)
    assert ends == {b"1", b"2", b"3"}
    assert explored.schedules < len(explored.states) < 200


def test_explore_plays_deaths_before_every_call():
    scene, _ = counter_scene(1, mortal=True)
    assert explore(scene).schedules == 3


def test_explore_reports_actors_that_wait_for_ever_with_the_moves_that_led_there():
    def wait(actor):
        while actor.storage.stat("never") is None:
            actor.sleep_ms(1)

    files = MemoryStorage()
    with pytest.raises(Stuck, match="actor=1"):
        explore(lambda: [Actor(files, SimIds(), wait), Actor(files, SimIds(), wait)])
