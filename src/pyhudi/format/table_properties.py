"""hoodie.properties as one typed record: what a table is, read and written without losing what we do not know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pyhudi.errors import CorruptTable, Unsupported
from pyhudi.format.keys import KeyGenerator, KeySpec, generator_for
from pyhudi.format.merge_properties import MergeMode
from pyhudi.format.properties import CHECKSUM, table_checksum
from pyhudi.format.version import TableVersion, version_of

NAME = "hoodie.table.name"
DATABASE = "hoodie.database.name"
TYPE = "hoodie.table.type"
VERSION = "hoodie.table.version"
INITIAL_VERSION = "hoodie.table.initial.version"
LAYOUT = "hoodie.timeline.layout.version"
TIMELINE_PATH = "hoodie.timeline.path"
HISTORY_PATH = "hoodie.timeline.history.path"
ARCHIVE_FOLDER = "hoodie.archivelog.folder"
RECORD_KEY_FIELDS = "hoodie.table.recordkey.fields"
PARTITION_FIELDS = "hoodie.table.partition.fields"
KEY_GENERATOR_TYPE = "hoodie.table.keygenerator.type"
KEY_GENERATOR_CLASS = "hoodie.table.keygenerator.class"
MERGE_MODE = "hoodie.record.merge.mode"
MERGE_STRATEGY = "hoodie.record.merge.strategy.id"
PAYLOAD_CLASS = "hoodie.compaction.payload.class"
PARTIAL_UPDATE_MODE = "hoodie.table.partial.update.mode"
DELETE_FIELD = "hoodie.record.merge.property.hoodie.payload.delete.field"
DELETE_MARKER = "hoodie.record.merge.property.hoodie.payload.delete.marker"
POPULATE_META_FIELDS = "hoodie.populate.meta.fields"
HIVE_STYLE = "hoodie.datasource.write.hive_style_partitioning"
URL_ENCODE = "hoodie.datasource.write.partitionpath.urlencode"
DROP_PARTITION_COLUMNS = "hoodie.datasource.write.drop.partition.columns"
SLASH_DATES = "hoodie.datasource.write.slash.separated.date.partitioning"
BASE_FILE_FORMAT = "hoodie.table.base.file.format"
MULTIPLE_FORMATS = "hoodie.table.multiple.base.file.formats.enable"
TIMEZONE = "hoodie.table.timeline.timezone"
METAFILE_BASE_FORMAT = "hoodie.partition.metafile.use.base.format"
CDC_ENABLED = "hoodie.table.cdc.enabled"
CREATE_SCHEMA = "hoodie.table.create.schema"
METADATA_PARTITIONS = "hoodie.table.metadata.partitions"
METADATA_INFLIGHT = "hoodie.table.metadata.partitions.inflight"
INDEX_DEFS_PATH = "hoodie.table.index.defs.path"
TABLE_FORMAT = "hoodie.table.format"
BOOTSTRAP_BASE = "hoodie.bootstrap.base.path"

IDENTITY_KEYS = frozenset(
    {NAME, DATABASE, TYPE, VERSION, LAYOUT, RECORD_KEY_FIELDS, PARTITION_FIELDS, KEY_GENERATOR_TYPE}
)
"""Properties that make the table what it is; nobody changes them on a living table."""


class TableType(StrEnum):
    """How updates are stored."""

    COPY_ON_WRITE = "COPY_ON_WRITE"
    MERGE_ON_READ = "MERGE_ON_READ"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProperties:
    """The properties of one table; `raw` holds every key as it stands in the file."""

    name: str
    database: str
    table_type: TableType
    version: TableVersion
    keys: KeySpec
    ordering_fields: tuple[str, ...]
    merge_mode: MergeMode
    delete_field: str | None
    delete_marker: str | None
    timeline_in_utc: bool
    base_file_format: str
    create_schema: str | None
    metadata_partitions: frozenset[str]
    metadata_partitions_inflight: frozenset[str]
    raw: Mapping[str, str]

    @classmethod
    def of(cls, raw: Mapping[str, str], where: str) -> TableProperties:
        """The record of a parsed file; a feature that changes what rows mean is refused by name."""
        _check_checksum(raw, where)
        version = version_of(_integer(raw, VERSION, where), where)
        _refuse_unknown_features(raw, where)
        return cls(
            name=_required(raw, NAME, where),
            database=raw.get(DATABASE, ""),
            table_type=TableType(raw.get(TYPE, TableType.COPY_ON_WRITE)),
            version=version,
            keys=_keys(raw, version, where),
            ordering_fields=_list(raw.get(version.ordering_property)),
            merge_mode=_merge_mode(raw, version, where),
            delete_field=raw.get(DELETE_FIELD),
            delete_marker=raw.get(DELETE_MARKER),
            timeline_in_utc=raw.get(TIMEZONE, "LOCAL").upper() == "UTC",
            base_file_format=raw.get(BASE_FILE_FORMAT, "PARQUET").upper(),
            create_schema=raw.get(CREATE_SCHEMA),
            metadata_partitions=frozenset(_list(raw.get(METADATA_PARTITIONS))),
            metadata_partitions_inflight=frozenset(_list(raw.get(METADATA_INFLIGHT))),
            raw=dict(raw),
        )

    @property
    def is_merge_on_read(self) -> bool:
        """True when updates go to log files."""
        return self.table_type is TableType.MERGE_ON_READ

    @property
    def has_metadata_table(self) -> bool:
        """True when the metadata table lists the files."""
        return "files" in self.metadata_partitions

    def refuse_to_write(self) -> str | None:
        """Why pyhudi must not write this table yet; None when it may. Reading is judged by `of`."""
        raw = self.raw
        checks = (
            (raw.get(CDC_ENABLED, "false") == "true", f"{CDC_ENABLED}=true (change data capture)"),
            (raw.get(DROP_PARTITION_COLUMNS, "false") == "true", f"{DROP_PARTITION_COLUMNS}=true"),
            (raw.get(SLASH_DATES, "false") == "true", f"{SLASH_DATES}=true"),
            (raw.get(METAFILE_BASE_FORMAT, "false") == "true", f"{METAFILE_BASE_FORMAT}=true"),
            (not self.keys.key_fields, f"no {RECORD_KEY_FIELDS} (generated keys)"),
            (len(self.ordering_fields) > 1, f"several ordering fields {','.join(self.ordering_fields)}"),
        )
        found = [text for refused, text in checks if refused]
        found += [f"metadata table partition {name}" for name in sorted(self._unkept_partitions())]
        return "; ".join(found) or None

    def _unkept_partitions(self) -> frozenset[str]:
        return (self.metadata_partitions | self.metadata_partitions_inflight) - KEPT_METADATA_PARTITIONS


KEPT_METADATA_PARTITIONS = frozenset({"files", "column_stats", "partition_stats"})
"""Partitions of the metadata table that every commit of ours keeps exact."""

_KEY_CLASSES = {
    f"org.apache.hudi.keygen.{prefix}{infix}KeyGenerator": kind
    for prefix, kind in (
        ("Simple", KeyGenerator.SIMPLE),
        ("Complex", KeyGenerator.COMPLEX),
        ("Nonpartitioned", KeyGenerator.NON_PARTITION),
    )
    for infix in ("", "Avro")
}


def _check_checksum(raw: Mapping[str, str], where: str) -> None:
    stored = raw.get(CHECKSUM)
    if stored is not None and stored != table_checksum(raw.get(DATABASE, ""), raw.get(NAME, "")):
        raise CorruptTable(f"{where}: {CHECKSUM} does not fit the table's name; restore the file from its backup")


def _refuse_unknown_features(raw: Mapping[str, str], where: str) -> None:
    """Features with which rows that we read could be wrong."""
    parquet = raw.get(BASE_FILE_FORMAT, "PARQUET").upper() != "HFILE"
    refused = (
        (
            parquet and raw.get(POPULATE_META_FIELDS, "true") == "false",
            f"{POPULATE_META_FIELDS}=false (no meta columns)",
        ),
        (BOOTSTRAP_BASE in raw, f"{BOOTSTRAP_BASE} (bootstrapped table)"),
        (raw.get(TABLE_FORMAT, "native") != "native", f"{TABLE_FORMAT}={raw.get(TABLE_FORMAT)}"),
        (raw.get(MULTIPLE_FORMATS, "false") == "true", f"{MULTIPLE_FORMATS}=true"),
        (raw.get(BASE_FILE_FORMAT, "PARQUET").upper() not in ("PARQUET", "HFILE"), f"{BASE_FILE_FORMAT}"),
        (bool(raw.get(PARTIAL_UPDATE_MODE)), f"{PARTIAL_UPDATE_MODE}={raw.get(PARTIAL_UPDATE_MODE)}"),
    )
    found = [text for present, text in refused if present]
    if found:
        raise Unsupported(f"table at {where} uses {'; '.join(found)}, which pyhudi does not read yet")


def _keys(raw: Mapping[str, str], version: TableVersion, where: str) -> KeySpec:
    key_fields = _list(raw.get(RECORD_KEY_FIELDS))
    partition_fields = _list(raw.get(PARTITION_FIELDS))
    return KeySpec(
        generator=_generator(raw, len(key_fields), len(partition_fields), where),
        key_fields=key_fields,
        partition_fields=tuple(field.split(":")[0] for field in partition_fields),
        hive_style=raw.get(HIVE_STYLE, "false") == "true",
        url_encoded=raw.get(URL_ENCODE, "false") == "true",
        prefix_single_key=version.single_complex_key_is_prefixed,
    )


def _generator(raw: Mapping[str, str], key_fields: int, partition_fields: int, where: str) -> KeyGenerator:
    by_class = raw.get(KEY_GENERATOR_CLASS)
    if by_class is not None:
        if by_class not in _KEY_CLASSES:
            raise Unsupported(f"table at {where} uses key generator {by_class}, which pyhudi does not support yet")
        return _KEY_CLASSES[by_class]
    by_type = raw.get(KEY_GENERATOR_TYPE)
    if by_type is None:
        return generator_for(key_fields, partition_fields)
    plain = by_type.removesuffix("_AVRO")
    if plain == "HOODIE_TABLE_METADATA":
        return KeyGenerator.SIMPLE
    if plain not in frozenset(KeyGenerator):
        raise Unsupported(f"table at {where} uses key generator {by_type}, which pyhudi does not support yet")
    return KeyGenerator(plain)


def _merge_mode(raw: Mapping[str, str], version: TableVersion, where: str) -> MergeMode:
    text = raw.get(MERGE_MODE)
    if text is None:
        ordered = _list(raw.get(version.ordering_property))
        return MergeMode.EVENT_TIME_ORDERING if ordered else MergeMode.COMMIT_TIME_ORDERING
    if text == MergeMode.CUSTOM and raw.get(BASE_FILE_FORMAT, "").upper() != "HFILE":
        asked = raw.get(PAYLOAD_CLASS) or raw.get(MERGE_STRATEGY)
        raise Unsupported(f"table at {where} merges by {MERGE_MODE}=CUSTOM ({asked}), which pyhudi does not do yet")
    return MergeMode(text)


def _required(raw: Mapping[str, str], key: str, where: str) -> str:
    if key not in raw:
        raise CorruptTable(f"{where}: {key} is missing; restore the file from its backup")
    return raw[key]


def _integer(raw: Mapping[str, str], key: str, where: str) -> int:
    text = _required(raw, key, where)
    if not text.isdigit():
        raise CorruptTable(f"{where}: {key}={text!r} is no number")
    return int(text)


def _list(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
