"""One consistent, immutable reading of a table."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyhudi.errors import CorruptTable, FileMissing, TableNotFound, Unsupported
from pyhudi.format.file_names import META_FOLDER, PARTITION_METADATA, FileId
from pyhudi.format.instant import Action, Instant, RequestedTime
from pyhudi.format.metadata import CommitMetadata, read_container
from pyhudi.format.metadata.commit import SCHEMA_KEY, SCHEMA_WITH_IDS_KEY
from pyhudi.format.metadata.index_definitions import INDEX_DEFINITIONS_PATH, parse_column_stats_columns
from pyhudi.format.metadata_records import COLUMN_STATS
from pyhudi.format.properties import parse_properties
from pyhudi.format.schema import META_COLUMNS
from pyhudi.format.table_properties import TableProperties
from pyhudi.storage import Storage, joined
from pyhudi.table.file_system_view import FileSystemView, GroupKey
from pyhudi.table.history import ArchivedCommits, archived_completion_times
from pyhudi.table.metadata_table import METADATA_FOLDER, MetadataTable
from pyhudi.table.slices import FileSlice
from pyhudi.table.timeline import Timeline

PROPERTIES_PATH = joined(META_FOLDER, "hoodie.properties")
PROPERTIES_BACKUP_PATH = joined(META_FOLDER, "hoodie.properties.backup")

_SCHEMA_KEEPERS = frozenset({"CLUSTER", "COMPACT", "LOG_COMPACT", "INDEX"})
"""Operations whose commits say nothing new about the schema."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """Properties, timeline and the rules of visibility, all of one moment. It has no verbs."""

    storage: Storage
    properties: TableProperties
    timeline: Timeline

    @classmethod
    def load(cls, storage: Storage) -> Table:
        """Read the properties and list the timeline: two storage calls."""
        properties = load_properties(storage)
        layout = properties.version.layout
        history = functools.lru_cache(maxsize=1)(functools.partial(archived_completion_times, storage, layout))
        return cls(storage=storage, properties=properties, timeline=Timeline.load(storage, layout, history))

    def reload(self) -> Table:
        """The same table as it stands now."""
        return Table.load(self.storage)

    @functools.cached_property
    def metadata(self) -> MetadataTable | None:
        """The metadata table, when the properties say that it lists the files."""
        if not self.properties.has_metadata_table:
            return None
        storage = self.storage.within(METADATA_FOLDER)
        inner = Table.load(storage)
        return MetadataTable(storage=storage, timeline=inner.timeline, data_timeline=self.timeline)

    @functools.cached_property
    def view(self) -> FileSystemView:
        """The rules of visibility, with what is replaced and what is about to be compacted."""
        return FileSystemView(timeline=self.timeline, replaced=self._replaced(), compacting=self._compacting())

    @functools.cached_property
    def schema(self) -> Mapping[str, Any]:
        """The user's columns as an Avro record schema, without meta columns."""
        found = self._newest_schema(self.timeline.completed_writes())
        if found is not None:
            return found
        if self.properties.create_schema:
            return _without_meta_columns(self.properties.create_schema, PROPERTIES_PATH)
        raise Unsupported(f"table at {self.storage.uri}: no active commit carries a schema, so the columns are unknown")

    def schema_at(self, as_of: RequestedTime) -> Mapping[str, Any]:
        """The user's columns as they were at an instant; today's where the commits of that time are archived."""
        writes = [each for each in self.timeline.completed_writes() if each.requested_time <= as_of]
        return self._newest_schema(writes) or self.schema

    def fields_written_at(self, instant: RequestedTime) -> list[Any] | None:
        """The columns of the files that an instant wrote, as Avro fields; None when nobody can say."""
        if instant not in self._fields_by_instant:
            self._fields_by_instant[instant] = self._fields_of(instant)
        return self._fields_by_instant[instant]

    def _fields_of(self, instant: RequestedTime) -> list[Any] | None:
        known = self.timeline.find(instant)
        if known is None:
            commit = self._archive.commit(instant)
        else:
            commit = self.timeline.commit_metadata(known) if known.completed else None
        text = commit.extra.get(SCHEMA_KEY) if commit is not None else None
        return list(_without_meta_columns(text, str(instant))["fields"]) if text else None

    @functools.cached_property
    def _archive(self) -> ArchivedCommits:
        return ArchivedCommits(self.storage, self.properties.version.layout)

    @functools.cached_property
    def _fields_by_instant(self) -> dict[RequestedTime, list[Any] | None]:
        return {}

    @functools.cached_property
    def time_travel_start(self) -> RequestedTime | None:
        """What earlier moments need may have been cleaned; None when nothing was."""
        cleans = self.timeline.completed(Action.CLEAN)
        if not cleans:
            return None
        path = self.timeline.path(cleans[-1])
        retained = read_container(self.storage.read(path), path).get("earliestCommitToRetain")
        return RequestedTime(retained) if retained else self.timeline.start

    @functools.cached_property
    def indexed_columns(self) -> tuple[str, ...]:
        """Columns whose ranges the metadata table keeps."""
        if COLUMN_STATS not in self.properties.metadata_partitions:
            return ()
        try:
            content = self.storage.read(INDEX_DEFINITIONS_PATH)
        except FileMissing as problem:
            raise CorruptTable(
                f"{INDEX_DEFINITIONS_PATH} is missing, though the metadata table has {COLUMN_STATS}; restore it"
            ) from problem
        return parse_column_stats_columns(content, INDEX_DEFINITIONS_PATH) or ()

    def partitions(self) -> list[str]:
        """Paths of all partitions."""
        if self.metadata is not None:
            return self.metadata.partitions()
        return sorted(listed_partitions(self.storage))

    def files(self, partition_paths: Iterable[str]) -> dict[str, dict[str, int]]:
        """Names and sizes of the files in these partitions."""
        if self.metadata is not None:
            return self.metadata.files(partition_paths)
        return {path: {info.name: info.size for info in self.storage.list(path).files} for path in partition_paths}

    def slices(self, partition_paths: Iterable[str], as_of: RequestedTime | None = None) -> list[FileSlice]:
        """Newest visible slices of these partitions."""
        found: list[FileSlice] = []
        for path, files in sorted(self.files(partition_paths).items()):
            found += self.view.latest_slices(path, files, as_of)
        return found

    def _newest_schema(self, writes: Sequence[Instant]) -> Mapping[str, Any] | None:
        for instant in reversed(writes):
            metadata = self.timeline.commit_metadata(instant)
            text = metadata.extra.get(SCHEMA_KEY)
            if text and metadata.operation not in _SCHEMA_KEEPERS:
                if metadata.extra.get(SCHEMA_WITH_IDS_KEY):
                    raise Unsupported(
                        f"{instant} evolves the schema by column ids (hoodie.schema.on.read.enable), "
                        f"which pyhudi does not read yet; read the table with Hudi"
                    )
                return _without_meta_columns(text, str(instant))
        return None

    def _replaced(self) -> dict[GroupKey, RequestedTime]:
        replaced: dict[GroupKey, RequestedTime] = {}
        for instant in self.timeline.completed(Action.REPLACE_COMMIT):
            metadata: CommitMetadata = self.timeline.commit_metadata(instant)
            for path, file_ids in metadata.replaced.items():
                for file_id in file_ids:
                    replaced.setdefault((path, FileId(file_id)), instant.requested_time)
        return replaced

    def _compacting(self) -> dict[GroupKey, RequestedTime]:
        compacting: dict[GroupKey, RequestedTime] = {}
        for instant in self.timeline.pending(Action.COMPACTION):
            for operation in self.timeline.compaction_plan(instant).operations:
                compacting[(operation.partition_path, FileId(operation.file_id))] = instant.requested_time
        return compacting


def load_properties(storage: Storage) -> TableProperties:
    """hoodie.properties, or its backup while somebody is rewriting it."""
    problems: list[str] = []
    missing = 0
    for path in (PROPERTIES_PATH, PROPERTIES_BACKUP_PATH):
        try:
            raw = parse_properties(storage.read(path), path)
            if raw:
                return TableProperties.of(raw, joined(storage.uri, path))
            problems.append(f"{path} is empty")
        except FileMissing:
            missing += 1
        except CorruptTable as problem:
            problems.append(str(problem))
    if missing == 2:
        raise TableNotFound(f"no Hudi table at {storage.uri}: it has no {PROPERTIES_PATH}")
    raise CorruptTable(f"table at {storage.uri}: {'; '.join(problems)}")


def listed_partitions(storage: Storage, directory: str = "") -> list[str]:
    """Partitions as the folders show them: those that carry partition metadata."""
    listing = storage.list(directory)
    found = [directory] if any(info.name == PARTITION_METADATA for info in listing.files) else []
    for name in listing.directories:
        if directory or name != META_FOLDER:
            found += listed_partitions(storage, joined(directory, name))
    return found


def _without_meta_columns(text: str, where: str) -> Mapping[str, Any]:
    try:
        schema: dict[str, Any] = json.loads(text)
        fields = [field for field in schema["fields"] if field["name"] not in META_COLUMNS]
    except (ValueError, KeyError, TypeError) as problem:
        raise CorruptTable(f"{where}: its schema is no Avro record ({problem})") from problem
    return {**schema, "fields": fields}
