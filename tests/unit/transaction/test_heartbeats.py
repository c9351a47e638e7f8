"""Who lives and who does not: heartbeats as Java writes them, and owner records."""

import pytest

from pyhudi.clock import SystemClock
from pyhudi.errors import LeaseLost
from pyhudi.testing.machine import SimClock, SimIds
from pyhudi.testing.storage import Fault, FaultPlan, FaultyStorage, MemoryStorage, Mode
from pyhudi.transaction.heartbeats import HeartbeatOptions, Heartbeats, Life

T = "20240101000000000"
FILE = f".hoodie/.heartbeat/{T}"
OPTIONS = HeartbeatOptions()


class Machine:
    def __init__(self):
        self.clock, self.ids = SimClock(), SimIds()
        self.storage = MemoryStorage(self.clock)

    def heartbeats(self, host=None, storage=None, options=OPTIONS):
        ids = self.ids.other_process(host)
        return Heartbeats(storage or self.storage, self.clock, ids, options), ids.owner()


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def judge(machine):
    return machine.heartbeats()[0]


def test_a_heartbeat_is_an_empty_file_and_stop_leaves_nothing(machine):
    writer, _ = machine.heartbeats()
    writer.start(T)
    assert machine.storage.read(FILE) == b""
    assert set(machine.storage.contents()) == {FILE, f".hoodie/.pyhudi/owners/{T}.json"}
    writer.stop(T)
    assert machine.storage.contents() == {}


def test_a_beating_writer_lives_however_long_it_takes(machine, judge):
    writer, _ = machine.heartbeats(host="elsewhere")
    writer.start(T)
    for _ in range(5):
        machine.clock.sleep_ms(100_000)
        writer.beat(T)
        assert judge.judge(T, 0).life is Life.ALIVE


def test_a_dead_process_of_this_host_is_dead_at_once(machine, judge):
    writer, owner = machine.heartbeats()
    writer.start(T)
    assert judge.judge(T, machine.clock.now_ms()).life is Life.ALIVE
    machine.ids.kill(owner)
    verdict = judge.judge(T, machine.clock.now_ms())
    assert verdict.life is Life.DEAD
    assert "runs no more" in verdict.reason


def test_a_heartbeat_expires_after_javas_two_minutes(machine, judge):
    machine.storage.replace(FILE, b"")
    machine.clock.sleep_ms(119_000)
    assert judge.judge(T, 0).life is Life.ALIVE
    machine.clock.sleep_ms(1_001)
    assert judge.judge(T, 0).life is Life.DEAD


def test_an_instant_without_heartbeat_is_unknown_until_it_is_older_than_the_expiry(machine, judge):
    begun_ms = machine.clock.now_ms()
    assert judge.judge(T, begun_ms).life is Life.UNKNOWN
    machine.clock.sleep_ms(OPTIONS.expiry_ms)
    assert judge.judge(T, begun_ms).life is Life.DEAD


def test_a_damaged_owner_record_is_as_good_as_none(machine, judge):
    for content in (b"", b"{", b"[]", b"{}", b'{"host":"sim","pid":"x","started":1,"token":""}', b"\xff"):
        machine.storage.replace(f".hoodie/.pyhudi/owners/{T}.json", content)
        assert judge.judge(T, machine.clock.now_ms()).life is Life.UNKNOWN


def test_the_lease_holds_while_it_beats(machine):
    writer, _ = machine.heartbeats()
    writer.start(T)
    writer.check(T)


@pytest.mark.parametrize("loss", ["late", "undone", "taken"])
def test_a_lost_lease_is_noticed_before_completing(machine, loss):
    writer, _ = machine.heartbeats()
    writer.start(T)
    if loss == "late":
        machine.clock.sleep_ms(OPTIONS.expiry_ms + 1)
    elif loss == "undone":
        machine.heartbeats()[0].stop(T)
    else:
        machine.heartbeats()[0].start(T)
    with pytest.raises(LeaseLost, match=T):
        writer.check(T)


@pytest.mark.parametrize("call", range(4))
def test_a_crash_at_any_call_of_start_and_stop_leaves_a_dead_writer(machine, judge, call):
    writer, owner = machine.heartbeats(storage=FaultyStorage(machine.storage, FaultPlan(Fault(call, Mode.TORN))))
    with pytest.raises(BaseException, match="dies"):
        writer.start(T), writer.stop(T)
    machine.ids.kill(owner)
    machine.clock.sleep_ms(OPTIONS.expiry_ms)
    assert judge.judge(T, 0).life is Life.DEAD


def test_the_background_beat_survives_an_error_of_the_storage(machine):
    plan = FaultPlan(Fault(0, Mode.REFUSED))
    storage = FaultyStorage(machine.storage, plan)
    writer = Heartbeats(storage, SystemClock(), machine.ids, HeartbeatOptions(interval_ms=1))
    beater = writer.keep_beating(T)
    while len(plan.trace) < 3:
        pass
    beater.stop()
    assert FILE in machine.storage.contents()
