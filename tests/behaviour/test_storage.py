"""What every storage promises, asked of each implementation there is."""

import pickle

import pytest

from pyhudi.errors import FileExists, FileMissing, InvalidRequest
from pyhudi.storage import LocalStorage
from pyhudi.testing.storage import FaultPlan, FaultyStorage, MemoryStorage


@pytest.fixture(params=["local", "memory", "faultless"])
def storage(request, tmp_path):
    if request.param == "local":
        return LocalStorage(str(tmp_path / "table"))
    memory = MemoryStorage()
    return memory if request.param == "memory" else FaultyStorage(memory, FaultPlan())


def names(listing):
    return [file.name for file in listing.files]


def test_what_was_created_is_read_whole_and_in_parts(storage):
    storage.create("a/b/data.bin", b"0123456789")
    assert storage.read("a/b/data.bin") == b"0123456789"
    assert storage.read_range("a/b/data.bin", 3, 4) == b"3456"
    assert storage.read_range("a/b/data.bin", 8, 100) == b"89"
    assert storage.read_range("a/b/data.bin", 10, 5) == b""


def test_content_may_come_in_buffers(storage):
    storage.create("x", [b"ab", b"", b"cd"])
    assert storage.read("x") == b"abcd"
    storage.create("empty", [])
    assert storage.read("empty") == b""


def test_create_leaves_what_is_there_alone(storage):
    storage.create("x", b"first")
    with pytest.raises(FileExists):
        storage.create("x", b"second")
    assert storage.read("x") == b"first"


def test_replace_puts_content_whether_or_not_there_was_a_file(storage):
    storage.replace("deep/x", b"one")
    storage.replace("deep/x", b"two!")
    assert storage.read("deep/x") == b"two!"
    assert storage.stat("deep/x").size == 4


def test_delete_tells_whether_there_was_a_file(storage):
    storage.create("x", b"1")
    assert storage.delete("x") is True
    assert storage.delete("x") is False
    assert storage.stat("x") is None
    storage.create("x", b"again")


def test_a_missing_file_is_missing_to_every_verb(storage):
    storage.create("dir/x", b"1")
    for path in ("y", "dir", "no/such/folder/y", "dir/x/y"):
        with pytest.raises(FileMissing):
            storage.read(path)
        with pytest.raises(FileMissing):
            storage.read_range(path, 0, 1)
        assert storage.stat(path) is None


def test_list_shows_one_level_sorted_with_sizes(storage):
    for path, size in (("b", 2), ("a", 1), (".hidden", 3), ("sub/c", 4), ("Sub/deeper/d", 5)):
        storage.create(path, bytes(size))
    listing = storage.list("")
    assert [(file.path, file.size) for file in listing.files] == [(".hidden", 3), ("a", 1), ("b", 2)]
    assert [name for name in listing.directories if name != ".hoodie"] == ["Sub", "sub"]
    assert [(file.path, file.name) for file in storage.list("sub").files] == [("sub/c", "c")]
    assert storage.list("Sub").directories == ("deeper",)
    assert storage.list("nowhere").files == storage.list("nowhere").directories == ()


def test_a_listing_agrees_with_stat_and_time_does_not_run_back(storage):
    storage.create("x", b"1")
    storage.create("y", b"22")
    first, second = storage.list("").files
    assert (first, second) == (storage.stat("x"), storage.stat("y"))
    assert first.modified_ms <= second.modified_ms


def test_javas_checksum_files_are_not_listed(storage):
    storage.create(".x.crc", b"crc\0")
    storage.create("x", b"1")
    assert names(storage.list("")) == ["x"]


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/.", "a\\b", "a\0b"])
def test_no_path_leaves_the_root(storage, path):
    for act in (storage.read, storage.stat, storage.delete, storage.within):
        with pytest.raises(InvalidRequest):
            act(path)
    with pytest.raises(InvalidRequest):
        storage.create(path, b"")
    with pytest.raises(InvalidRequest):
        storage.replace(path, b"")
    if path:
        with pytest.raises(InvalidRequest):
            storage.list(path)


def test_names_may_hold_anything_else(storage):
    for name in ("day=2024-01-01", "a b", "%2F", "ü😀", "x:y", "#?*", "__HIVE_DEFAULT_PARTITION__", ".hoodie"):
        storage.create(f"{name}/f", name.encode())
        assert storage.read(f"{name}/f") == name.encode()
        assert name in storage.list("").directories


def test_a_view_within_sees_the_same_files(storage):
    inner = storage.within(".hoodie/metadata")
    inner.create("files/x", b"1")
    assert storage.read(".hoodie/metadata/files/x") == b"1"
    assert inner.list("files").files[0].path == "files/x"
    assert inner.within("files").read("x") == b"1"
    assert inner.uri == f"{storage.uri}/.hoodie/metadata"


def test_a_pickled_storage_works_on_the_same_files(storage):
    inner = pickle.loads(pickle.dumps(storage)).within("part")
    pickle.loads(pickle.dumps(inner)).create("x", b"1")
    assert storage.read("part/x") == b"1"
