"""What the rules look at: listings and metadata of one table, read once and only when a rule asks."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyhudi.errors import InvalidRequest
from pyhudi.format.file_names import META_FOLDER, PARTITION_METADATA, BaseFileName, LogFileName, parse_data_file
from pyhudi.format.instant import Action, Instant, RequestedTime, State
from pyhudi.format.metadata import CommitMetadata, RollbackPlan, WriteStat
from pyhudi.storage import FileInfo, Storage, joined, safe_path
from pyhudi.table.slices import BaseFile, FileSlice, LogFile
from pyhudi.table.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A base or log file as storage has it."""

    path: str
    size: int
    name: BaseFileName | LogFileName

    @property
    def partition_path(self) -> str:
        """The folder it lies in."""
        return self.path.rpartition("/")[0]

    @property
    def is_change_data(self) -> bool:
        """True for what Java writes for change data capture; commits name it apart from their files."""
        return isinstance(self.name, LogFileName) and self.name.suffix != ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A file as a completed commit records it."""

    instant: Instant
    stat: WriteStat


@dataclass(frozen=True, eq=False, kw_only=True)
class Facts:
    """One table: the user's, or its metadata table, and then `prefix` tells where it lies."""

    table: Table
    now_ms: int
    deep: bool
    prefix: str = ""

    @property
    def is_metadata_table(self) -> bool:
        """True where rows are the metadata table's own."""
        return self.prefix != ""

    @property
    def storage(self) -> Storage:
        """Where the table lies."""
        return self.table.storage

    def at(self, path: str) -> str:
        """A path of this table as findings show it."""
        return joined(self.prefix, path)

    @functools.cached_property
    def folders(self) -> Mapping[str, tuple[FileInfo, ...]]:
        """Every folder outside the metadata folder, with its files."""
        return dict(_walk(self.storage, ""))

    @functools.cached_property
    def files(self) -> Mapping[str, DataFile]:
        """Data files by path, but for those of writers that began after the table was read."""
        found = {}
        for infos in self.folders.values():
            for info in infos:
                name = parse_data_file(info.name)
                if name is not None and not self.is_later(name.instant):
                    found[info.path] = DataFile(path=info.path, size=info.size, name=name)
        return found

    def is_later(self, time: str) -> bool:
        """True for an instant that began after this reading of the table."""
        newest = self.table.timeline.newest_time()
        return newest is not None and time > newest

    @functools.cached_property
    def partitions(self) -> frozenset[str]:
        """Folders that carry partition metadata."""
        return frozenset(
            path for path, files in self.folders.items() if any(info.name == PARTITION_METADATA for info in files)
        )

    @functools.cached_property
    def commits(self) -> Mapping[Instant, CommitMetadata]:
        """What the completed writes of the active timeline say."""
        timeline = self.table.timeline
        return {instant: timeline.commit_metadata(instant) for instant in timeline.completed_writes()}

    @functools.cached_property
    def recorded(self) -> Mapping[str, Recorded]:
        """Files by path, as the commits record them; paths that leave the table are left to the rule on paths."""
        return {
            stat.path: Recorded(instant=instant, stat=stat)
            for instant, commit in self.commits.items()
            for stat in commit.stats
            if is_inside(stat.path)
        }

    @functools.cached_property
    def undone(self) -> frozenset[str]:
        """Instants that an unfinished rollback is about to remove."""
        timeline = self.table.timeline
        targets = set()
        for rollback in timeline.pending(Action.ROLLBACK):
            path = timeline.path(rollback, State.REQUESTED)
            targets.add(RollbackPlan.from_bytes(self.storage.read(path), path).instant)
        return frozenset(targets)

    def is_known(self, time: RequestedTime) -> bool:
        """True when the instant completed: on the active timeline, or in the history."""
        if time in self._completed:
            return True
        return self.is_before_the_timeline(time) and time in self.table.timeline.history()

    def is_before_the_timeline(self, time: str) -> bool:
        """True when readers take files of that time for archived, and therefore for committed."""
        start = self.table.timeline.start
        return start is not None and time < start

    @functools.cached_property
    def moments(self) -> tuple[RequestedTime | None, ...]:
        """Moments that a query may ask for: the present, and what time travel reaches."""
        timeline = self.table.timeline
        if timeline.pending(Action.CLEAN) or self.is_metadata_table:
            return (None,)
        start = self.table.time_travel_start
        reached = [each.requested_time for each in timeline.completed_writes()]
        return (None, *(time for time in reached if start is None or time >= start))

    def needed(self, moment: RequestedTime | None) -> list[FileSlice]:
        """Slices that a query at that moment reads, by what the commits record alone."""
        return [
            part
            for partition, files in self._recorded_sizes.items()
            for part in self.table.view.latest_slices(partition, files, moment)
        ]

    @functools.cached_property
    def latest(self) -> list[FileSlice]:
        """Slices that a query reads now."""
        return [self._as_stored(part) for part in self.table.slices(self.table.partitions())]

    @functools.cached_property
    def slices(self) -> list[FileSlice]:
        """Slices to open: the latest, or, when validation goes deep, all that any query may read."""
        if not self.deep:
            return self.latest
        partitions = self.table.partitions()
        found = {part.paths: part for moment in self.moments for part in self.table.slices(partitions, moment)}
        return [self._as_stored(part) for part in found.values()]

    def base_file(self, path: str) -> BaseFile | None:
        """A base file that is there, as readers take it."""
        file = self.files.get(path)
        if file is None or not isinstance(file.name, BaseFileName):
            return None
        return BaseFile(partition_path=file.partition_path, name=file.name, size=file.size)

    def log_file(self, path: str) -> LogFile | None:
        """A log file that is there, as readers take it."""
        file = self.files.get(path)
        if file is None or not isinstance(file.name, LogFileName):
            return None
        return LogFile(partition_path=file.partition_path, name=file.name, size=file.size)

    def _as_stored(self, part: FileSlice) -> FileSlice:
        """The slice with the sizes that its files really have: other rules tell where these are wrong."""
        base = self.base_file(part.base.path) if part.base is not None else None
        logs = tuple(self.log_file(log.path) or log for log in part.logs)
        return replace(part, base=base or part.base, logs=logs)

    @functools.cached_property
    def _completed(self) -> frozenset[str]:
        return frozenset(each.requested_time for each in self.table.timeline.completed_writes())

    @functools.cached_property
    def _recorded_sizes(self) -> Mapping[str, Mapping[str, int]]:
        sizes: dict[str, dict[str, int]] = defaultdict(dict)
        for path, each in self.recorded.items():
            partition, _, name = path.rpartition("/")
            sizes[partition][name] = each.stat.file_size
        return sizes


def is_inside(path: str) -> bool:
    """True for a path of a data file: below the table, outside its metadata folder."""
    try:
        return safe_path(path).split("/")[0] != META_FOLDER
    except InvalidRequest:
        return False


def _walk(storage: Storage, folder: str) -> Iterator[tuple[str, tuple[FileInfo, ...]]]:
    listing = storage.list(folder)
    yield folder, listing.files
    for name in listing.directories:
        if folder or name != META_FOLDER:
            yield from _walk(storage, joined(folder, name))
