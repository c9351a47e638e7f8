"""Which slices are visible at an instant: files grouped by file id, cut into slices by completion time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pyhudi.format.file_names import BaseFileName, FileId, LogFileName, parse_data_file
from pyhudi.format.instant import RequestedTime
from pyhudi.table.slices import BaseFile, FileSlice, LogFile
from pyhudi.table.timeline import Timeline

GroupKey: TypeAlias = tuple[str, FileId]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystemView:
    """Rules of visibility. `replaced`: group -> when it was replaced; `compacting`: group -> its pending compaction."""

    timeline: Timeline
    replaced: Mapping[GroupKey, RequestedTime] = field(default_factory=dict)
    compacting: Mapping[GroupKey, RequestedTime] = field(default_factory=dict)

    def latest_slices(
        self, partition_path: str, files: Mapping[str, int], as_of: RequestedTime | None = None
    ) -> list[FileSlice]:
        """The newest slice of every visible group of a partition, given the partition's files and sizes.

        With a pending compaction, what it will compact and the log files since are one slice to a reader.
        """
        found = []
        for file_id, (bases, logs) in sorted(_grouped(partition_path, files).items()):
            if self._is_replaced((partition_path, file_id), as_of):
                continue
            newest = self._newest(partition_path, file_id, bases, logs, as_of)
            if newest is not None:
                found.append(newest)
        return found

    def _is_replaced(self, group: GroupKey, as_of: RequestedTime | None) -> bool:
        when = self.replaced.get(group)
        return when is not None and (as_of is None or when <= as_of)

    def _newest(
        self,
        partition_path: str,
        file_id: FileId,
        bases: list[BaseFile],
        logs: list[LogFile],
        as_of: RequestedTime | None,
    ) -> FileSlice | None:
        committed = {base.name.instant: base for base in bases if self.timeline.is_committed(base.name.instant)}
        pending = self.compacting.get((partition_path, file_id))
        cuts = set(committed) | ({pending} if pending else set())
        slices: dict[RequestedTime, list[LogFile]] = {cut: [] for cut in cuts}
        for log in sorted(logs, key=lambda log: log.name.replay_order):
            if self.timeline.is_committed(log.name.instant):
                slices.setdefault(self._cut_of(log, slices), []).append(log)
        visible = sorted(cut for cut in slices if as_of is None or cut <= as_of)
        if not visible:
            return None
        members = [visible[-1]]
        if visible[-1] == pending and pending not in committed and len(visible) > 1:
            members = visible[-2:]
        kept = [log for cut in members for log in slices[cut] if as_of is None or log.name.instant <= as_of]
        base = committed.get(members[0])
        if base is None and not kept:
            return None
        return FileSlice(
            partition_path=partition_path,
            file_id=file_id,
            base_instant=members[0],
            base=base,
            logs=tuple(kept),
        )

    def _cut_of(self, log: LogFile, slices: Mapping[RequestedTime, list[LogFile]]) -> RequestedTime:
        """The slice a log file belongs to: the last one begun when its delta commit completed."""
        completed = self.timeline.completion_time(log.name.instant)
        begun = [cut for cut in slices if cut <= completed]
        return max(begun) if begun else log.name.instant


def _grouped(partition_path: str, files: Mapping[str, int]) -> dict[FileId, tuple[list[BaseFile], list[LogFile]]]:
    groups: dict[FileId, tuple[list[BaseFile], list[LogFile]]] = {}
    for text, size in files.items():
        name = parse_data_file(text)
        match name:
            case BaseFileName():
                group = groups.setdefault(name.file_id, ([], []))
                group[0].append(BaseFile(partition_path=partition_path, name=name, size=size))
            case LogFileName() if not name.suffix:
                group = groups.setdefault(name.file_id, ([], []))
                group[1].append(LogFile(partition_path=partition_path, name=name, size=size))
            case _:
                continue
    return groups
