"""Files of this machine: create-if-absent by a scratch file and a hard link, replace by a rename.

Scratch files lie in `.hoodie/.temp` of the outermost root under names that no Hudi reader takes for a marker folder;
a crash leaves at most such a file (or a second name of a whole file) there, see `SCRATCH_PREFIX`.

What survives a power loss (`durable`): the bytes of a file are on disk before the file has its name, so that no name
ever shows torn or missing bytes; file systems that keep the order of names (ext4, xfs, btrfs) therefore never
show a completed instant without its data files. Names of instants and of `hoodie.properties` are on disk when the call
returns, other names soon after.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pyhudi.errors import FileExists, FileMissing, StorageError, Unsupported
from pyhudi.storage.base import Content, FileInfo, Listing, Storage, joined, safe_path

SCRATCH_FOLDER = ".hoodie/.temp"
SCRATCH_PREFIX = "pyhudi-"
"""Begins with a letter: Java takes what sorts before an instant's digits in `.hoodie/.temp` for a marker folder."""

_SCRATCH_NUMBERS = itertools.count()
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")
_INSTANT_FOLDERS = (".hoodie", "timeline")
_RACE_RETRIES = 50
_NO_LINKS = "pyhudi follows none inside a table: put the file itself there"


def open_storage(uri: str) -> Storage:
    """The storage of a table's path: a plain path or a `file:` URI."""
    scheme = _SCHEME.match(uri)
    if scheme is None:
        return LocalStorage(uri)
    if scheme[1].lower() != "file":
        raise Unsupported(f"storage scheme {scheme[1]!r} of {uri!r} is not supported; use a local path or file:// URI")
    host, slash, path = uri[len("file:") :].removeprefix("//").partition("/")
    if host not in ("", "localhost"):
        raise Unsupported(f"{uri!r} names the host {host!r}; only files of this machine can be opened")
    return LocalStorage(slash + path)


class LocalStorage:
    """A folder of this machine as a `Storage`; symbolic links below it are refused, not followed."""

    __slots__ = ("_durable", "_root", "_scratch")

    def __init__(self, root: str, *, durable: bool = True) -> None:
        self._root = os.path.abspath(root)
        self._scratch = os.path.join(self._root, SCRATCH_FOLDER)
        self._durable = durable

    @property
    def uri(self) -> str:
        return self._root

    def read(self, path: str) -> bytes:
        with _opened(self._full(path)) as handle, open(handle, "rb", closefd=False) as file:
            return file.read()

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        parts = []
        with _opened(self._full(path)) as handle:
            while length > 0 and (part := os.pread(handle, length, offset)):
                parts.append(part)
                offset += len(part)
                length -= len(part)
        return b"".join(parts)

    def stat(self, path: str) -> FileInfo | None:
        with _storage_errors(target := self._full(path)):
            try:
                return _file_info(path, os.lstat(target))
            except (FileNotFoundError, NotADirectoryError):
                return None

    def list(self, directory: str) -> Listing:
        files: list[FileInfo] = []
        directories: list[str] = []
        with _storage_errors(target := self._full(directory) if directory else self._root):
            for entry in sorted(_entries(target), key=lambda entry: entry.name):
                if entry.is_symlink():
                    raise StorageError(f"{entry.path} is a symbolic link; {_NO_LINKS}")
                if entry.is_dir():
                    directories.append(entry.name)
                elif not _is_checksum(entry.name) and (seen := _seen(joined(directory, entry.name), entry)):
                    files.append(seen)
        return Listing(files=tuple(files), directories=tuple(directories))

    def create(self, path: str, content: Content) -> None:
        target = self._full(path)
        with _storage_errors(target), self._written(content) as scratch:
            _with_parents(target, lambda: os.link(scratch, target, follow_symlinks=False))
            _drop(_checksum_of(target))
            self._settle(target)

    def replace(self, path: str, content: Content) -> None:
        target = self._full(path)
        with _storage_errors(target), self._written(content) as scratch:
            _drop(_checksum_of(target))
            _with_parents(target, lambda: os.replace(scratch, target))
            self._settle(target)

    def delete(self, path: str) -> bool:
        with _storage_errors(target := self._full(path)):
            _drop(_checksum_of(target))
            removed = _drop(target)
            if removed:
                _prune_temporary(target)
        return removed

    def within(self, directory: str) -> Storage:
        inner = LocalStorage(self._full(directory), durable=self._durable)
        inner._scratch = self._scratch
        return inner

    def __repr__(self) -> str:
        return f"LocalStorage({self._root!r})"

    def _full(self, path: str) -> str:
        return f"{self._root}/{safe_path(path)}"

    @contextmanager
    def _written(self, content: Content) -> Iterator[str]:
        """A scratch file that holds the content; it is gone afterwards, if only from this name."""
        scratch, handle = self._scratch_file()
        try:
            with open(handle, "wb") as file:
                for buffer in (content,) if isinstance(content, bytes) else content:
                    file.write(buffer)
                file.flush()
                if self._durable and file.tell():
                    os.fsync(handle)
            yield scratch
        finally:
            _drop(scratch)

    def _scratch_file(self) -> tuple[str, int]:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        while True:
            scratch = f"{self._scratch}/{SCRATCH_PREFIX}{os.getpid()}-{next(_SCRATCH_NUMBERS)}"
            try:
                return scratch, os.open(scratch, flags, 0o644)
            except FileExistsError:
                continue
            except FileNotFoundError:
                os.makedirs(self._scratch, exist_ok=True)

    def _settle(self, target: str) -> None:
        """Bring the name itself to the disk where a caller is told that its commit stands."""
        folder = os.path.dirname(target)
        if self._durable and os.path.basename(folder) in _INSTANT_FOLDERS:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


@contextmanager
def _storage_errors(target: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as missing:
        raise FileMissing(f"there is no file {target}; read the timeline again, it may have been removed") from missing
    except FileExistsError as present:
        raise FileExists(f"{target} is there already; nothing was written") from present
    except OSError as failure:
        if failure.errno == errno.ELOOP:
            raise StorageError(f"{target} is a symbolic link; {_NO_LINKS}") from failure
        raise StorageError(f"{target}: {failure.strerror}; mend the file system, then retry") from failure


@contextmanager
def _opened(target: str) -> Iterator[int]:
    with _storage_errors(target):
        handle = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield handle
        finally:
            os.close(handle)


def _with_parents(target: str, name_it: Callable[[], None]) -> None:
    """Do it, with the folders above made as needed; a deleter may prune them at the same time."""
    for _ in range(_RACE_RETRIES):
        try:
            return name_it()
        except FileNotFoundError:
            with suppress(FileNotFoundError, FileExistsError):
                os.makedirs(os.path.dirname(target), exist_ok=True)
    name_it()


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _seen(path: str, entry: os.DirEntry[str]) -> FileInfo | None:
    """What a listing tells of a file; None if it went since the folder was read, or is no file at all."""
    try:
        return _file_info(path, entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        return None


def _file_info(path: str, found: os.stat_result) -> FileInfo | None:
    if not stat.S_ISREG(found.st_mode):
        return None
    return FileInfo(path=path, size=found.st_size, modified_ms=found.st_mtime_ns // 1_000_000)


def _checksum_of(target: str) -> str:
    folder, name = os.path.split(target)
    return f"{folder}/.{name}.crc"


def _is_checksum(name: str) -> bool:
    return name.startswith(".") and name.endswith(".crc")


def _drop(target: str) -> bool:
    try:
        os.unlink(target)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _prune_temporary(target: str) -> None:
    """Remove the emptied folders of markers, or every commit would leave some; no other folder is ever removed."""
    top = target.rfind(f"/{SCRATCH_FOLDER}/") + len(SCRATCH_FOLDER) + 1
    folder = os.path.dirname(target)
    with suppress(OSError):
        while top > len(SCRATCH_FOLDER) and len(folder) > top:
            os.rmdir(folder)
            folder = os.path.dirname(folder)
