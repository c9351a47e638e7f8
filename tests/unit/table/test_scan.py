"""Planning a scan: what is left out, and that nothing is left out on the word of a range that may lie."""

import decimal
import json
from dataclasses import dataclass, field

import pytest

from pyhudi.format.file_names import PARTITION_METADATA
from pyhudi.format.hfile import write_hfile
from pyhudi.format.metadata.index_definitions import INDEX_DEFINITIONS_PATH, print_column_stats_definition
from pyhudi.format.metadata_records import (
    ALL_PARTITIONS_KEY,
    ColumnRange,
    FileList,
    FileState,
    RecordType,
    ValueType,
    column_stats_key,
    encode_record,
    metadata_schema_text,
    partition_name,
    partition_stats_key,
)
from pyhudi.format.predicate import Bounds, Domain, parse
from pyhudi.format.properties import print_properties
from pyhudi.table.scan import plan_scan, trusted_bounds
from pyhudi.table.table import Table
from pyhudi.testing.storage import MemoryStorage

COLUMNS = {
    "id": "string",
    "day": "string",
    "n": ["null", "long"],
    "s": ["null", "string"],
    "x": ["null", "double"],
    "on": ["null", {"type": "int", "logicalType": "date"}],
}
TYPES = {"id": ValueType.STRING, "day": ValueType.STRING, "n": ValueType.LONG, "s": ValueType.STRING,
         "x": ValueType.DOUBLE, "on": ValueType.DATE}  # fmt: skip
T1, T2 = "20240101000000001", "20240102000000001"


def base(number, instant=T1):
    return f"{number:08d}-0000-0000-0000-000000000000-0_0-0-0_{instant}.parquet"


def log(number, instant, version=1):
    return f".{number:08d}-0000-0000-0000-000000000000-0_{instant}.log.{version}_0-0-0"


def told(column, low, high, *, values=10, nulls=0, kind=None):
    """A range as it is stored; its keys are added where it is put."""
    return ColumnRange(
        kind=RecordType.COLUMN_STATS, file_name="", column=column, value_type=kind or TYPES[column],
        minimum=low, maximum=high, value_count=values, null_count=nulls,
    )  # fmt: skip


@dataclass
class Made:
    """A table made of nothing but its metadata."""

    partition_fields: tuple[str, ...] = ("day",)
    hive_style: bool = False
    merge_on_read: bool = True
    files: dict[str, dict[str, list[ColumnRange]]] = field(default_factory=dict)
    partitions: dict[str, list[ColumnRange]] = field(default_factory=dict)
    indexed: tuple[str, ...] = tuple(TYPES)

    def table(self):
        storage = MemoryStorage()
        parts = ["files", "column_stats", "partition_stats"]
        schema = {"type": "record", "name": "r", "fields": [{"name": n, "type": t} for n, t in COLUMNS.items()]}
        self._properties(storage, {
            "hoodie.table.type": "MERGE_ON_READ" if self.merge_on_read else "COPY_ON_WRITE",
            "hoodie.table.recordkey.fields": "id", "hoodie.table.partition.fields": ",".join(self.partition_fields),
            "hoodie.datasource.write.hive_style_partitioning": str(self.hive_style).lower(),
            "hoodie.table.metadata.partitions": ",".join(parts), "hoodie.table.create.schema": json.dumps(schema),
            "hoodie.table.ordering.fields": "n",
        })  # fmt: skip
        storage.create(INDEX_DEFINITIONS_PATH, print_column_stats_definition(self.indexed, "V2"))
        metadata = storage.within(".hoodie/metadata")
        self._properties(metadata, {
            "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.base.file.format": "HFILE",
            "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA", "hoodie.table.recordkey.fields": "key",
            "hoodie.record.merge.mode": "CUSTOM",
        })  # fmt: skip
        self._hfile(metadata, "files/files-0000-0", self._lists())
        self._hfile(metadata, "column_stats/col-stats-0000-0", self._file_ranges())
        self._hfile(metadata, "partition_stats/partition-stats-0000-0", self._partition_ranges())
        storage.forget_calls()
        return Table.load(storage), storage

    def _properties(self, storage, properties):
        named = {"hoodie.table.name": "t", "hoodie.table.version": "9", "hoodie.timeline.layout.version": "2"}
        storage.create(".hoodie/hoodie.properties", print_properties(named | properties, "made"))

    def _hfile(self, storage, group, records):
        entries = sorted((key.encode(), encode_record(record)) for key, record in records.items())
        content = write_hfile(entries, metadata_schema_text(), created_ms=0, bloom=True)
        storage.create(f"{group}_0-0-0_00000000000000000.hfile", content)

    def _lists(self):
        def listed(kind, names):
            return FileList(kind=kind, entries={name: FileState(size=9, deleted=False) for name in names})

        lists = {partition_name(path): listed(RecordType.FILES, files) for path, files in self.files.items()}
        names = [partition_name(path) for path in self.files]
        return lists | {ALL_PARTITIONS_KEY: listed(RecordType.PARTITION_LIST, names)}

    def _file_ranges(self):
        return {
            column_stats_key(each.column, path, name): each
            for path, files in self.files.items()
            for name, ranges in files.items()
            for each in ranges
        }

    def _partition_ranges(self):
        return {
            partition_stats_key(each.column, path): each for path, ranges in self.partitions.items() for each in ranges
        }


def scan(made, text, **options):
    table, _ = made.table()
    return plan_scan(table, parse(text) if text else None, **options)


def numbers(found):
    return sorted(int(each.file_id[:8]) for each in found.slices)


def test_without_a_predicate_everything_is_read():
    found = scan(Made(files={"a": {base(1): []}, "b": {base(2): [], log(2, T2): []}}), None)
    assert numbers(found) == [1, 2]
    assert (found.partitions_total, found.partitions_read, found.slices_total) == (2, 2, 2)


def test_partitions_are_left_out_by_their_path():
    made = Made(files={"a": {base(1): []}, "b": {base(2): []}, "c": {base(3): []}})
    found = scan(made, "day = 'b'")
    assert numbers(found) == [2]
    assert (found.partitions_total, found.partitions_read, found.slices_total) == (3, 1, 1)
    assert numbers(scan(made, "day >= 'b' AND n = 1")) == [2, 3]
    assert numbers(scan(made, "day = 'b' OR n = 1")) == [1, 2, 3]
    assert numbers(scan(made, "NOT day LIKE 'a%'")) == [2, 3]


def test_the_default_partition_holds_nulls_and_empty_strings():
    made = Made(files={"__HIVE_DEFAULT_PARTITION__": {base(1): []}, "a": {base(2): []}})
    assert numbers(scan(made, "day IS NULL")) == [1]
    assert numbers(scan(made, "day = ''")) == [1]
    assert numbers(scan(made, "day = 'a'")) == [2]
    assert numbers(scan(made, "day IS NOT NULL")) == [1, 2]


def test_a_path_is_believed_only_where_it_tells_the_value():
    made = Made(
        partition_fields=("n", "on"),
        hive_style=True,
        files={
            "n=7/on=2024-01-01": {base(1): []},
            "n=007/on=2024-01-01": {base(2): []},
            "n=8/on=19723": {base(3): []},
            "n=8/on=2024-01-02": {base(4): []},
            "n=__HIVE_DEFAULT_PARTITION__/on=2024-01-01": {base(5): []},
        },
    )
    assert numbers(scan(made, "n = 7")) == [1, 2]
    assert numbers(scan(made, "on = '2024-01-01'")) == [1, 2, 3, 5]
    assert numbers(scan(made, "n IS NULL")) == [2, 5]
    assert numbers(scan(made, "n = 8 AND on > DATE '2024-01-01'")) == [3, 4]


def test_a_value_with_a_slash_is_not_judged_by_its_path():
    assert numbers(scan(Made(files={"a/b": {base(1): []}}), "day = 'a/b'")) == [1]


def test_partitions_are_left_out_by_their_ranges():
    made = Made(
        files={"a": {base(1): []}, "b": {base(2): []}, "c": {base(3): []}},
        partitions={"a": [told("n", 1, 5)], "b": [told("n", 6, 9)]},
    )
    found = scan(made, "n = 7")
    assert numbers(found) == [2, 3]
    assert found.partitions_read == 2
    assert numbers(scan(made, "n = 7", as_of=T1)) == [1, 2, 3]


def test_nulls_in_files_without_the_column_are_not_in_the_partition_range():
    made = Made(files={"a": {base(1): []}}, partitions={"a": [told("n", 1, 5, nulls=0)]})
    assert numbers(scan(made, "n IS NULL")) == [1]


def test_slices_are_left_out_by_the_ranges_of_all_their_files():
    made = Made(
        files={
            "a": {
                base(1): [told("n", 1, 5)],
                base(2): [told("n", 6, 9)],
                base(3): [told("n", 1, 5)],
                log(3, T2): [told("n", 7, 7)],
                base(4): [told("n", 1, 5)],
                log(4, T2): [],
                base(5): [told("n", 1, 5)],
                log(5, T2): [told("n", None, None, values=0, kind=ValueType.NULL)],
                base(6): [],
                log(7, T2): [told("n", 7, 8)],
            }
        }
    )
    found = scan(made, "n = 7")
    assert numbers(found) == [2, 3, 4, 6, 7]
    assert found.slices_total == 7
    assert numbers(scan(made, "n = 7", read_optimized=True)) == [2, 6]
    assert numbers(scan(made, "n IS NULL")) == [4, 6]


def test_time_travel_is_judged_by_the_ranges_of_the_files_it_reads():
    made = Made(files={"a": {base(1): [told("n", 1, 5)], base(1, T2): [told("n", 6, 9)], log(2, T2): []}})
    assert numbers(scan(made, "n = 7", as_of=T1)) == []
    assert numbers(scan(made, "n = 4", as_of=T1)) == [1]
    assert numbers(scan(made, "n = 4")) == [2]
    assert numbers(scan(made, None, read_optimized=True)) == [1]


def test_columns_without_ranges_and_misfits_rule_nothing_out():
    made = Made(files={"a": {base(1): [told("n", 1, 5)]}}, indexed=("n",))
    assert numbers(scan(made, "s = 'x'")) == [1]
    assert numbers(scan(made, "n = 'x'")) == [1]
    assert numbers(scan(made, "nowhere = 1")) == [1]
    assert numbers(scan(made, "n = 7 AND nowhere = 1")) == []


def test_a_table_without_partitions_and_one_without_ranges():
    made = Made(partition_fields=(), files={"": {base(1): [told("n", 1, 5)], base(2): [told("n", 6, 9)]}})
    assert numbers(scan(made, "n = 7")) == [2]
    assert numbers(scan(made, "day = 'x'")) == [1, 2]


def test_a_table_without_metadata_table_is_pruned_by_path():
    storage = MemoryStorage()
    schema = {"type": "record", "name": "r", "fields": [{"name": n, "type": t} for n, t in COLUMNS.items()]}
    storage.create(
        ".hoodie/hoodie.properties",
        print_properties(
            {"hoodie.table.name": "t", "hoodie.table.version": "9", "hoodie.table.partition.fields": "day",
             "hoodie.table.recordkey.fields": "id", "hoodie.table.create.schema": json.dumps(schema)}, "made",
        ),
    )  # fmt: skip
    for number, path in enumerate(("a", "b"), 1):
        storage.create(f"{path}/{PARTITION_METADATA}", b"")
        storage.create(f"{path}/{base(number)}", b"x")
    assert numbers(plan_scan(Table.load(storage), parse("day = 'b' AND n = 5"))) == [2]


@pytest.mark.parametrize("text", ["day = 'p1' AND n = 7", "n = 7"])
def test_storage_calls_do_not_grow_with_the_partitions(text):
    counts = []
    for many in (3, 3000):
        paths = [f"p{number}" for number in range(many)]
        made = Made(
            files={path: {base(number): [told("n", number, number)]} for number, path in enumerate(paths)},
            partitions={path: [told("n", number, number)] for number, path in enumerate(paths)},
        )
        table, storage = made.table()
        plan_scan(table, parse(text))
        counts.append(storage.calls.total())
    assert counts[1] < 2 * counts[0], counts


LONG = Domain(kind=ValueType.LONG)
TEXT = Domain(kind=ValueType.STRING)
REAL = Domain(kind=ValueType.DOUBLE)
MONEY = Domain(kind=ValueType.DECIMAL, precision=5, scale=2)
UNKNOWN = Bounds()


@pytest.mark.parametrize(
    ("stored", "domain", "bounds"),
    [
        (told("n", 1, 5), LONG, Bounds(minimum=1, maximum=5, may_be_null=False)),
        (told("n", 1, 5, nulls=1), LONG, Bounds(minimum=1, maximum=5)),
        (told("n", 0, 0, nulls=10), LONG, Bounds(may_be_value=False)),
        (told("n", 1, 5, nulls=-1), LONG, Bounds(minimum=1, maximum=5)),
        (told("n", None, None), LONG, Bounds(may_be_null=False)),
        (told("n", 1, 5, kind=ValueType.INT), LONG, UNKNOWN),
        (told("n", 1, 5, kind=ValueType.NULL), LONG, UNKNOWN),
        (told("n", None, None, values=0, kind=ValueType.NULL), LONG, Bounds(may_be_null=False, may_be_value=False)),
        (told("n", None, None, values=0, kind=ValueType.NULL), MONEY, UNKNOWN),
        (told("n", None, None, values=9, nulls=9, kind=ValueType.NULL), LONG, UNKNOWN),
        (told("x", 1.0, 2.0), REAL, Bounds(minimum=1.0, maximum=2.0, may_be_null=False)),
        (told("x", 0.0, 0.0), REAL, Bounds(may_be_null=False)),
        (told("x", -1.0, 2.0), REAL, Bounds(may_be_null=False)),
        (told("x", -2.0, -0.0), REAL, Bounds(may_be_null=False)),
        (told("s", "a", "b"), TEXT, Bounds(minimum="a", maximum="b", may_be_null=False)),
        (told("s", "a", "b", nulls=1), TEXT, UNKNOWN),
        (told("s", None, None, nulls=10), TEXT, UNKNOWN),
        (told("s", "a", "\uffff"), TEXT, Bounds(minimum="a", may_be_null=False)),
        (told("s", "😀", "😀"), TEXT, Bounds(may_be_null=False)),
        (told("n", decimal.Decimal(1), decimal.Decimal(2), kind=ValueType.DECIMAL), MONEY, UNKNOWN),
    ],
)
def test_a_range_is_trusted_as_far_as_every_writer_can_be(stored, domain, bounds):
    assert trusted_bounds(stored, domain) == bounds
