"""The table's lock: waiting, taking over the dead, and never two holders."""

import json

import pytest

from pyhudi.errors import InternalError, LockTimeout, StorageError, Unsupported
from pyhudi.testing.actors import Actor, explore
from pyhudi.testing.machine import SimClock, SimIds
from pyhudi.testing.storage import Fault, FaultPlan, FaultyStorage, MemoryStorage, Mode
from pyhudi.transaction.locks import CLAIM_FOLDER, LockOptions, TableLock

PATH = ".hoodie/lock"
PATIENT = LockOptions(wait_ms=10**9)
HASTY = LockOptions(wait_ms=500)
EXPIRING = LockOptions(wait_ms=500, expire_ms=60_000)


class Machine:
    def __init__(self):
        self.clock = SimClock()
        self.ids = SimIds()
        self.storage = MemoryStorage(self.clock)

    def writer(self, options=HASTY, ids=None, storage=None):
        ids = ids or self.ids.other_process()
        return TableLock(storage or self.storage, self.clock, ids, options)


@pytest.fixture
def machine():
    return Machine()


def test_the_lock_file_lies_where_java_looks_and_names_its_owner(machine):
    with machine.writer(ids=machine.ids).held("commit 1"):
        content = json.loads(machine.storage.read(PATH))
    assert content["owner"]["pid"] == machine.ids.owner().pid
    assert content["purpose"] == "commit 1"
    assert machine.storage.contents() == {}


def test_an_uncontended_commit_costs_four_calls(machine):
    with machine.writer().held("commit") as lock:
        assert lock.still_held()
    assert machine.storage.calls == {"create": 1, "read": 2, "delete": 1}


def test_a_waiter_times_out_naming_owner_age_and_purpose_and_leaves_the_lock(machine):
    owner = machine.writer(ids=machine.ids)
    owner.acquire("commit 7")
    machine.clock.sleep_ms(5_000)
    waiter = machine.writer()
    with pytest.raises(LockTimeout, match=r"process 1 on sim, since 5\.\d s, to commit 7"):
        waiter.acquire("commit 8")
    waiter.release()
    assert owner.still_held()


def test_a_lock_that_is_released_while_waiting_is_taken(machine):
    owner = machine.writer()
    owner.acquire("first")
    machine.clock.sleep_ms = lambda duration_ms: owner.release()
    machine.writer().acquire("second")


def test_a_writer_cannot_take_its_own_lock_twice(machine):
    lock = machine.writer()
    lock.acquire("once")
    with pytest.raises(InternalError):
        lock.acquire("twice")


def test_the_lock_of_a_dead_process_is_taken_at_once(machine):
    victim = machine.ids.other_process()
    machine.writer(ids=victim).acquire("die")
    machine.ids.kill(victim.owner())
    before_ms = machine.clock.now_ms()
    machine.writer().acquire("live")
    assert machine.clock.now_ms() - before_ms < HASTY.retry_ms
    assert list(machine.storage.contents()) == [PATH]


def test_a_dead_process_of_another_host_is_waited_for_until_the_expiry(machine):
    victim = machine.ids.other_process(host="elsewhere")
    machine.writer(ids=victim).acquire("die")
    machine.ids.kill(victim.owner())
    with pytest.raises(LockTimeout):
        machine.writer(EXPIRING).acquire("too early")
    machine.clock.sleep_ms(60_000)
    machine.writer(EXPIRING).acquire("late enough")


def test_the_lock_of_a_living_process_never_expires(machine):
    owner = machine.writer(EXPIRING)
    owner.acquire("a long commit")
    machine.clock.sleep_ms(10**7)
    with pytest.raises(LockTimeout):
        machine.writer(EXPIRING).acquire("impatient")
    assert owner.still_held()


@pytest.mark.parametrize("content", [b"", b'{"lockThreadName":"main"}', b"[1]", b'{"token":"../../x","owner":{}}'])
def test_javas_lock_is_waited_for_and_taken_only_after_the_expiry(machine, content):
    machine.storage.create(PATH, content)
    with pytest.raises(LockTimeout, match="without a name"):
        machine.writer().acquire("wait")
    machine.clock.sleep_ms(60_001)
    with pytest.raises(LockTimeout):
        machine.writer().acquire("never, by default")
    lock = machine.writer(EXPIRING)
    lock.acquire("expired")
    assert lock.still_held()
    lock.release()
    assert machine.storage.contents() == {}


def test_a_stolen_lock_is_noticed_and_not_deleted(machine):
    owner = machine.writer()
    owner.acquire("slow")
    machine.storage.replace(PATH, b"")
    assert not owner.still_held()
    owner.release()
    assert machine.storage.read(PATH) == b""


def test_an_error_that_hides_a_success_is_a_success(machine):
    storage = FaultyStorage(machine.storage, FaultPlan(Fault(0, Mode.UNKNOWN)))
    lock = machine.writer(storage=storage)
    lock.acquire("commit")
    assert lock.still_held()


def test_a_real_error_is_raised_and_leaves_no_lock(machine):
    storage = FaultyStorage(machine.storage, FaultPlan(Fault(0, Mode.REFUSED)))
    with pytest.raises(StorageError):
        machine.writer(storage=storage).acquire("commit")
    assert machine.storage.contents() == {}


def test_a_release_that_fails_once_is_tried_again(machine):
    plan = FaultPlan(Fault(2, Mode.REFUSED))
    with machine.writer(storage=FaultyStorage(machine.storage, plan)).held("commit"):
        pass
    assert machine.storage.contents() == {}


def test_a_release_that_keeps_failing_undoes_nothing_and_does_not_lock_the_writer_out(machine):
    plan = FaultPlan(*(Fault(call, Mode.REFUSED) for call in (1, 2, 3)))
    lock = machine.writer(storage=FaultyStorage(machine.storage, plan))
    with lock.held("commit"):
        pass
    assert list(machine.storage.contents()) == [PATH]
    with lock.held("the next commit"):
        assert lock.still_held()
    assert machine.storage.contents() == {}


def test_claims_that_crashes_left_go_with_a_later_takeover(machine):
    machine.storage.create(f"{CLAIM_FOLDER}/old", b"")
    machine.clock.sleep_ms(25 * 3_600_000)
    victim = machine.ids.other_process()
    machine.writer(ids=victim).acquire("die")
    machine.ids.kill(victim.owner())
    machine.writer().acquire("live")
    assert list(machine.storage.contents()) == [PATH]


@pytest.mark.parametrize("folder", ["memory:/table/.hoodie/.aux", ".hoodie/.aux", ".hoodie/.aux/"])
def test_the_lock_folder_may_be_named_inside_the_table(machine, folder):
    machine.writer(LockOptions(folder=folder)).acquire("commit")
    assert list(machine.storage.contents()) == [".hoodie/.aux/lock"]


@pytest.mark.parametrize("folder", ["/elsewhere", "s3://bucket/locks"])
def test_a_lock_folder_outside_the_table_is_refused(machine, folder):
    with pytest.raises(Unsupported, match="outside the table"):
        machine.writer(LockOptions(folder=folder))


class LockWithoutClaims(TableLock):
    """The obvious takeover, which is wrong: of two that saw the dead owner's lock, one deletes the other's."""

    def _remove(self, path, holder):
        self._storage.delete(path)
        return True


def takers(*mortal, kind=TableLock):
    """Processes that each hold the lock once, over the lock of a dead one; a mortal one may die before any call."""

    def scene():
        ids, files, inside = SimIds(), MemoryStorage(), []
        victim = ids.other_process()
        TableLock(files, SimClock(), victim, HASTY).acquire("die")
        ids.kill(victim.owner())

        def hold(actor):
            lock = kind(actor.storage, actor, actor.ids, PATIENT)
            with lock.held("work"):
                inside.append(actor)
                try:
                    assert len(inside) == 1, "two hold the lock"
                    assert lock.still_held(), "the holder lost its lock"
                finally:
                    inside.remove(actor)

        return [Actor(files, ids.other_process(), hold, mortal=each) for each in mortal]

    return scene


def test_in_every_order_of_two_takers_one_holds_at_a_time_and_nobody_waits_for_the_dead():
    explored = explore(takers(True, False))
    assert explored.schedules > 1_000


def test_a_takeover_without_a_claim_is_caught():
    with pytest.raises(AssertionError, match="two hold the lock|the holder lost its lock"):
        explore(takers(False, False, kind=LockWithoutClaims))
