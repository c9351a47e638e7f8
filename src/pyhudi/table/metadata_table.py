"""Reading the metadata table: the files of each partition, and the ranges of columns, by key and by prefix."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pyhudi.errors import CorruptTable, Unsupported
from pyhudi.format.file_names import META_FOLDER
from pyhudi.format.hfile import HFileReader
from pyhudi.format.instant import SOLO_INSTANT_PREFIX, RequestedTime
from pyhudi.format.log_file import BlockKind, read_blocks
from pyhudi.format.metadata_records import (
    ALL_PARTITIONS_KEY,
    COLUMN_STATS,
    FILES,
    PARTITION_STATS,
    ColumnRange,
    FileList,
    MetadataRecord,
    column_stats_key,
    decode_record,
    deleted_keys,
    merge_records,
    partition_name,
    partition_path_of,
    partition_stats_key,
    shard_of,
)
from pyhudi.storage import Storage, joined
from pyhudi.table.file_system_view import FileSystemView
from pyhudi.table.slices import BaseFile, FileSlice
from pyhudi.table.timeline import Timeline

METADATA_FOLDER = joined(META_FOLDER, "metadata")

Records: TypeAlias = dict[str, MetadataRecord]


@dataclass(frozen=True, eq=False, kw_only=True)
class MetadataTable:
    """The metadata table as readers of the data table may see it.

    A delta commit of it counts only when the data table's instant of the same time is not pending: it completes first,
    and a crash between the two must not show.
    """

    storage: Storage
    timeline: Timeline
    data_timeline: Timeline
    _slices: dict[str, tuple[FileSlice, ...]] = field(default_factory=dict, init=False, repr=False)
    _bases: dict[str, HFileReader] = field(default_factory=dict, init=False, repr=False)
    _logs: dict[str, bytes] = field(default_factory=dict, init=False, repr=False)
    """what was read of files, which never change: each is read once per reading of the table"""

    def file_groups(self, partition: str) -> tuple[FileSlice, ...]:
        """Newest slice of each file group of a metadata partition, in shard order."""
        if partition not in self._slices:
            self._slices[partition] = self._load_slices(partition)
        return self._slices[partition]

    def lookup(self, partition: str, keys: Iterable[str]) -> Records:
        """Merged records of these keys."""
        groups = self.file_groups(partition)
        by_shard: dict[int, list[str]] = defaultdict(list)
        for key in sorted(set(keys)):
            by_shard[shard_of(key, len(groups))].append(key)
        found: Records = {}
        for shard, wanted in by_shard.items():
            found.update(self._merged(groups[shard], keys=wanted))
        return found

    def scan(self, partition: str, prefixes: Sequence[str] | None = None) -> Records:
        """Merged records of a whole metadata partition, or of the keys with these prefixes."""
        found: Records = {}
        for group in self.file_groups(partition):
            found.update(self._merged(group, prefixes=prefixes))
        return found

    def partitions(self) -> list[str]:
        """Paths of the data table's partitions."""
        record = self.lookup(FILES, [ALL_PARTITIONS_KEY]).get(ALL_PARTITIONS_KEY)
        return sorted(partition_path_of(name) for name in _live_sizes(record))

    def files(self, partition_paths: Iterable[str]) -> dict[str, dict[str, int]]:
        """File names and sizes of these partitions."""
        names = {partition_name(path): path for path in partition_paths}
        records = self.lookup(FILES, names)
        return {path: _live_sizes(records.get(name)) for name, path in names.items()}

    def column_ranges(
        self, columns: Sequence[str], files: Mapping[str, Iterable[str]]
    ) -> dict[tuple[str, str], ColumnRange]:
        """Ranges by (file name, column) for these files of each partition."""
        keys = {
            column_stats_key(column, path, name): (name, column)
            for path, names in files.items()
            for name in names
            for column in columns
        }
        records = self.lookup(COLUMN_STATS, keys)
        return {keys[key]: each for key, each in records.items() if isinstance(each, ColumnRange) and not each.deleted}

    def partition_ranges(self, columns: Sequence[str], paths: Iterable[str]) -> dict[tuple[str, str], ColumnRange]:
        """Ranges by (partition path, column)."""
        keys = {partition_stats_key(column, path): (path, column) for path in paths for column in columns}
        records = self.lookup(PARTITION_STATS, keys)
        return {keys[key]: each for key, each in records.items() if isinstance(each, ColumnRange) and not each.deleted}

    def counts(self, instant: RequestedTime) -> bool:
        """True when a delta commit of the metadata table may be seen."""
        if not self.timeline.is_committed(instant):
            return False
        if instant.startswith(SOLO_INSTANT_PREFIX):
            return True
        on_data = self.data_timeline.find(instant)
        return on_data is None or on_data.completed

    def _load_slices(self, partition: str) -> tuple[FileSlice, ...]:
        files = {info.name: info.size for info in self.storage.list(partition).files}
        groups = FileSystemView(timeline=self.timeline).latest_slices(partition, files)
        return tuple(
            replace(group, logs=tuple(log for log in group.logs if self.counts(log.name.instant))) for group in groups
        )

    def _merged(
        self, group: FileSlice, *, keys: Sequence[str] | None = None, prefixes: Sequence[str] | None = None
    ) -> Records:
        found: Records = {}
        if group.base is not None:
            for key, record in _records(self._base(group.base), keys, prefixes, group.base.path):
                found[key] = record
        for log in group.logs:
            if log.path not in self._logs:
                self._logs[log.path] = self.storage.read(log.path)
            for key, change in log_records(self._logs[log.path], log.path, keys, prefixes):
                apply_record(found, key, change)
        return found

    def _base(self, base: BaseFile) -> HFileReader:
        if base.path not in self._bases:
            read = functools.partial(self.storage.read_range, base.path)
            self._bases[base.path] = HFileReader(read, base.size, base.path)
        return self._bases[base.path]


def log_records(
    content: bytes, where: str, keys: Sequence[str] | None = None, prefixes: Sequence[str] | None = None
) -> Iterator[tuple[str, MetadataRecord | None]]:
    """Records of a metadata log file in replay order; None for a key that is deleted."""
    for block in read_blocks(content, where):
        match block.kind:
            case BlockKind.HFILE_DATA:
                reader = HFileReader.of_bytes(bytes(block.content), where)
                yield from _records(reader, keys, prefixes, where)
            case BlockKind.DELETE:
                for key in deleted_keys(bytes(block.content), where):
                    yield key, None
            case BlockKind.CORRUPT:
                raise CorruptTable(f"{where}: damaged block at {block.offset}; rebuild the metadata table")
            case _:
                raise Unsupported(f"{where}: {block.kind.name} block in the metadata table")


def apply_record(records: Records, key: str, record: MetadataRecord | None) -> None:
    """Replay one record over those before it."""
    if record is None:
        records.pop(key, None)
    else:
        records[key] = merge_records(records.get(key), record)


def _records(
    reader: HFileReader, keys: Sequence[str] | None, prefixes: Sequence[str] | None, where: str
) -> Iterator[tuple[str, MetadataRecord]]:
    if keys is not None:
        entries: Iterable[tuple[bytes, bytes]] = reader.lookup(key.encode() for key in keys).items()
    elif prefixes is not None:
        entries = reader.scan_prefixes(prefix.encode() for prefix in prefixes)
    else:
        entries = reader.scan()
    for key, datum in entries:
        record = decode_record(datum, reader.schema, where) if datum else None
        if record is not None:
            yield key.decode(), record


def _live_sizes(record: MetadataRecord | None) -> dict[str, int]:
    if not isinstance(record, FileList):
        return {}
    return {name: state.size for name, state in record.entries.items() if not state.deleted}
