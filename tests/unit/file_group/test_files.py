"""What a written base file carries: footers, ranges, and rows that come back."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from io import BytesIO
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi.engine.local import LocalEngine
from pyhudi.errors import LeaseLost
from pyhudi.file_group.footer import footers, key_bounds, utf8_buffers
from pyhudi.file_group.stats import RangeCollector
from pyhudi.format.bloom import BloomFilter, BloomParameters
from pyhudi.format.metadata_records import ColumnRange, ValueType
from pyhudi.format.table_properties import TableType
from pyhudi.transaction.markers import delete_markers
from tests.unit.conftest import SimulatedTable, trips


def ranges(column: pa.Array) -> ColumnRange:
    table = pa.table({"c": column})
    collector = RangeCollector(table.schema, ("c", "elsewhere"))
    collector.add(table.slice(0, 1))
    collector.add(table.slice(1))
    (found,) = collector.ranges("file", {"c": (10, 20)})
    return found


def test_ranges_are_gathered_over_batches() -> None:
    found = ranges(pa.array([3, None, 1, 2], pa.int64()))
    assert (found.minimum, found.maximum, found.value_count, found.null_count) == (1, 3, 4, 1)
    assert (found.value_type, found.total_size, found.file_name) == (ValueType.LONG, 10, "file")


def test_nan_is_stored_as_infinity_and_zero_spans_its_signs() -> None:
    found = ranges(pa.array([0.0, math.nan, 5.0]))
    assert isinstance(found.minimum, float)
    assert math.copysign(1, found.minimum) == -1 and found.maximum == math.inf
    alone = ranges(pa.array([math.nan]))
    assert (alone.minimum, alone.maximum) == (math.inf, math.inf)


def test_a_column_of_nulls_has_no_type_and_no_bounds() -> None:
    found = ranges(pa.array([None, None], pa.string()))
    assert (found.value_type, found.minimum, found.null_count) == (ValueType.NULL, None, 2)


def test_dates_and_times_are_stored_as_numbers() -> None:
    assert ranges(pa.array([0, 19], pa.date32())).maximum == 19
    assert ranges(pa.array([0, 7], pa.timestamp("us", "UTC"))).value_type is ValueType.TIMESTAMP_MICROS
    assert ranges(pa.array([0, 7], pa.timestamp("us"))).maximum == 7


def test_key_bounds_follow_the_order_of_java_strings() -> None:
    keys = pa.chunked_array([["\uffee", "\U0001f600", "a"]])
    assert key_bounds(keys) == ("a", "\uffee")
    assert key_bounds(pa.chunked_array([["b", "a"]])) == ("a", "b")


def test_a_bloom_filter_is_sized_for_its_keys_and_knows_them_all() -> None:
    keys = pa.chunked_array([[f"key{i}" for i in range(500)]])
    entries = footers(keys, "{}", BloomParameters())
    assert len(entries["org.apache.hudi.bloomfilter"]) < 5000
    bloom = BloomFilter.parse(entries["org.apache.hudi.bloomfilter"], entries["hoodie_bloom_filter_type_code"])
    assert bloom.might_contain(*utf8_buffers(keys)).all()
    assert base64.b64decode(entries["org.apache.hudi.bloomfilter"])


def test_sliced_keys_are_taken_from_their_place() -> None:
    offsets, data = utf8_buffers(pa.chunked_array([pa.array(["aa", "bb", "cc"]).slice(1, 1)]))
    assert offsets.tolist() == [0, 2] and bytes(data) == b"bb"


@pytest.mark.parametrize("codec", ["zstd", "gzip", "snappy", "uncompressed"])
def test_a_base_file_has_every_footer_and_the_codec_asked_for(
    simulated: Callable[..., SimulatedTable], codec: str
) -> None:
    table = simulated(settings={"hoodie.parquet.compression.codec": codec})
    table.write("insert", trips(("a", "x", 1, 1.0), ("b", "x", 1, 2.0)))
    (path,) = [path for path in table.storage.contents() if path.endswith(".parquet")]
    file = pq.ParquetFile(BytesIO(table.storage.read(path)))
    metadata = {key.decode() for key in file.metadata.metadata}
    assert metadata == {
        "parquet.avro.schema",
        "writer.model.name",
        "hoodie_min_record_key",
        "hoodie_max_record_key",
        "org.apache.hudi.bloomfilter",
        "hoodie_bloom_filter_type_code",
    }
    assert file.metadata.row_group(0).column(0).compression.lower() == codec
    assert set(file.read().column("_hoodie_file_name").to_pylist()) == {path.split("/")[-1]}


@pytest.mark.parametrize(("value", "plain"), [(math.nan, True), (-0.0, True), (0.0, False), (math.inf, False)])
def test_a_column_that_parquet_readers_would_skip_wrongly_is_written_plainly(
    simulated: Callable[..., SimulatedTable], value: float, plain: bool
) -> None:
    table = simulated()
    table.write("insert", trips(("a", "x", 1, 1.0), ("b", "x", 1, value)))
    (path,) = [path for path in table.storage.contents() if path.endswith(".parquet")]
    group = pq.ParquetFile(BytesIO(table.storage.read(path))).metadata.row_group(0)
    columns = {group.column(index).path_in_schema: group.column(index) for index in range(group.num_columns)}
    bare = {name for name, column in columns.items() if not column.is_stats_set}
    assert bare == {name for name, column in columns.items() if "RLE_DICTIONARY" not in column.encodings}
    assert len(bare) == plain
    assert repr(value) in {repr(each) for row in table.read().values() for each in row}


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_file_that_comes_after_its_write_was_undone_is_taken_away_again(
    simulated: Callable[..., SimulatedTable], table_type: str
) -> None:
    table = simulated(table_type=TableType(table_type))
    table.write("insert", trips(("a", "x", 1, 1.0)))
    before = {path for path in table.storage.contents() if path.startswith("x/")}

    class Late(LocalEngine):
        """Another process undoes the write before its file is there."""

        def shuffle(self, located, targets, write):  # type: ignore[no-untyped-def]
            create = table.storage.create

            def undone_first(path: str, content: object) -> None:
                if path.startswith("x/"):
                    delete_markers(table.storage, write.spec.instant)
                create(path, content)  # type: ignore[arg-type]

            with mock.patch.object(type(table.storage), "create", lambda _, path, content: undone_first(path, content)):
                return super().shuffle(located, targets, write)

    with pytest.raises(LeaseLost, match="undone or completed"):
        table.client.write("upsert", trips(("a", "x", 2, 2.0)), Late(), {})
    assert {path for path in table.storage.contents() if path.startswith("x/")} == before
    assert table.read() == {"a": ("x", 1, 1.0)}
