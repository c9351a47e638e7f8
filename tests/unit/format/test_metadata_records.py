"""Records of the metadata table, against bytes that Hudi 1.2.0 wrote."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from pyhudi.errors import CorruptTable
from pyhudi.format.hfile import HFileReader
from pyhudi.format.log_file import BlockKind, read_blocks
from pyhudi.format.metadata_records import (
    ColumnRange,
    FileList,
    FileState,
    MetadataRecord,
    RecordType,
    ValueType,
    column_stats_key,
    combine_ranges,
    decode_record,
    encode_record,
    merge_records,
    metadata_schema_text,
    partition_stats_key,
    shard_of,
    without_tombstones,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "bytes" / "metadata"


def records_of(name: str) -> dict[str, tuple[bytes, MetadataRecord]]:
    found: dict[str, tuple[bytes, MetadataRecord]] = {}
    for block in read_blocks((GOLDEN / name).read_bytes(), name):
        if block.kind is BlockKind.HFILE_DATA:
            reader = HFileReader.of_bytes(bytes(block.content), name)
            for key, datum in reader.scan():
                record = decode_record(datum, reader.schema, name)
                assert record is not None
                found[key.decode()] = (datum, record)
    return found


@pytest.mark.parametrize("name", ["column_stats.log", "partition_stats.log", "files.log"])
def test_java_records_decode_and_encode_to_the_same_bytes(name: str) -> None:
    records = records_of(name)
    assert len(records) > 2
    assert all(encode_record(record) == datum for datum, record in records.values())


def test_keys_are_those_of_java() -> None:
    for key, (_, record) in records_of("column_stats.log").items():
        assert isinstance(record, ColumnRange)
        path = "p0" if "4f9b52bda" in record.file_name else "p1"
        assert key == column_stats_key(record.column, path, record.file_name)
        assert shard_of(key, 2) == 0
    for key, (_, record) in records_of("partition_stats.log").items():
        assert isinstance(record, ColumnRange)
        assert key == partition_stats_key(record.column, record.file_name)


def test_the_shard_of_a_key_is_java_string_hash() -> None:
    assert shard_of("k1", 10) == 6
    assert shard_of("anything", 1) == 0


def files(**sizes: int | None) -> FileList:
    entries = {name: FileState(size=size or 0, deleted=size is None) for name, size in sizes.items()}
    return FileList(kind=RecordType.FILES, entries=entries)


def test_file_lists_merge_as_hudi_merges_them() -> None:
    merged = merge_records(files(a=1, b=2, c=3), files(a=5, b=None, d=None, e=7))
    assert isinstance(merged, FileList)
    assert merged.entries == files(a=5, c=3, d=None, e=7).entries
    assert without_tombstones(merged) == files(a=5, c=3, e=7)
    assert without_tombstones(files(x=None)) is None


def range_of(low: float | None, high: float | None, count: int = 1, nulls: int = 0) -> ColumnRange:
    return ColumnRange(
        kind=RecordType.COLUMN_STATS,
        file_name="f",
        column="c",
        value_type=ValueType.DOUBLE if low is not None else ValueType.NULL,
        minimum=low,
        maximum=high,
        value_count=count,
        null_count=nulls,
    )


def test_ranges_widen_and_count() -> None:
    ranges = [range_of(1.0, 2.0, 3, 1), range_of(-1.0, 1.5, 2), range_of(None, None, 4, 4)]
    both = combine_ranges("p", ranges, tight=True)
    assert both is not None
    assert (both.minimum, both.maximum, both.value_count, both.null_count) == (-1.0, 2.0, 9, 5)
    assert both.kind is RecordType.PARTITION_STATS and both.file_name == "p" and both.tight
    assert both.value_type is ValueType.DOUBLE


def test_nan_is_the_largest_and_zero_has_two_ends() -> None:
    both = combine_ranges("p", [range_of(1.0, math.nan), range_of(0.0, 5.0), range_of(-0.0, 0.0)], tight=False)
    assert both is not None and isinstance(both.minimum, float) and isinstance(both.maximum, float)
    assert math.isnan(both.maximum)
    assert math.copysign(1, both.minimum) == -1


def test_a_tight_or_deleted_range_replaces_and_a_loose_one_widens() -> None:
    old, new = range_of(0.0, 10.0), range_of(2.0, 3.0)
    assert merge_records(old, replace(new, tight=True)) == replace(new, tight=True)
    assert merge_records(old, replace(new, deleted=True)) == replace(new, deleted=True)
    widened = merge_records(old, new)
    assert isinstance(widened, ColumnRange) and (widened.minimum, widened.maximum) == (0.0, 10.0)


def test_a_damaged_record_is_named() -> None:
    datum, _ = next(iter(records_of("column_stats.log").values()))
    with pytest.raises(CorruptTable, match="the log"):
        decode_record(datum[: len(datum) // 2], metadata_schema_text(), "the log")
