"""Creating a table: its metadata table first, then its properties, whose appearance is the table's."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from pyhudi.clock import Machine
from pyhudi.errors import FileExists, InvalidRequest, TableExists
from pyhudi.file_group.metadata_tasks import metadata_hfile
from pyhudi.file_group.stats import value_type_of
from pyhudi.format.file_names import (
    HFILE,
    PARTITION_METADATA,
    BaseFileName,
    FileId,
    LogFileName,
    WriteToken,
    print_partition_metadata,
)
from pyhudi.format.instant import (
    Action,
    CompletionTime,
    RequestedTime,
    completed_name,
    inflight_name,
    print_time,
    requested_name,
)
from pyhudi.format.keys import generator_for
from pyhudi.format.log_file import BlockKind, Header, write_block
from pyhudi.format.merge_properties import MergeMode
from pyhudi.format.metadata import CommitMetadata, WriteStat
from pyhudi.format.metadata.commit import SCHEMA_KEY
from pyhudi.format.metadata.index_definitions import INDEX_DEFINITIONS_PATH, print_column_stats_definition
from pyhudi.format.metadata_records import (
    ALL_PARTITIONS_KEY,
    COLUMN_STATS,
    FILES,
    PARTITION_STATS,
    FileList,
    RecordType,
    metadata_commit_schema_text,
)
from pyhudi.format.properties import CHECKSUM, print_properties, table_checksum
from pyhudi.format.schema import COMMIT_TIME, META_COLUMNS, PARTITION_PATH, RECORD_KEY
from pyhudi.format.table_properties import (
    ARCHIVE_FOLDER,
    BASE_FILE_FORMAT,
    CDC_ENABLED,
    CREATE_SCHEMA,
    DATABASE,
    DROP_PARTITION_COLUMNS,
    HISTORY_PATH,
    HIVE_STYLE,
    INDEX_DEFS_PATH,
    INITIAL_VERSION,
    KEY_GENERATOR_TYPE,
    LAYOUT,
    MERGE_MODE,
    MERGE_STRATEGY,
    METADATA_INFLIGHT,
    METADATA_PARTITIONS,
    METAFILE_BASE_FORMAT,
    MULTIPLE_FORMATS,
    NAME,
    PARTITION_FIELDS,
    PAYLOAD_CLASS,
    POPULATE_META_FIELDS,
    RECORD_KEY_FIELDS,
    TABLE_FORMAT,
    TIMELINE_PATH,
    TIMEZONE,
    TYPE,
    URL_ENCODE,
    VERSION,
    TableProperties,
    TableType,
)
from pyhudi.format.version import CURRENT, TableVersion, version_of
from pyhudi.merge.arrow_schema import avro_of, stored_type
from pyhudi.storage import Storage, joined
from pyhudi.table.metadata_table import METADATA_FOLDER
from pyhudi.table.table import PROPERTIES_PATH
from pyhudi.transaction.writer import Writer

_INDEXED_COLUMNS_AT_MOST = 32
_KEEP = ".keep"
"""Keeps the folders of the timeline: Java cannot read a new table without them, and storage knows files only."""
_FILE_GROUPS = {FILES: ("files", 1), COLUMN_STATS: ("col-stats", 2), PARTITION_STATS: ("partition-stats", 1)}


@dataclass(frozen=True, kw_only=True)
class TableDefinition:
    """What a new table is to be."""

    name: str
    schema: pa.Schema
    table_type: TableType
    record_key: Sequence[str]
    partition_by: Sequence[str] = ()
    ordering: Sequence[str] = ()
    table_version: int = CURRENT.code
    options: Mapping[str, str] = field(default_factory=dict)


def create(storage: Storage, machine: Machine, definition: TableDefinition) -> None:
    """Create the table, or raise `TableExists`; what a creation that crashed left behind goes first."""
    version = version_of(definition.table_version, storage.uri)
    schema = stored_schema(definition)
    writer = Writer(storage, machine, definition.options)
    properties = properties_of(definition, version, schema)
    TableProperties.of(properties, storage.uri)
    with writer.lock.held("create the table"):
        if storage.stat(PROPERTIES_PATH) is not None:
            raise TableExists(f"there is a Hudi table at {storage.uri} already; open it with pyhudi.table")
        _remove_leftovers(storage, METADATA_FOLDER)
        partitions = properties[METADATA_PARTITIONS].split(",")
        _create_metadata_table(storage, machine, definition.name, version, partitions)
        storage.replace(joined(version.layout.history_folder, _KEEP), b"")
        columns = indexed_columns(schema)
        storage.replace(INDEX_DEFINITIONS_PATH, print_column_stats_definition(columns, version.stats_index_version))
        comment = _comment(machine)
        try:
            storage.create(PROPERTIES_PATH, print_properties(properties, comment))
        except FileExists as problem:
            raise TableExists(f"another process created a table at {storage.uri} meanwhile; open it") from problem


def stored_schema(definition: TableDefinition) -> pa.Schema:
    """The columns as they will be stored; refuses what cannot be, by name."""
    schema = definition.schema
    taken = [name for name in schema.names if name in META_COLUMNS]
    if taken:
        raise InvalidRequest(f"column {taken[0]} is one of Hudi's own; leave it out of the schema")
    if len(set(schema.names)) != len(schema.names):
        raise InvalidRequest("the schema names a column twice")
    _check_fields(definition)
    return pa.schema([pa.field(field.name, stored_type(field), nullable=True) for field in schema])


def _check_fields(definition: TableDefinition) -> None:
    if not definition.record_key:
        raise InvalidRequest("record_key names no column; a table needs a key")
    if len(definition.ordering) > 1:
        raise InvalidRequest(f"ordering names {len(definition.ordering)} columns; one is supported")
    for role, names in (
        ("record_key", definition.record_key),
        ("partition_by", definition.partition_by),
        ("ordering", definition.ordering),
    ):
        for name in names:
            if name not in definition.schema.names:
                raise InvalidRequest(f"{role} names {name!r}, which is no column: {', '.join(definition.schema.names)}")


def properties_of(definition: TableDefinition, version: TableVersion, schema: pa.Schema) -> dict[str, str]:
    """hoodie.properties of the new table."""
    generator = generator_for(len(definition.record_key), len(definition.partition_by))
    mode = MergeMode.EVENT_TIME_ORDERING if definition.ordering else MergeMode.COMMIT_TIME_ORDERING
    partitions = [COLUMN_STATS, FILES, *([PARTITION_STATS] if definition.partition_by else [])]
    avro = avro_of(schema, f"{definition.name}_record", f"hoodie.{definition.name}")
    properties = {
        **_shared_properties(version),
        NAME: definition.name,
        TYPE: str(definition.table_type),
        RECORD_KEY_FIELDS: ",".join(definition.record_key),
        PARTITION_FIELDS: ",".join(definition.partition_by),
        KEY_GENERATOR_TYPE: str(generator),
        MERGE_MODE: str(mode),
        POPULATE_META_FIELDS: "true",
        HIVE_STYLE: "false",
        URL_ENCODE: "false",
        BASE_FILE_FORMAT: "PARQUET",
        MULTIPLE_FORMATS: "false",
        METAFILE_BASE_FORMAT: "false",
        CDC_ENABLED: "false",
        TABLE_FORMAT: "native",
        TIMEZONE: "UTC",
        CREATE_SCHEMA: json.dumps(avro, separators=(",", ":")),
        METADATA_PARTITIONS: ",".join(partitions),
        METADATA_INFLIGHT: "",
        INDEX_DEFS_PATH: INDEX_DEFINITIONS_PATH,
    }
    if definition.ordering:
        properties[version.ordering_property] = ",".join(definition.ordering)
    properties |= {key: str(value) for key, value in definition.options.items() if key in _CHOSEN_AT_CREATION}
    properties[CHECKSUM] = table_checksum(properties.get(DATABASE, ""), definition.name)
    return properties


_CHOSEN_AT_CREATION = frozenset({DATABASE, HIVE_STYLE, URL_ENCODE, TIMEZONE, MERGE_MODE})
"""Table properties that the options of `create_table` may set."""


def indexed_columns(schema: pa.Schema) -> tuple[str, ...]:
    """The columns whose ranges Hudi keeps by default: three meta columns and the first that can be indexed."""
    own = [field.name for field in schema if value_type_of(field.type) is not None]
    return (COMMIT_TIME, PARTITION_PATH, RECORD_KEY, *own[:_INDEXED_COLUMNS_AT_MOST])


def _shared_properties(version: TableVersion) -> dict[str, str]:
    return {
        VERSION: str(version.code),
        INITIAL_VERSION: str(version.code),
        LAYOUT: str(version.layout.number),
        TIMELINE_PATH: "timeline",
        HISTORY_PATH: "history",
        ARCHIVE_FOLDER: "history",
        DROP_PARTITION_COLUMNS: "false",
    }


def _metadata_properties(name: str, version: TableVersion) -> dict[str, str]:
    table = f"{name}_metadata"
    return {
        **_shared_properties(version),
        NAME: table,
        TYPE: str(TableType.MERGE_ON_READ),
        BASE_FILE_FORMAT: "HFILE",
        RECORD_KEY_FIELDS: "key",
        POPULATE_META_FIELDS: "false",
        PAYLOAD_CLASS: "org.apache.hudi.metadata.HoodieMetadataPayload",
        KEY_GENERATOR_TYPE: "HOODIE_TABLE_METADATA",
        MERGE_MODE: str(MergeMode.CUSTOM),
        MERGE_STRATEGY: "00000000-0000-0000-0000-000000000000",
        CHECKSUM: table_checksum("", table),
    }


def _create_metadata_table(
    storage: Storage, machine: Machine, name: str, version: TableVersion, partitions: Sequence[str]
) -> None:
    """Every partition of it by a delta commit of its own, `files` first, at the instants that Hudi gives them."""
    inner = storage.within(METADATA_FOLDER)
    inner.create(PROPERTIES_PATH, print_properties(_metadata_properties(name, version), _comment(machine)))
    now = machine.clock.now_ms()
    for number, partition in enumerate(sorted(partitions, key=list(_FILE_GROUPS).index)):
        instant = RequestedTime(f"{number:017d}")
        completion = CompletionTime(print_time(now + number))
        folder = version.layout.active_folder
        inner.create(joined(folder, requested_name(instant, Action.DELTA_COMMIT)), b"")
        inner.create(joined(folder, inflight_name(instant, Action.DELTA_COMMIT)), b"")
        commit = CommitMetadata(
            operation="BULK_INSERT_PREPPED",
            stats=tuple(_create_file_groups(inner, partition, instant, now)),
            extra={SCHEMA_KEY: metadata_commit_schema_text()},
        )
        inner.create(joined(folder, completed_name(instant, completion, Action.DELTA_COMMIT)), commit.to_bytes())


def _create_file_groups(inner: Storage, partition: str, instant: RequestedTime, now_ms: int) -> list[WriteStat]:
    """Each file group begins with a log of nothing; `files` has a base file that says there are no partitions yet."""
    prefix, count = _FILE_GROUPS[partition]
    inner.create(joined(partition, PARTITION_METADATA), print_partition_metadata(instant, 1))
    token = WriteToken("0-0-0")
    stats: list[WriteStat] = []
    for number in range(count):
        file_id = FileId(f"{prefix}-{number:04d}-0")
        log = LogFileName(file_id=file_id, instant=instant, version=1, write_token=token)
        empty = b"\x00\x00\x00\x03\x00\x00\x00\x01\x00"
        block = write_block(BlockKind.DELETE, {Header.INSTANT_TIME: str(instant)}, empty)
        inner.create(joined(partition, str(log)), block)
        if partition == FILES:
            name = str(BaseFileName(file_id=file_id, write_token=token, instant=instant, extension=HFILE))
            nothing = FileList(kind=RecordType.PARTITION_LIST, entries={})
            content = metadata_hfile({ALL_PARTITIONS_KEY: nothing}, created_ms=now_ms, bloom=True)
            inner.create(joined(partition, name), content)
            stats.append(_first_stat(partition, file_id, name, len(content)))
    return stats


def _first_stat(partition: str, file_id: FileId, name: str, size: int) -> WriteStat:
    return WriteStat(
        file_id=file_id,
        path=joined(partition, name),
        partition_path=partition,
        previous_commit="null",
        writes=1,
        inserts=1,
        bytes_written=size,
        file_size=size,
    )


def _remove_leftovers(storage: Storage, folder: str) -> None:
    """Files of a creation that never finished, one by one."""
    listing = storage.list(folder)
    for info in listing.files:
        storage.delete(info.path)
    for name in listing.directories:
        _remove_leftovers(storage, joined(folder, name))


def _comment(machine: Machine) -> str:
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=machine.clock.now_ms())
    return f"Properties saved on {moment.isoformat()}Z"
