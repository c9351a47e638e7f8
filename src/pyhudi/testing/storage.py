"""Storage for the simulator: a twin in memory that counts its calls, and a wrapper that fails on cue."""

from __future__ import annotations

import contextlib
import enum
import itertools
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pyhudi.clock import Clock
from pyhudi.errors import FileExists, FileMissing, StorageError
from pyhudi.storage.base import Content, FileInfo, Listing, Storage, content_bytes, joined, safe_path
from pyhudi.storage.local import SCRATCH_FOLDER, SCRATCH_PREFIX
from pyhudi.testing.machine import Crash, SimClock

MUTATING = frozenset({"create", "replace", "delete"})

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a storage: the verb, and the path from the outermost root."""

    verb: str
    path: str

    @property
    def mutating(self) -> bool:
        """Whether it can change anything; only there do crash points differ."""
        return self.verb in MUTATING


class _Shared:
    """Pickles as a reference to itself, so that tasks that were pickled still work on the one simulated machine."""

    def __init__(self) -> None:
        self._number = next(_numbers)
        _living[self._number] = self

    def __reduce__(self) -> tuple[Callable[[int], _Shared], tuple[int]]:
        return _living_one, (self._number,)


_numbers = itertools.count()
_living: weakref.WeakValueDictionary[int, _Shared] = weakref.WeakValueDictionary()


def _living_one(number: int) -> _Shared:
    return _living[number]


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    modified_ms: int


class _Disk(_Shared):
    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.files: dict[str, _File] = {}
        self.forget()

    def forget(self) -> None:
        self.calls: Counter[str] = Counter()
        self.trace: list[Call] = []
        self.opened: list[str] = []
        self.bytes_read = 0
        self.bytes_written = 0


class MemoryStorage:
    """Files in a dict with what an object store guarantees and no more; views made by `within` share it."""

    def __init__(self, clock: Clock | None = None, uri: str = "memory:/table") -> None:
        self._disk = _Disk(clock or SimClock())
        self._uri = uri
        self._root = ""

    @property
    def uri(self) -> str:
        return joined(self._uri, self._root)

    @property
    def calls(self) -> Counter[str]:
        """How often each verb was called."""
        return self._disk.calls

    @property
    def trace(self) -> list[Call]:
        """Every call in order."""
        return self._disk.trace

    @property
    def opened(self) -> list[str]:
        """Paths that were read, whole or in part, in order."""
        return self._disk.opened

    @property
    def bytes_read(self) -> int:
        """Bytes that reads returned."""
        return self._disk.bytes_read

    @property
    def bytes_written(self) -> int:
        """Bytes that creates and replaces were given."""
        return self._disk.bytes_written

    def forget_calls(self) -> None:
        """Set all counts to nothing."""
        self._disk.forget()

    def snapshot(self) -> Mapping[str, object]:
        """All files as they are now, for `restore`."""
        return dict(self._disk.files)

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Put the files back as they were."""
        self._disk.files = dict(snapshot)

    def contents(self) -> dict[str, bytes]:
        """Every file's path, from the outermost root, and its bytes."""
        return {path: file.content for path, file in self._disk.files.items()}

    def read(self, path: str) -> bytes:
        return self._counted(self._file("read", path).content)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        return self._counted(self._file("read_range", path).content[offset : offset + length])

    def stat(self, path: str) -> FileInfo | None:
        found = self._disk.files.get(self._called("stat", path))
        return None if found is None else _info(path, found)

    def list(self, directory: str) -> Listing:
        full = self._called("list", directory) if directory else self._called_root()
        prefix = f"{full}/" if full else ""
        files, directories = [], set()
        for name, file in self._disk.files.items():
            if name.startswith(prefix):
                first, slash, _ = name[len(prefix) :].partition("/")
                if slash:
                    directories.add(first)
                elif not (first.startswith(".") and first.endswith(".crc")):
                    files.append(_info(joined(directory, first), file))
        files.sort(key=lambda file: file.path)
        return Listing(files=tuple(files), directories=tuple(sorted(directories)))

    def create(self, path: str, content: Content) -> None:
        full = self._called("create", path)
        if full in self._disk.files:
            raise FileExists(f"{self._uri}/{full} is there already; nothing was written")
        self._put(full, content)

    def replace(self, path: str, content: Content) -> None:
        self._put(self._called("replace", path), content)

    def delete(self, path: str) -> bool:
        return self._disk.files.pop(self._called("delete", path), None) is not None

    def within(self, directory: str) -> MemoryStorage:
        inner = MemoryStorage.__new__(MemoryStorage)
        inner._disk, inner._uri = self._disk, self._uri
        inner._root = joined(self._root, safe_path(directory))
        return inner

    def _called(self, verb: str, path: str) -> str:
        return self._noted(verb, joined(self._root, safe_path(path)))

    def _called_root(self) -> str:
        return self._noted("list", self._root)

    def _noted(self, verb: str, full: str) -> str:
        self._disk.calls[verb] += 1
        self._disk.trace.append(Call(verb, full))
        return full

    def _file(self, verb: str, path: str) -> _File:
        full = self._called(verb, path)
        found = self._disk.files.get(full)
        if found is None:
            raise FileMissing(f"there is no file {self._uri}/{full}; read the timeline again, it may have been removed")
        self._disk.opened.append(full)
        return found

    def _counted(self, content: bytes) -> bytes:
        self._disk.bytes_read += len(content)
        return content

    def _put(self, full: str, content: Content) -> None:
        whole = content_bytes(content)
        self._disk.bytes_written += len(whole)
        self._disk.files[full] = _File(whole, self._disk.clock.now_ms())


def _info(path: str, file: _File) -> FileInfo:
    return FileInfo(path=path, size=len(file.content), modified_ms=file.modified_ms)


class Mode(enum.Enum):
    """How a call fails."""

    BEFORE = "the process dies before the call"
    TORN = "it dies within: nothing under the final name, a scratch file is left, and the call may land later"
    AFTER = "it dies after the call was applied"
    REFUSED = "an error is returned, nothing was applied"
    UNKNOWN = "an error is returned, yet the call was applied"


@dataclass(frozen=True, slots=True)
class Fault:
    """At call number `call` (from 0, all verbs counted) this happens."""

    call: int
    mode: Mode


class FaultPlan(_Shared):
    """What fails, and what was called; shared by all views of a storage. `before_call` lets a test step in."""

    def __init__(self, *faults: Fault, before_call: Callable[[Call], None] | None = None) -> None:
        super().__init__()
        self.faults = {fault.call: fault.mode for fault in faults}
        self.before_call = before_call
        self.trace: list[Call] = []
        self.crashed = False
        self.late: list[Callable[[], object]] = []

    def land_late_calls(self) -> None:
        """Apply what the dead process had under way: the zombie write of a torn call."""
        for call in self.late:
            try:
                call()
            except FileExists:
                continue
        self.late.clear()

    def next_mode(self, call: Call) -> Mode | None:
        """Count one call and tell its fate; a dead process makes no more calls."""
        if self.crashed:
            raise Crash(f"{call.verb} {call.path} by a dead process")
        if self.before_call is not None:
            self.before_call(call)
        self.trace.append(call)
        return self.faults.get(len(self.trace) - 1)


@dataclass(frozen=True, slots=True)
class FaultyStorage:
    """A storage whose calls fail as planned; after a crash every further call dies, as a dead process would."""

    inner: Storage
    plan: FaultPlan
    root: str = field(default="", kw_only=True)
    outermost: Storage | None = field(default=None, kw_only=True)

    @property
    def uri(self) -> str:
        return self.inner.uri

    def read(self, path: str) -> bytes:
        return self._do("read", path, lambda: self.inner.read(path))

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        return self._do("read_range", path, lambda: self.inner.read_range(path, offset, length))

    def stat(self, path: str) -> FileInfo | None:
        return self._do("stat", path, lambda: self.inner.stat(path))

    def list(self, directory: str) -> Listing:
        return self._do("list", directory, lambda: self.inner.list(directory))

    def create(self, path: str, content: Content) -> None:
        self._do("create", path, lambda: self.inner.create(path, content), content)

    def replace(self, path: str, content: Content) -> None:
        self._do("replace", path, lambda: self.inner.replace(path, content), content)

    def delete(self, path: str) -> bool:
        return self._do("delete", path, lambda: self.inner.delete(path))

    def within(self, directory: str) -> FaultyStorage:
        return FaultyStorage(
            self.inner.within(directory),
            self.plan,
            root=joined(self.root, directory),
            outermost=self.outermost or self.inner,
        )

    def _do(self, verb: str, path: str, act: Callable[[], Outcome], content: Content | None = None) -> Outcome:
        call = Call(verb, joined(self.root, path))
        mode = self.plan.next_mode(call)
        if mode is None:
            return act()
        if mode is Mode.TORN:
            self._tear(call, act, content)
        if mode in (Mode.AFTER, Mode.UNKNOWN):
            with contextlib.suppress(StorageError):
                act()
        if mode in (Mode.REFUSED, Mode.UNKNOWN):
            raise StorageError(f"{verb} of {self.uri}/{path} failed on cue; look again before a retry")
        self.plan.crashed = True
        raise Crash(f"{mode.value}: {verb} {call.path}")

    def _tear(self, call: Call, act: Callable[[], object], content: Content | None) -> None:
        if call.mutating:
            self.plan.late.append(act)
        if content is not None:
            whole = content_bytes(content)
            scratch = f"{SCRATCH_FOLDER}/{SCRATCH_PREFIX}0-{len(self.plan.trace)}"
            (self.outermost or self.inner).replace(scratch, whole[: len(whole) // 2])
