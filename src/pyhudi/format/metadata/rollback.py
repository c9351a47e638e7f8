"""Rollback plans and results: which files of a failed instant go, and which went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyhudi.format.metadata.codecs import read_container, write_container


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackRequest:
    """Files of one partition to delete, as absolute paths."""

    partition_path: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPlan:
    """What stands in a rollback's requested file."""

    instant: str
    action: str
    requests: tuple[RollbackRequest, ...]

    def to_bytes(self) -> bytes:
        """The content of the requested file."""
        requests = [
            {
                "partitionPath": request.partition_path,
                "fileId": "",
                "latestBaseInstant": "",
                "filesToBeDeleted": list(request.files),
                "logBlocksToBeDeleted": {},
            }
            for request in self.requests
        ]
        target = {"commitTime": self.instant, "action": self.action}
        plan = {"instantToRollback": target, "RollbackRequests": requests, "version": 1}
        return write_container("HoodieRollbackPlan", plan)

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> RollbackPlan:
        """The plan of a requested file."""
        raw = read_container(content, where)
        target = raw.get("instantToRollback") or {}
        return cls(
            instant=target.get("commitTime", ""),
            action=target.get("action", ""),
            requests=tuple(
                RollbackRequest(
                    partition_path=request.get("partitionPath") or "",
                    files=tuple(request.get("filesToBeDeleted") or ()),
                )
                for request in raw.get("RollbackRequests") or ()
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackMetadata:
    """What stands in a rollback's completed file; deleted files as absolute paths by partition."""

    start: str
    duration_ms: int
    instant: str
    action: str
    deleted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The content of the completed file."""
        partitions = {
            path: {
                "partitionPath": path,
                "successDeleteFiles": list(files),
                "failedDeleteFiles": [],
                "rollbackLogFiles": {},
                "logFilesFromFailedCommit": {},
            }
            for path, files in self.deleted.items()
        }
        return write_container(
            "HoodieRollbackMetadata",
            {
                "startRollbackTime": self.start,
                "timeTakenInMillis": self.duration_ms,
                "totalFilesDeleted": sum(len(files) for files in self.deleted.values()),
                "commitsRollback": [self.instant],
                "partitionMetadata": partitions,
                "version": 1,
                "instantsRollback": [{"commitTime": self.instant, "action": self.action}],
            },
        )
