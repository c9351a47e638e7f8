"""Markers of pyhudi and of Java, and the scratch files beside them."""

import pytest

from pyhudi.errors import CorruptTable
from pyhudi.format.file_names import MarkerKind, marker_path
from pyhudi.storage import LocalStorage
from pyhudi.testing.machine import SimClock
from pyhudi.testing.storage import Fault, FaultPlan, FaultyStorage, MemoryStorage, Mode
from pyhudi.transaction.markers import delete_markers, list_markers, sweep_scratch

T = "20240101000000000"
FOLDER = f".hoodie/.temp/{T}"
BASE = "8f7e-0_0-1-2_20240101000000000.parquet"
LOG = ".8f7e-0_20240101000000000.log.1_0-1-2"


@pytest.fixture(params=["memory", "local"])
def storage(request, tmp_path):
    return MemoryStorage() if request.param == "memory" else LocalStorage(str(tmp_path))


def test_direct_markers_are_listed_at_any_depth_and_deleted(storage):
    for partition, name, kind in (("", BASE, "CREATE"), ("a=1/b=2/", BASE, "MERGE"), ("c/", LOG, "APPEND")):
        storage.create(f"{FOLDER}/{partition}{name}.marker.{kind}", b"")
    storage.create(marker_path("20240101000000001", "a", BASE, MarkerKind.MERGE), b"")
    assert list_markers(storage, T) == {BASE, f"a=1/b=2/{BASE}", f"c/{LOG}"}
    delete_markers(storage, T)
    assert list_markers(storage, T) == frozenset()
    assert storage.list(".hoodie/.temp").directories == ("20240101000000001",)


def test_javas_timeline_server_markers_are_read_and_deleted_the_type_last():
    memory = MemoryStorage()
    memory.create(f"{FOLDER}/MARKERS.type", b"TIMELINE_SERVER_BASED")
    memory.create(f"{FOLDER}/MARKERS0", f"part=p2/{LOG}.marker.APPEND\npart=p1/{BASE}.marker.CREATE\n".encode())
    memory.create(f"{FOLDER}/MARKERS19", f"{BASE}.marker.MERGE\npart=p3/never-acknowl".encode())
    assert list_markers(memory, T) == {f"part=p2/{LOG}", f"part=p1/{BASE}", BASE}
    delete_markers(memory, T)
    assert [call.path for call in memory.trace if call.verb == "delete"][-1] == f"{FOLDER}/MARKERS.type"
    assert memory.contents() == {}


@pytest.mark.parametrize(
    "lines", [b"../../etc/x.marker.CREATE\n", b"/etc/x.marker.CREATE\n", b"no marker\n", b".marker.CREATE\n", b"\xff\n"]
)
def test_a_marker_that_is_none_or_leads_outside_is_an_error_naming_the_file(lines):
    memory = MemoryStorage()
    memory.create(f"{FOLDER}/MARKERS3", lines)
    with pytest.raises(CorruptTable, match="MARKERS3"):
        list_markers(memory, T)


def test_an_instant_without_markers_has_none(storage):
    assert list_markers(storage, T) == frozenset()
    delete_markers(storage, T)


def test_what_a_torn_create_leaves_is_swept_when_old_and_is_no_marker():
    clock = SimClock()
    memory = MemoryStorage(clock)
    faulty = FaultyStorage(memory, FaultPlan(Fault(0, Mode.TORN)))
    with pytest.raises(BaseException, match="dies within"):
        faulty.create("p/data", b"0123456789")
    assert [file.size for file in memory.list(".hoodie/.temp").files] == [5]
    assert sweep_scratch(memory, clock, 60_000) == 0
    clock.sleep_ms(60_000)
    assert sweep_scratch(memory, clock, 60_000) == 1
    assert memory.contents() == {}
