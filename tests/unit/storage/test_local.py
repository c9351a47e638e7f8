"""Local files: scratch files, hard links, Java's checksums, symbolic links, empty folders."""

import os
import threading

import pytest

from pyhudi.errors import FileExists, StorageError, Unsupported
from pyhudi.storage import LocalStorage, open_storage
from pyhudi.storage.local import SCRATCH_FOLDER, SCRATCH_PREFIX


@pytest.fixture
def root(tmp_path):
    return tmp_path / "table"


@pytest.fixture
def storage(root):
    return LocalStorage(str(root))


def test_opens_plain_paths_and_file_uris(tmp_path):
    for uri in (f"{tmp_path}/t", f"file://{tmp_path}/t", f"file:{tmp_path}/t", f"file://localhost{tmp_path}/t/"):
        assert open_storage(uri).uri == f"{tmp_path}/t"
    assert open_storage("relative/t").uri == os.path.abspath("relative/t")


@pytest.mark.parametrize("uri", ["s3://bucket/t", "hdfs://host/t", "gs://b/t", "file://host/t"])
def test_refuses_other_storages_by_name(uri):
    with pytest.raises(Unsupported, match=uri.split(":")[0]):
        open_storage(uri)


def test_a_write_leaves_no_scratch_file_whether_it_succeeds_or_not(root, storage):
    storage.create("x", b"1")
    storage.replace("x", b"2")
    with pytest.raises(FileExists):
        storage.create("x", b"3")
    assert os.listdir(root / SCRATCH_FOLDER) == []


def test_scratch_files_of_the_metadata_table_lie_in_the_outer_tables_folder(root, storage):
    storage.within(".hoodie/metadata").create("files/x", b"1")
    assert sorted(os.listdir(root / ".hoodie")) == [".temp", "metadata"]
    assert os.listdir(root / ".hoodie/metadata") == ["files"]


def test_scratch_names_sort_after_every_instant_so_that_java_takes_none_for_a_marker_folder():
    assert SCRATCH_PREFIX.lower() > "99999999999999999"


def test_a_scratch_name_in_use_is_stepped_over(root, storage, monkeypatch):
    monkeypatch.setattr("pyhudi.storage.local._SCRATCH_NUMBERS", iter(range(10)))
    left = root / SCRATCH_FOLDER / f"{SCRATCH_PREFIX}{os.getpid()}-0"
    storage.create("first", b"")
    left.write_bytes(b"of a crashed process with our pid")
    monkeypatch.setattr("pyhudi.storage.local._SCRATCH_NUMBERS", iter(range(10)))
    storage.create("second", b"2")
    assert storage.read("second") == b"2"
    assert left.read_bytes() == b"of a crashed process with our pid"


def test_files_are_world_readable_as_the_umask_allows(root, storage):
    storage.create("x", b"1")
    assert (root / "x").stat().st_mode & 0o777 == 0o644 & ~_umask()


def test_stale_checksums_go_with_what_they_covered(root, storage):
    for act in (lambda: storage.replace("x", b"2"), lambda: storage.delete("x"), lambda: storage.create("x", b"3")):
        (root / ".hoodie").mkdir(parents=True, exist_ok=True)
        (root / ".x.crc").write_bytes(b"crc\0 of other bytes")
        act()
        assert not (root / ".x.crc").exists()


def test_a_failed_create_leaves_the_checksum_of_what_is_there(root, storage):
    storage.create("x", b"1")
    (root / ".x.crc").write_bytes(b"crc")
    with pytest.raises(FileExists):
        storage.create("x", b"2")
    assert (root / ".x.crc").exists()


def test_symbolic_links_are_refused_not_followed(root, storage, tmp_path):
    (tmp_path / "secret").write_text("secret")
    storage.create("x", b"1")
    (root / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(StorageError, match="symbolic link"):
        storage.read("link")
    with pytest.raises(StorageError, match="symbolic link"):
        storage.list("")
    with pytest.raises(FileExists):
        storage.create("link", b"2")
    assert storage.stat("link") is None
    storage.replace("link", b"3")
    assert (tmp_path / "secret").read_text() == "secret"
    assert storage.read("link") == b"3"


def test_emptied_marker_folders_go_but_no_other_folder_does(root, storage):
    marker = ".hoodie/.temp/20240101000000000/p/q/f.parquet.marker.CREATE"
    storage.create(marker, b"")
    storage.create("p/q/f.parquet", b"")
    storage.delete(marker)
    storage.delete("p/q/f.parquet")
    assert os.listdir(root / SCRATCH_FOLDER) == []
    assert (root / "p/q").is_dir()


def test_of_many_creators_of_one_name_one_wins_and_markers_come_and_go_beside(root):
    rounds, winners = 50, []

    def run(number):
        storage = LocalStorage(str(root), durable=False)
        for turn in range(rounds):
            marker = f".hoodie/.temp/1/p/{number}-{turn}"
            storage.create(marker, b"")
            storage.delete(marker)
            try:
                storage.create(f"race/{turn}", b"%d" % number * 1000)
            except FileExists:
                continue
            winners.append((turn, number))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(turn for turn, _ in winners) == list(range(rounds))
    storage = LocalStorage(str(root))
    assert all(storage.read(f"race/{turn}") == b"%d" % number * 1000 for turn, number in winners)


def test_bytes_are_on_disk_before_the_name_and_names_of_instants_when_the_call_returns(storage, monkeypatch):
    events = []
    fsync, link = os.fsync, os.link
    monkeypatch.setattr(os, "fsync", lambda handle: (events.append("sync"), fsync(handle)))
    monkeypatch.setattr(os, "link", lambda *args, **kwargs: (link(*args, **kwargs), events.append("name")))
    for path in ("p/base.parquet", ".hoodie/.temp/1/marker", ".hoodie/timeline/1.commit"):
        storage.create(path, b"" if "marker" in path else b"1")
        events.append("end")
    assert " ".join(events) == "sync name end name end sync name sync end"


def test_a_storage_that_need_not_last_never_syncs(root, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: pytest.fail("synced"))
    LocalStorage(str(root), durable=False).within(".hoodie").create("timeline/1.commit", b"1")


def test_errors_of_the_system_name_the_path(root, storage):
    storage.create("file", b"1")
    with pytest.raises(StorageError, match="table/file/below"):
        storage.create("file/below", b"2")


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
