"""File groups and their slices, as values."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.format.file_names import BaseFileName, FileId, LogFileName
from pyhudi.format.instant import RequestedTime
from pyhudi.storage import joined


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseFile:
    """A base file on storage."""

    partition_path: str
    name: BaseFileName
    size: int

    @property
    def path(self) -> str:
        """Relative to the table."""
        return joined(self.partition_path, str(self.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A log file on storage."""

    partition_path: str
    name: LogFileName
    size: int

    @property
    def path(self) -> str:
        """Relative to the table."""
        return joined(self.partition_path, str(self.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSlice:
    """A base file (if there is one) and the log files on top of it, in replay order."""

    partition_path: str
    file_id: FileId
    base_instant: RequestedTime
    base: BaseFile | None
    logs: tuple[LogFile, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """All files, base first."""
        base = (self.base.path,) if self.base else ()
        return base + tuple(log.path for log in self.logs)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return (self.base.size if self.base else 0) + sum(log.size for log in self.logs)
