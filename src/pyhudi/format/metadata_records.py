"""Records of the metadata table: their keys, their Avro form, and how two records of one key become one."""

from __future__ import annotations

import base64
import decimal
import functools
import hashlib
import io
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, TypeAlias, assert_never

import fastavro
import xxhash

from pyhudi.errors import CorruptTable, InternalError, Unsupported
from pyhudi.format.metadata.codecs import schema_of
from pyhudi.format.schema import META_COLUMNS

FILES = "files"
COLUMN_STATS = "column_stats"
PARTITION_STATS = "partition_stats"

ALL_PARTITIONS_KEY = "__all_partitions__"
NO_PARTITION = "."

_SEED = 0xFFFFFFFFDABADABA


class RecordType(IntEnum):
    """What a record is about, as its `type` field stores it."""

    PARTITION_LIST = 1
    FILES = 2
    COLUMN_STATS = 3
    PARTITION_STATS = 6


class ValueType(IntEnum):
    """Column types as index version V2 numbers them; the numbers left out are never written here."""

    NULL = 1
    BOOLEAN = 2
    INT = 3
    LONG = 4
    FLOAT = 5
    DOUBLE = 6
    STRING = 7
    BYTES = 8
    FIXED = 9
    DECIMAL = 10
    UUID = 11
    DATE = 12
    TIME_MILLIS = 13
    TIME_MICROS = 14
    TIMESTAMP_MILLIS = 15
    TIMESTAMP_MICROS = 16
    TIMESTAMP_NANOS = 17
    LOCAL_TIMESTAMP_MILLIS = 18
    LOCAL_TIMESTAMP_MICROS = 19
    LOCAL_TIMESTAMP_NANOS = 20


StatValue: TypeAlias = bool | int | float | str | bytes | decimal.Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file (or partition) in a list: its size, or the word that it is gone."""

    size: int
    deleted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FileList:
    """Files of one partition, or the partitions of the table, by bare name."""

    kind: RecordType
    entries: Mapping[str, FileState]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRange:
    """Bounds and counts of one column in one file, or in one partition (then `file_name` is its path).

    Dates are days, times and timestamps their count of units since the epoch. NaN counts as larger than every number.
    """

    kind: RecordType
    file_name: str
    column: str
    value_type: ValueType
    minimum: StatValue | None
    maximum: StatValue | None
    value_count: int
    null_count: int
    total_size: int = 0
    total_uncompressed_size: int = 0
    decimal_type: tuple[int, int] | None = None
    tight: bool = False
    deleted: bool = False

    @property
    def has_values(self) -> bool:
        """False when nothing but nulls was seen."""
        return self.value_count > self.null_count

    @property
    def is_known(self) -> bool:
        """True when the bounds hold for all values."""
        return not self.has_values or (self.minimum is not None and self.maximum is not None)


MetadataRecord: TypeAlias = FileList | ColumnRange


@functools.cache
def metadata_schema() -> Any:
    """The schema under which records are stored: the meta columns (all null), then Hudi's own fields."""
    own = dict(schema_of("HoodieMetadataRecord"))
    meta = [{"name": name, "type": ["null", "string"], "default": None} for name in META_COLUMNS]
    own["fields"] = meta + list(own["fields"])
    return own


@functools.cache
def metadata_schema_text() -> str:
    """The same as JSON, for block headers and file footers."""
    return json.dumps(metadata_schema(), separators=(",", ":"))


@functools.cache
def metadata_commit_schema_text() -> str:
    """Hudi's own fields alone, as the metadata table's commits name their schema."""
    return json.dumps(schema_of("HoodieMetadataRecord"), separators=(",", ":"))


@functools.cache
def _parsed_own() -> Any:
    return fastavro.parse_schema(metadata_schema())


@functools.cache
def _parsed_deletes() -> Any:
    return fastavro.parse_schema(schema_of("HoodieDeleteRecordList"))


@functools.lru_cache(maxsize=8)
def _parsed(schema_text: str) -> Any:
    return fastavro.parse_schema(json.loads(schema_text))


@functools.lru_cache(maxsize=65536)
def _hash64(text: str) -> str:
    return base64.b64encode(xxhash.xxh64_digest(text.encode(), seed=_SEED)).decode()


def partition_name(partition_path: str) -> str:
    """How the metadata table calls a partition; the root of a table without partitions is `.`."""
    return partition_path or NO_PARTITION


def partition_path_of(name: str) -> str:
    """The partition path behind a name."""
    return "" if name == NO_PARTITION else name


def column_stats_key(column: str, partition_path: str, file_name: str) -> str:
    """Key of a file's column range."""
    file_hash = base64.b64encode(hashlib.md5(file_name.encode(), usedforsecurity=False).digest()).decode()
    return partition_stats_key(column, partition_path) + file_hash


def partition_stats_key(column: str, partition_path: str) -> str:
    """Key of a partition's column range; also the prefix of the keys of its files' ranges."""
    return _hash64(column) + _hash64(partition_name(partition_path))


def shard_of(key: str, groups: int) -> int:
    """Which of a metadata partition's file groups holds a key."""
    if groups == 1:
        return 0
    units = key.encode("utf-16-be", "surrogatepass")
    value = 0
    for at in range(0, len(units), 2):
        value = (31 * value + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >= 1 << 31 else value
    magnitude = signed if signed == -(1 << 31) else abs(signed)
    return abs(int(math.fmod(magnitude, groups)))


def encode_record(record: MetadataRecord) -> bytes:
    """The Avro datum; the key stands outside, in the HFile."""
    value: dict[str, Any] = {"key": "", "type": int(record.kind)}
    match record:
        case FileList():
            value["filesystemMetadata"] = {
                name: {"size": state.size, "isDeleted": state.deleted} for name, state in record.entries.items()
            }
        case ColumnRange():
            value["ColumnStatsMetadata"] = _range_to_avro(record)
        case _:
            assert_never(record)
    out = io.BytesIO()
    fastavro.schemaless_writer(out, _parsed_own(), value)
    return out.getvalue()


def decode_record(datum: bytes, schema_text: str, where: str) -> MetadataRecord | None:
    """The record of a datum, by its writer's schema; None for kinds that no reader of ours asks for."""
    try:
        raw: Any = fastavro.schemaless_reader(
            io.BytesIO(datum), _parsed(schema_text), None, return_record_name=True, return_record_name_override=True
        )
    except (EOFError, ValueError, IndexError, KeyError, TypeError) as problem:
        raise CorruptTable(
            f"{where}: a metadata record cannot be decoded ({problem}); rebuild the metadata table"
        ) from problem
    if raw["type"] not in frozenset(RecordType):
        return None
    kind = RecordType(raw["type"])
    if kind in (RecordType.PARTITION_LIST, RecordType.FILES):
        entries = raw.get("filesystemMetadata") or {}
        return FileList(
            kind=kind,
            entries={
                name: FileState(size=state["size"], deleted=state["isDeleted"]) for name, state in entries.items()
            },
        )
    return _range_from_avro(kind, raw["ColumnStatsMetadata"])


def deleted_keys(content: bytes, where: str) -> list[str]:
    """Keys that a delete block of the metadata table removes."""
    try:
        raw: Any = fastavro.schemaless_reader(io.BytesIO(content[8:]), _parsed_deletes(), None)
    except (EOFError, ValueError, IndexError, KeyError, TypeError) as problem:
        raise CorruptTable(
            f"{where}: a delete block cannot be decoded ({problem}); rebuild the metadata table"
        ) from problem
    return [entry["recordKey"] for entry in raw["deleteRecordList"]]


def merge_records(older: MetadataRecord | None, newer: MetadataRecord) -> MetadataRecord:
    """What remains of two records of one key, the newer applied over the older."""
    if older is None:
        return newer
    if isinstance(older, FileList) and isinstance(newer, FileList):
        return _merge_lists(older, newer)
    if isinstance(older, ColumnRange) and isinstance(newer, ColumnRange):
        return _merge_ranges(older, newer)
    raise InternalError(f"metadata records of different kinds under one key: {older.kind} and {newer.kind}")


def without_tombstones(record: MetadataRecord) -> MetadataRecord | None:
    """The record as a base file keeps it: deletions need not be remembered there; None when nothing is left."""
    if isinstance(record, ColumnRange):
        return None if record.deleted else record
    live = {name: state for name, state in record.entries.items() if not state.deleted}
    return replace(record, entries=live) if live or record.kind is RecordType.PARTITION_LIST else None


def combine_ranges(partition_path: str, ranges: Iterable[ColumnRange], *, tight: bool) -> ColumnRange | None:
    """The range of a column over all files of a partition; None without files."""
    result: ColumnRange | None = None
    for each in ranges:
        result = each if result is None else _widen(result, each)
    if result is None:
        return None
    return replace(result, kind=RecordType.PARTITION_STATS, file_name=partition_path, tight=tight)


def unbounded(known: ColumnRange) -> ColumnRange:
    """The same range with bounds that every value of its type lies in."""
    if known.value_type is ValueType.DECIMAL and known.decimal_type is not None:
        precision, scale = known.decimal_type
        nines = decimal.Decimal(10**precision - 1).scaleb(-scale, decimal.Context(prec=precision))
        return replace(known, minimum=-nines, maximum=nines)
    low, high = _EXTREMES[known.value_type]
    return replace(known, minimum=low, maximum=high)


def _merge_lists(older: FileList, newer: FileList) -> FileList:
    entries = dict(older.entries)
    for name, state in newer.entries.items():
        known = entries.get(name)
        if known is None or known.deleted:
            entries[name] = state
        elif state.deleted:
            del entries[name]
        else:
            entries[name] = FileState(size=max(known.size, state.size), deleted=False)
    return replace(newer, entries=entries)


def _merge_ranges(older: ColumnRange, newer: ColumnRange) -> ColumnRange:
    if newer.deleted or newer.tight or older.deleted:
        return newer
    return _widen(older, newer)


def _widen(left: ColumnRange, right: ColumnRange) -> ColumnRange:
    """Bounds that hold for the values of both; a column of nulls only takes the type of the other."""
    if left.value_type is ValueType.NULL:
        left, right = right, left
    if right.value_type not in (left.value_type, ValueType.NULL):
        raise Unsupported(
            f"column {left.column}: statistics of types {left.value_type.name} and {right.value_type.name}"
        )
    return replace(
        left,
        minimum=_extreme(left, left.minimum, right, right.minimum, smaller=True),
        maximum=_extreme(left, left.maximum, right, right.maximum, smaller=False),
        value_count=left.value_count + right.value_count,
        null_count=left.null_count + right.null_count,
        total_size=left.total_size + right.total_size,
        total_uncompressed_size=left.total_uncompressed_size + right.total_uncompressed_size,
        tight=False,
    )


def _extreme(
    left: ColumnRange, low: StatValue | None, right: ColumnRange, high: StatValue | None, *, smaller: bool
) -> StatValue | None:
    """The outer one of two bounds; a bound is unknown when a side with values does not tell its own."""
    if not left.has_values or not right.has_values:
        return high if not left.has_values else low
    if low is None or high is None:
        return None
    first: Any = low
    second: Any = high
    return low if (_order(first) <= _order(second)) is smaller else high


def _order(value: Any) -> Any:
    """Sorts as the bounds do: strings by code unit as UTF-8 bytes, NaN last, -0.0 before 0.0."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, float):
        return (1, 0.0, 0.0) if math.isnan(value) else (0, value, math.copysign(1.0, value))
    return value


_MICROS = (-62_135_596_800_000_000, 253_402_300_799_999_999)
_EXTREMES: Mapping[ValueType, tuple[StatValue, StatValue]] = {
    ValueType.BOOLEAN: (False, True),
    ValueType.INT: (-(2**31), 2**31 - 1),
    ValueType.LONG: (-(2**63), 2**63 - 1),
    ValueType.FLOAT: (-math.inf, math.inf),
    ValueType.DOUBLE: (-math.inf, math.inf),
    ValueType.STRING: ("", "\U0010ffff" * 16),
    ValueType.BYTES: (b"", b"\xff" * 64),
    ValueType.DATE: (-719_162, 2_932_896),
    ValueType.TIME_MICROS: (0, 86_399_999_999),
    ValueType.TIMESTAMP_MILLIS: (_MICROS[0] // 1000, _MICROS[1] // 1000),
    ValueType.TIMESTAMP_MICROS: _MICROS,
    ValueType.LOCAL_TIMESTAMP_MILLIS: (_MICROS[0] // 1000, _MICROS[1] // 1000),
    ValueType.LOCAL_TIMESTAMP_MICROS: _MICROS,
}
"""Dates and times: the years 1 to 9999, which is what Java can print."""

_WRAPPERS: Mapping[ValueType, str] = {
    ValueType.BOOLEAN: "BooleanWrapper",
    ValueType.INT: "IntWrapper",
    ValueType.LONG: "LongWrapper",
    ValueType.FLOAT: "FloatWrapper",
    ValueType.DOUBLE: "DoubleWrapper",
    ValueType.STRING: "StringWrapper",
    ValueType.BYTES: "BytesWrapper",
    ValueType.DECIMAL: "BytesWrapper",
    ValueType.DATE: "IntWrapper",
    ValueType.TIME_MICROS: "LongWrapper",
    ValueType.TIMESTAMP_MILLIS: "LongWrapper",
    ValueType.TIMESTAMP_MICROS: "LongWrapper",
    ValueType.LOCAL_TIMESTAMP_MILLIS: "LongWrapper",
    ValueType.LOCAL_TIMESTAMP_MICROS: "LongWrapper",
}

INDEXABLE: frozenset[ValueType] = frozenset(_WRAPPERS)
"""Column types whose ranges can be stored."""


def _range_to_avro(record: ColumnRange) -> dict[str, Any]:
    info = ",".join(str(part) for part in record.decimal_type) if record.decimal_type else None
    return {
        "fileName": record.file_name,
        "columnName": record.column,
        "minValue": _wrap(record.minimum, record),
        "maxValue": _wrap(record.maximum, record),
        "valueCount": record.value_count,
        "nullCount": record.null_count,
        "totalSize": record.total_size,
        "totalUncompressedSize": record.total_uncompressed_size,
        "isDeleted": record.deleted,
        "isTightBound": record.tight,
        "valueType": {"typeOrdinal": int(record.value_type), "additionalInfo": info},
    }


def _wrap(value: StatValue | None, record: ColumnRange) -> Any:
    if value is None:
        return None
    stored: Any = value
    if isinstance(value, decimal.Decimal):
        scale = record.decimal_type[1] if record.decimal_type else 0
        unscaled = int(value.scaleb(scale, context=decimal.Context(prec=80)))
        stored = unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)
    return (f"org.apache.hudi.avro.model.{_WRAPPERS[record.value_type]}", {"value": stored})


def _range_from_avro(kind: RecordType, raw: Mapping[str, Any]) -> ColumnRange:
    type_info = raw.get("valueType") or {}
    ordinal = type_info.get("typeOrdinal", 0)
    value_type = ValueType(ordinal) if ordinal in frozenset(ValueType) else ValueType.NULL
    info = type_info.get("additionalInfo")
    decimal_type = None
    if value_type is ValueType.DECIMAL and info:
        precision, scale = info.split(",")
        decimal_type = (int(precision), int(scale))
    return ColumnRange(
        kind=kind,
        file_name=raw.get("fileName") or "",
        column=raw.get("columnName") or "",
        value_type=value_type,
        minimum=_unwrap(raw.get("minValue"), decimal_type),
        maximum=_unwrap(raw.get("maxValue"), decimal_type),
        value_count=raw.get("valueCount") or 0,
        null_count=raw.get("nullCount") or 0,
        total_size=raw.get("totalSize") or 0,
        total_uncompressed_size=raw.get("totalUncompressedSize") or 0,
        decimal_type=decimal_type,
        tight=bool(raw.get("isTightBound")),
        deleted=bool(raw.get("isDeleted")),
    )


def _unwrap(wrapped: Any, decimal_type: tuple[int, int] | None) -> StatValue | None:
    if wrapped is None:
        return None
    value = (wrapped[1] if isinstance(wrapped, tuple) else wrapped)["value"]
    if decimal_type is not None and isinstance(value, bytes):
        unscaled = int.from_bytes(value, "big", signed=True)
        return decimal.Decimal(unscaled).scaleb(-decimal_type[1], context=decimal.Context(prec=80))
    result: StatValue = value
    return result
