"""Names of base files, log files, markers and partition metadata; file ids and write tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from pyhudi.format.instant import RequestedTime

FileId = NewType("FileId", str)
WriteToken = NewType("WriteToken", str)

PARTITION_METADATA = ".hoodie_partition_metadata"
META_FOLDER = ".hoodie"
PARQUET = "parquet"
HFILE = "hfile"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseFileName:
    """`<file id>_<write token>_<instant>.<extension>`."""

    file_id: FileId
    write_token: WriteToken
    instant: RequestedTime
    extension: str

    def __str__(self) -> str:
        return f"{self.file_id}_{self.write_token}_{self.instant}.{self.extension}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFileName:
    """`.<file id>_<instant>.log.<version>_<write token>`; a `.cdc` suffix marks change data."""

    file_id: FileId
    instant: RequestedTime
    version: int
    write_token: WriteToken
    suffix: str = ""

    def __str__(self) -> str:
        return f".{self.file_id}_{self.instant}.log.{self.version}_{self.write_token}{self.suffix}"

    @property
    def replay_order(self) -> tuple[str, int, str, str]:
        """Ascending in the order in which log files of a slice are replayed; write tokens compare as text."""
        return (self.instant, self.version, self.write_token, self.suffix)


_BASE = re.compile(r"([a-zA-Z0-9-]+)_([a-zA-Z0-9-]+)_([0-9]+)\.(parquet|hfile|orc|lance)")
_BUCKET = re.compile(r"0000\d{4}-")
_LOG = re.compile(r"\.([^._]+)_([0-9]+)\.log\.(\d+)(?:_(\d+-\d+-\d+))?(\.cdc)?")


def is_bucket(file_id: str) -> bool:
    """True for the file id of a bucket: its number in eight digits where others begin with a random UUID."""
    return _BUCKET.match(file_id) is not None


def parse_base_file(name: str) -> BaseFileName | None:
    """The parts of a base file's name; None for any other file."""
    match = _BASE.fullmatch(name)
    if match is None:
        return None
    file_id, token, instant, extension = match.groups()
    return BaseFileName(
        file_id=FileId(file_id), write_token=WriteToken(token), instant=RequestedTime(instant), extension=extension
    )


def parse_log_file(name: str) -> LogFileName | None:
    """The parts of a log file's name; None for any other file."""
    match = _LOG.fullmatch(name)
    if match is None:
        return None
    file_id, instant, version, token, suffix = match.groups()
    return LogFileName(
        file_id=FileId(file_id),
        instant=RequestedTime(instant),
        version=int(version),
        write_token=WriteToken(token or ""),
        suffix=suffix or "",
    )


def parse_data_file(name: str) -> BaseFileName | LogFileName | None:
    """The parts of a data file's name, base or log; None for any other file."""
    return parse_base_file(name) or parse_log_file(name)


def print_partition_metadata(instant: str, depth: int) -> bytes:
    """Content of the file that makes a folder a partition."""
    return f"#partition metadata\ncommitTime={instant}\npartitionDepth={depth}\n".encode()


def partition_depth(partition_path: str) -> int:
    """How many folders below the table's root a partition lies."""
    return partition_path.count("/") + 1 if partition_path else 0


class MarkerKind(StrEnum):
    """What a marker announces: a new file, or a new version of a file group's base file."""

    CREATE = "CREATE"
    MERGE = "MERGE"


def marker_folder(instant: str) -> str:
    """Where the markers of an instant lie."""
    return f"{META_FOLDER}/.temp/{instant}"


def marker_path(instant: str, partition_path: str, file_name: str, kind: MarkerKind) -> str:
    """The marker that is created before a data file, so that undo finds the file whatever happens."""
    middle = f"{partition_path}/" if partition_path else ""
    return f"{marker_folder(instant)}/{middle}{file_name}.marker.{kind}"
