"""Compaction plans: which slices are to become base files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyhudi.errors import Unsupported
from pyhudi.format.metadata.codecs import read_container, write_container

_PLAN_VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionOperation:
    """One slice: its base file (if it has one) and its log files in replay order, as bare names."""

    partition_path: str
    file_id: str
    base_instant: str
    data_file: str | None
    log_files: tuple[str, ...]
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """What stands in a compaction's requested file; `missing_partitions` are carried forward to the next plan."""

    operations: tuple[CompactionOperation, ...]
    extra: Mapping[str, str] = field(default_factory=dict)
    missing_partitions: tuple[str, ...] = ()

    def to_bytes(self) -> bytes:
        """The content of the requested file."""
        return write_container(
            "HoodieCompactionPlan",
            {
                "operations": [_operation_to_avro(operation) for operation in self.operations],
                "extraMetadata": dict(self.extra) or None,
                "version": _PLAN_VERSION,
                "strategy": None,
                "preserveHoodieMetadata": False,
                "missingSchedulePartitions": list(self.missing_partitions),
            },
        )

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> CompactionPlan:
        """The plan of a requested file."""
        raw = read_container(content, where)
        if raw and raw.get("version") != _PLAN_VERSION:
            raise Unsupported(f"{where}: compaction plan version {raw.get('version')}, known is {_PLAN_VERSION}")
        return cls(
            operations=tuple(_operation_from_avro(operation) for operation in raw.get("operations") or ()),
            extra=raw.get("extraMetadata") or {},
            missing_partitions=tuple(raw.get("missingSchedulePartitions") or ()),
        )


def _operation_to_avro(operation: CompactionOperation) -> dict[str, Any]:
    return {
        "baseInstantTime": operation.base_instant,
        "deltaFilePaths": list(operation.log_files),
        "dataFilePath": operation.data_file,
        "fileId": operation.file_id,
        "partitionPath": operation.partition_path,
        "metrics": dict(operation.metrics),
        "bootstrapFilePath": None,
    }


def _operation_from_avro(raw: Mapping[str, Any]) -> CompactionOperation:
    return CompactionOperation(
        partition_path=raw.get("partitionPath") or "",
        file_id=raw["fileId"],
        base_instant=raw["baseInstantTime"],
        data_file=raw.get("dataFilePath"),
        log_files=tuple(raw.get("deltaFilePaths") or ()),
        metrics=raw.get("metrics") or {},
    )
