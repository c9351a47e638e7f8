"""The storage door: what pyhudi asks of a file system or object store, and nothing more.

Paths are relative to the storage's root, with `/` between parts, no leading slash, no `..`.
What every implementation guarantees:

- `create` makes the whole file appear at once under its name, or raises `FileExists` and changes nothing;
  of several creators of one name exactly one succeeds.
- `replace` makes readers see the whole old or the whole new content.
- `list` sees every file whose `create` returned before the call (strong listing).
- `delete` removes one file; no call removes a directory with content.
There is no rename and no append.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pyhudi.errors import InvalidRequest

Content: TypeAlias = bytes | Sequence[bytes | memoryview]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """A file as a listing shows it; `path` is relative to the storage's root."""

    path: str
    size: int
    modified_ms: int

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One level below a directory: files and the names of its sub-directories."""

    files: tuple[FileInfo, ...]
    directories: tuple[str, ...]


class Storage(Protocol):
    """A root under which files live. Implementations pickle, so that tasks carry them to workers."""

    @property
    def uri(self) -> str:
        """The root as users and Hudi write it: an absolute path or a URI."""
        ...

    def read(self, path: str) -> bytes:
        """The whole file, or `FileMissing`."""
        ...

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`, or `FileMissing`."""
        ...

    def stat(self, path: str) -> FileInfo | None:
        """Size and time of a file; None when there is no such file."""
        ...

    def list(self, directory: str) -> Listing:
        """One level below the directory, sorted by name; empty when it does not exist. `""` is the root."""
        ...

    def create(self, path: str, content: Content) -> None:
        """Create the file whole, or raise `FileExists`."""
        ...

    def replace(self, path: str, content: Content) -> None:
        """Put the content there, whatever was there before."""
        ...

    def delete(self, path: str) -> bool:
        """Remove one file; False when it was not there."""
        ...

    def within(self, directory: str) -> Storage:
        """The same storage with a deeper root."""
        ...


def safe_path(path: str) -> str:
    """The path itself if it stays below its root; every path that comes from metadata goes through here."""
    parts = path.split("/")
    if path.startswith("/") or "\\" in path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise InvalidRequest(f"path {path!r} leaves its root; it must be relative, without empty, '.' or '..' parts")
    return path


def joined(*parts: str) -> str:
    """Parts of a path put together, the empty ones left out."""
    return "/".join(part for part in parts if part)


def content_bytes(content: Content) -> bytes:
    """Content as one run of bytes."""
    return content if isinstance(content, bytes) else b"".join(content)
