"""What a commit adds to the metadata table: a delta commit of the same instant, complete before the data table's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from pyhudi.errors import CorruptTable, InternalError
from pyhudi.file_group.metadata_tasks import metadata_hfile
from pyhudi.file_group.rescan import ranges_of_file
from pyhudi.file_group.spec import TableSpec
from pyhudi.file_group.writer import WrittenFile
from pyhudi.format.file_names import FileId, LogFileName, WriteToken, parse_base_file
from pyhudi.format.instant import Action, RequestedTime, completed_name, inflight_name, requested_name
from pyhudi.format.log_file import BlockKind, Header, write_block
from pyhudi.format.metadata import CommitMetadata, WriteStat
from pyhudi.format.metadata.commit import SCHEMA_KEY
from pyhudi.format.metadata_records import (
    ALL_PARTITIONS_KEY,
    COLUMN_STATS,
    FILES,
    PARTITION_STATS,
    ColumnRange,
    FileList,
    FileState,
    MetadataRecord,
    RecordType,
    ValueType,
    column_stats_key,
    combine_ranges,
    metadata_commit_schema_text,
    metadata_schema_text,
    partition_name,
    partition_stats_key,
    shard_of,
    unbounded,
)
from pyhudi.storage import Storage, joined
from pyhudi.table.metadata_table import METADATA_FOLDER, MetadataTable
from pyhudi.table.slices import BaseFile, FileSlice, LogFile
from pyhudi.table.table import Table
from pyhudi.transaction.undo import undo_on_metadata_table
from pyhudi.transaction.writer import Writer

Changes: TypeAlias = dict[str, dict[str, MetadataRecord]]
"""Metadata partition -> key -> record."""


def commit_to_metadata(
    table: Table, writer: Writer, instant: RequestedTime, commit: CommitMetadata, written: Sequence[WrittenFile]
) -> None:
    """Complete the delta commit that belongs to a write of the data table; an earlier try of it goes first."""
    current = table
    if _metadata_of(table).timeline.find(instant) is not None:
        undo_on_metadata_table(table, writer, instant, writer.next_instant(table, _inner(table)))
        current = table.reload()
    write_delta(current, writer, instant, changes_of(current, commit, written))


def write_delta(table: Table, writer: Writer, instant: RequestedTime, changes: Changes) -> None:
    """One delta commit of the metadata table with these records, from requested to completed."""
    metadata = _metadata_of(table)
    storage, folder = metadata.storage, metadata.timeline.layout.active_folder
    storage.create(joined(folder, requested_name(instant, Action.DELTA_COMMIT)), b"")
    storage.create(joined(folder, inflight_name(instant, Action.DELTA_COMMIT)), b"")
    salt = writer.salt()
    created_ms = writer.machine.clock.now_ms()
    stats: list[WriteStat] = []
    for partition in sorted(changes):
        for file_id, records in _by_group(metadata, partition, changes[partition]).items():
            name = LogFileName(
                file_id=file_id, instant=instant, version=1, write_token=WriteToken(f"{len(stats)}-{salt}-0")
            )
            stats.append(_write_log(storage, partition, name, records, created_ms))
    commit = CommitMetadata(
        operation="UPSERT_PREPPED", stats=tuple(stats), extra={SCHEMA_KEY: metadata_commit_schema_text()}
    )
    completion = writer.next_completion(table, _inner(table))
    storage.create(joined(folder, completed_name(instant, completion, Action.DELTA_COMMIT)), commit.to_bytes())


def _metadata_of(table: Table) -> MetadataTable:
    if table.metadata is None:
        raise InternalError(f"table at {table.storage.uri} has no metadata table, yet one is to be written")
    return table.metadata


def _inner(table: Table) -> Table:
    """The metadata table as a table, read now."""
    return Table.load(table.storage.within(METADATA_FOLDER))


def _by_group(
    metadata: MetadataTable, partition: str, records: Mapping[str, MetadataRecord]
) -> dict[FileId, dict[str, MetadataRecord]]:
    groups = metadata.file_groups(partition)
    if not groups:
        raise CorruptTable(f"metadata table at {metadata.storage.uri} has no file group for {partition}; rebuild it")
    found: dict[FileId, dict[str, MetadataRecord]] = defaultdict(dict)
    for key, record in records.items():
        found[groups[shard_of(key, len(groups))].file_id][key] = record
    return found


def _write_log(
    storage: Storage, partition: str, name: LogFileName, records: dict[str, MetadataRecord], created_ms: int
) -> WriteStat:
    headers = {Header.INSTANT_TIME: str(name.instant), Header.SCHEMA: metadata_schema_text()}
    block = write_block(BlockKind.HFILE_DATA, headers, metadata_hfile(records, created_ms=created_ms, bloom=False))
    path = joined(partition, str(name))
    storage.create(path, block)
    return WriteStat(
        file_id=name.file_id,
        path=path,
        partition_path=partition,
        previous_commit=str(name.instant),
        writes=len(records),
        updates=len(records),
        bytes_written=len(block),
        file_size=len(block),
        log_version=1,
        log_files=(str(name),),
    )


def changes_of(table: Table, commit: CommitMetadata, written: Sequence[WrittenFile]) -> Changes:
    """The records that a write of the data table adds."""
    changes: Changes = {FILES: _file_records(commit)}
    kept = table.properties.metadata_partitions
    if COLUMN_STATS in kept:
        changes[COLUMN_STATS] = _column_records(written)
    if PARTITION_STATS in kept:
        changes[PARTITION_STATS] = _partition_records(table, written)
    return {partition: records for partition, records in changes.items() if records}


def _file_records(commit: CommitMetadata) -> dict[str, MetadataRecord]:
    by_partition = commit.stats_by_partition()
    touched = {partition_name(path): FileState(size=0, deleted=False) for path in by_partition}
    records: dict[str, MetadataRecord] = {ALL_PARTITIONS_KEY: FileList(kind=RecordType.PARTITION_LIST, entries=touched)}
    for path, stats in by_partition.items():
        entries = {stat.file_name: FileState(size=stat.file_size, deleted=False) for stat in stats}
        records[partition_name(path)] = FileList(kind=RecordType.FILES, entries=entries)
    return records


def _column_records(written: Iterable[WrittenFile]) -> dict[str, MetadataRecord]:
    return {
        column_stats_key(each.column, file.stat.partition_path, each.file_name): each
        for file in written
        for each in file.ranges
    }


def _partition_records(table: Table, written: Sequence[WrittenFile]) -> dict[str, MetadataRecord]:
    """Tight ranges over the files that are live after the write; Java skips a partition that has none."""
    by_partition: dict[str, list[WrittenFile]] = defaultdict(list)
    for file in written:
        by_partition[file.stat.partition_path].append(file)
    live = _files_that_stay(table, by_partition)
    columns = sorted({each.column for file in written for each in file.ranges})
    known = _ranges_of(table, live, columns)
    records: dict[str, MetadataRecord] = {}
    for path, files in by_partition.items():
        new = {(each.column, each.file_name): each for file in files for each in file.ranges}
        for column in columns:
            ranges = [known[(str(file.name), column)] for file in live[path]]
            ranges += [new[(column, file.stat.file_name)] for file in files]
            records[partition_stats_key(column, path)] = _tight_range(path, column, ranges)
    return records


def _ranges_of(
    table: Table, live: Mapping[str, Sequence[BaseFile | LogFile]], columns: Sequence[str]
) -> dict[tuple[str, str], ColumnRange]:
    """Ranges by (file name, column): those that the metadata table keeps, the others from the files themselves."""
    names = {path: [str(file.name) for file in files] for path, files in live.items()}
    known = _metadata_of(table).column_ranges(columns, names)
    for file in (file for files in live.values() for file in files):
        lacking = [column for column in columns if (str(file.name), column) not in known]
        if lacking:
            found = ranges_of_file(TableSpec.of(table), file, lacking)
            known.update({(each.file_name, each.column): each for each in found})
    return known


def _tight_range(path: str, column: str, ranges: Sequence[ColumnRange]) -> ColumnRange:
    types = {each.value_type for each in ranges} - {ValueType.NULL}
    combined = combine_ranges(path, ranges, tight=True) if len(types) < 2 else None
    if combined is not None:
        return combined if combined.is_known else unbounded(combined)
    return ColumnRange(
        kind=RecordType.PARTITION_STATS,
        file_name=path,
        column=column,
        value_type=ValueType.NULL,
        minimum=None,
        maximum=None,
        value_count=0,
        null_count=0,
        tight=True,
        deleted=True,
    )


def _files_that_stay(table: Table, written: Mapping[str, Sequence[WrittenFile]]) -> dict[str, list[BaseFile | LogFile]]:
    """Files of the newest slices of each partition, less what the new base files supersede."""
    files = table.files(written)
    stay: dict[str, list[BaseFile | LogFile]] = {}
    for path, new in written.items():
        begun = {file.stat.file_id: base.instant for file in new if (base := parse_base_file(file.stat.file_name))}
        slices = table.view.latest_slices(path, files[path])
        stay[path] = [file for part in slices for file in _files_left(table, part, begun.get(part.file_id))]
    return stay


def _files_left(table: Table, part: FileSlice, begun: RequestedTime | None) -> list[BaseFile | LogFile]:
    """The slice's files; under a base file begun at that time, the log files that were completed since are left."""
    if begun is None:
        return [*([part.base] if part.base is not None else []), *part.logs]
    return [log for log in part.logs if table.timeline.completion_time(log.name.instant) > begun]
