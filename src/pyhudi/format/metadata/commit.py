"""Commit metadata: which files a commit wrote, and what it tells about them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyhudi.format.metadata.codecs import read_container, write_container

SCHEMA_KEY = "schema"
SCHEMA_WITH_IDS_KEY = "latest_schema"
NO_PREVIOUS_COMMIT = "null"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteStat:
    """One file written by a commit. `previous_commit` is the instant of the base file it replaces, or "null"."""

    file_id: str
    path: str
    partition_path: str
    previous_commit: str
    writes: int = 0
    updates: int = 0
    inserts: int = 0
    deletes: int = 0
    bytes_written: int = 0
    file_size: int = 0
    previous_base_file: str | None = None
    log_version: int | None = None
    log_files: tuple[str, ...] = ()
    log_records: int = 0
    log_blocks: int = 0
    log_files_compacted: int = 0
    log_bytes_compacted: int = 0
    updates_compacted: int = 0
    create_ms: int = 0
    upsert_ms: int = 0
    scan_ms: int = 0

    @property
    def is_log(self) -> bool:
        """True for a log file."""
        return self.log_version is not None

    @property
    def file_name(self) -> str:
        """Last part of the path."""
        return self.path.rsplit("/", 1)[-1]

    def to_avro(self) -> dict[str, Any]:
        """The record as Hudi's HoodieWriteStat."""
        return {
            "fileId": self.file_id,
            "path": self.path,
            "prevCommit": self.previous_commit,
            "numWrites": self.writes,
            "numDeletes": self.deletes,
            "numUpdateWrites": self.updates,
            "totalWriteBytes": self.bytes_written,
            "totalWriteErrors": 0,
            "partitionPath": self.partition_path,
            "totalLogRecords": self.log_records,
            "totalLogFiles": None,
            "totalUpdatedRecordsCompacted": self.updates_compacted,
            "numInserts": self.inserts,
            "totalLogBlocks": self.log_blocks,
            "totalCorruptLogBlock": 0,
            "totalRollbackBlocks": 0,
            "fileSizeInBytes": self.file_size,
            "logVersion": self.log_version,
            "logOffset": 0 if self.is_log else None,
            "baseFile": "" if self.is_log else None,
            "logFiles": list(self.log_files) if self.is_log else None,
            "cdcStats": None,
            "prevBaseFile": self.previous_base_file,
            "minEventTime": None,
            "maxEventTime": None,
            "runtimeStats": {
                "totalScanTime": self.scan_ms,
                "totalCreateTime": self.create_ms,
                "totalUpsertTime": self.upsert_ms,
            },
            "totalLogFilesCompacted": self.log_files_compacted,
            "totalLogReadTimeMs": 0,
            "totalLogSizeCompacted": self.log_bytes_compacted,
            "tempPath": None,
            "numUpdates": 0,
        }

    @classmethod
    def from_avro(cls, raw: Mapping[str, Any]) -> WriteStat:
        """The record of a HoodieWriteStat; fields that an older writer lacks count as unset."""
        return cls(
            file_id=raw.get("fileId") or "",
            path=raw.get("path") or "",
            partition_path=raw.get("partitionPath") or "",
            previous_commit=raw.get("prevCommit") or NO_PREVIOUS_COMMIT,
            writes=raw.get("numWrites") or 0,
            updates=raw.get("numUpdateWrites") or 0,
            inserts=raw.get("numInserts") or 0,
            deletes=raw.get("numDeletes") or 0,
            bytes_written=raw.get("totalWriteBytes") or 0,
            file_size=raw.get("fileSizeInBytes") or 0,
            previous_base_file=raw.get("prevBaseFile"),
            log_version=raw.get("logVersion"),
            log_files=tuple(raw.get("logFiles") or ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitMetadata:
    """What a completed commit, deltacommit or replacecommit says."""

    operation: str
    stats: tuple[WriteStat, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)
    compacted: bool = False
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def stats_by_partition(self) -> dict[str, list[WriteStat]]:
        """Stats in the order they stand, grouped by partition path."""
        grouped: dict[str, list[WriteStat]] = {}
        for stat in self.stats:
            grouped.setdefault(stat.partition_path, []).append(stat)
        return grouped

    def with_stats(self, stats: tuple[WriteStat, ...]) -> CommitMetadata:
        """The same commit with other stats."""
        return dataclasses.replace(self, stats=stats)

    def to_bytes(self) -> bytes:
        """The content of the completed file."""
        partitions = {path: [stat.to_avro() for stat in stats] for path, stats in self.stats_by_partition().items()}
        value: dict[str, Any] = {
            "partitionToWriteStats": partitions,
            "compacted": self.compacted,
            "extraMetadata": dict(self.extra),
            "version": None,
            "operationType": self.operation,
        }
        if not self.replaced:
            return write_container("HoodieCommitMetadata", value)
        value["partitionToReplaceFileIds"] = {path: list(ids) for path, ids in self.replaced.items()}
        return write_container("HoodieReplaceCommitMetadata", value)

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> CommitMetadata:
        """The record of a completed file; an empty file is a commit that wrote nothing."""
        raw = read_container(content, where)
        partitions = raw.get("partitionToWriteStats") or {}
        return cls(
            operation=raw.get("operationType") or "UNKNOWN",
            stats=tuple(WriteStat.from_avro(stat) for stats in partitions.values() for stat in stats),
            extra=raw.get("extraMetadata") or {},
            compacted=bool(raw.get("compacted")),
            replaced={path: tuple(ids) for path, ids in (raw.get("partitionToReplaceFileIds") or {}).items()},
        )
