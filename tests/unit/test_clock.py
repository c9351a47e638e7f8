"""The real machine: who is dead, and work in the background."""

import dataclasses
import os
import subprocess
import sys
import threading

from pyhudi.clock import Background, SystemClock, SystemIds


def owner_of(pid):
    return dataclasses.replace(SystemIds().owner(), pid=pid, started=0)


def test_this_process_lives_and_an_earlier_one_with_its_pid_is_dead():
    ids = SystemIds()
    mine = ids.owner()
    assert not ids.is_dead(mine)
    assert ids.is_dead(dataclasses.replace(mine, started=mine.started + 1))
    assert not ids.is_dead(dataclasses.replace(mine, started=0))


def test_a_killed_child_is_dead_before_and_after_it_is_waited_for():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    ids = SystemIds()
    assert not ids.is_dead(owner_of(child.pid))
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert ids.is_dead(owner_of(child.pid))
    child.communicate()
    assert ids.is_dead(owner_of(child.pid))


def test_nothing_is_known_of_other_hosts_and_no_pid_is_too_odd():
    ids = SystemIds()
    assert not ids.is_dead(dataclasses.replace(owner_of(2**22 + 1), host="elsewhere"))
    assert ids.is_dead(owner_of(2**70))


def test_another_users_process_is_told_by_its_start():
    ids = SystemIds()
    assert not ids.is_dead(owner_of(1))


def test_background_work_goes_on_until_stopped():
    rounds = threading.Semaphore(0)
    background = Background(1, rounds.release)
    assert all(rounds.acquire(timeout=5) for _ in range(3))
    background.stop()
    while rounds.acquire(blocking=False):
        pass
    assert not rounds.acquire(timeout=0.02)


def test_the_clock_tells_the_time():
    clock = SystemClock()
    before = clock.now_ms()
    clock.sleep_ms(2)
    assert clock.now_ms() > before > 1_700_000_000_000
    assert abs(clock.local_offset_ms(before)) <= 14 * 3_600_000
