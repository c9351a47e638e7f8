"""Spark's own reader over pinned files: what is opened, what is read, and that no row is lost by it."""

import datetime
import decimal
import math
import re
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from pyhudi.engine.spark.jvm import ScanFile
from pyhudi.engine.spark.native_scan import PinnedFiles, native_frame
from pyhudi.engine.spark.types import arrow_schema, spark_schema
from pyhudi.errors import InvalidRequest, Unsupported
from pyhudi.format.metadata_records import ValueType
from pyhudi.format.predicate import Bounds, Domain, may_match, typed

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # PySpark 3.5 leaves sockets open
]

KINDS = {
    "string": ValueType.STRING, "int32": ValueType.INT, "int64": ValueType.LONG, "double": ValueType.DOUBLE,
    "float": ValueType.FLOAT, "date32[day]": ValueType.DATE, "bool": ValueType.BOOLEAN,
    "timestamp[us, tz=UTC]": ValueType.TIMESTAMP_MICROS, "timestamp[us]": ValueType.LOCAL_TIMESTAMP_MICROS,
}  # fmt: skip


def domain(kind):
    if pa.types.is_decimal(kind):
        return Domain(kind=ValueType.DECIMAL, precision=kind.precision, scale=kind.scale)
    return Domain(kind=KINDS[str(kind)]) if str(kind) in KINDS else None


def cell(value):
    if isinstance(value, datetime.datetime):
        epoch = datetime.datetime(1970, 1, 1, tzinfo=value.tzinfo)
        return (value - epoch) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return value.toordinal() - datetime.date(1970, 1, 1).toordinal()
    return value


class Lake:
    """A folder of Parquet files, pruned by the exact ranges of their columns."""

    def __init__(self, folder, tables):
        self.files, self.bounds = [], {}
        for path, rows in tables.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(rows, target)
            self.files.append(ScanFile(path=path, size=target.stat().st_size))
            self.bounds[path] = {name: self._bounds(rows.column(name)) for name in rows.schema.names}
            self.schema = rows.schema
        self.domains = {field.name: domain(field.type) for field in self.schema}
        self.pinned = PinnedFiles(str(folder), self.files, self.prune)
        self.folder = folder

    def _bounds(self, column):
        values = [cell(value) for value in column.to_pylist() if value is not None]
        nulls = column.null_count > 0
        if not values:
            return Bounds(may_be_value=False, may_be_null=nulls)
        if isinstance(values[0], bytes | float):
            return Bounds(may_be_null=nulls) if isinstance(values[0], bytes) else self._float_bounds(values, nulls)
        return Bounds(minimum=min(values), maximum=max(values), may_be_null=nulls)

    def _float_bounds(self, values, nulls):
        ordered = sorted(values, key=lambda value: (value != value, value))
        return Bounds(minimum=ordered[0], maximum=ordered[-1], may_be_null=nulls)

    def prune(self, predicate):
        wanted = typed(predicate, self.domains, lenient=True)
        return [file for file in self.files if may_match(wanted, self.bounds[file.path])]

    def frame(self, spark):
        return native_frame(spark, spark_schema(self.schema), self.pinned)


def scan_node(frame):
    return frame._jdf.queryExecution().executedPlan().collectLeaves().apply(0)


def files_opened(frame):
    """From the scan's own metrics, after it has run without adaptive execution."""
    return scan_node(frame).metrics().apply("numFiles").value()


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    rows = {
        f"day=d{number:04}/f.parquet": pa.table(
            {"a": [number, number + 1], "b": ["x", "y"], "c": [0.5, 1.5], "day": [f"d{number:04}"] * 2}
        )
        for number in range(1000)
    }
    return Lake(tmp_path_factory.mktemp("days"), rows)


@pytest.fixture
def plain(spark):
    """Without adaptive execution, so that the plan that ran is the plan that is asked."""
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    yield spark
    spark.conf.set("spark.sql.adaptive.enabled", "true")


def test_one_day_of_a_thousand_opens_one_file_and_reads_two_columns(plain, days):
    found = days.frame(plain).where("day = 'd0123'").select("a")
    assert sorted(row.a for row in found.collect()) == [123, 124]
    assert files_opened(found) == 1
    schema = re.search(r"ReadSchema: struct<([^>]*)>", found._jdf.queryExecution().executedPlan().toString())[1]
    assert schema == "a:bigint,day:string"
    assert days.pinned.selections[-1] == 1
    assert days.pinned.unjudged == days.pinned.failures == 0


def test_columns_other_than_the_partition_prune_as_well(plain, days):
    found = days.frame(plain).where("a BETWEEN 10 AND 11 AND c > 1")
    assert found.count() == 2
    found = days.frame(plain).where("a = 10").select("b")
    found.collect()
    assert files_opened(found) == 2


def test_views_joins_and_caches_see_the_same_rows(spark, days):
    frame = days.frame(spark)
    frame.createOrReplaceTempView("days")
    assert spark.sql("SELECT count(*) n FROM days WHERE day = 'd0007' GROUP BY day").collect()[0].n == 2
    assert spark.sql("SELECT count(*) n FROM days x JOIN days y ON x.a = y.a WHERE x.day < 'd0002'").collect()[0].n == 7
    keys = spark.createDataFrame([("d0005",), ("d0006",)], "day string")
    assert frame.join(keys, "day").count() == 4
    assert frame.join(keys.hint("broadcast"), "day").count() == 4
    cached = frame.where("day < 'd0010'").cache()
    assert cached.count() == 20
    listed = len(days.pinned.selections)
    assert frame.where("day < 'd0010'").count() == 20
    assert len(days.pinned.selections) == listed, "the cached plan is found again"
    cached.unpersist()
    assert frame.count() == 2000
    assert len(frame.inputFiles()) == 1000


def test_the_size_is_the_true_sum(spark, days):
    plan = days.frame(spark)._jdf.queryExecution().optimizedPlan()
    assert plan.stats().sizeInBytes() == sum(file.size for file in days.files)
    huge = PinnedFiles("/nowhere", [ScanFile(path="x", size=1 << 40), ScanFile(path="y", size=1)], lambda _: [])
    plan = native_frame(spark, spark_schema(days.schema), huge)._jdf.queryExecution().optimizedPlan()
    assert plan.stats().sizeInBytes() == (1 << 40) + 1


def test_pruning_that_fails_reads_all_and_is_counted(plain, days, caplog):
    def broken(predicate):
        raise InvalidRequest("on cue")

    pinned = PinnedFiles(days.pinned.root_uri, days.files[:5], broken)
    frame = native_frame(plain, spark_schema(days.schema), pinned)
    assert frame.where("day = 'd0001'").count() == 2
    assert frame.where("day = 'd0002'").count() == 2
    assert pinned.failures == 2
    assert list(pinned.selections) == [5, 5]
    assert len([record for record in caplog.records if "on cue" in record.message]) == 1


def test_filters_that_are_not_understood_rule_nothing_out(plain, days):
    pinned = PinnedFiles(days.pinned.root_uri, days.files[:5], lambda asked: days.prune(asked)[:5])
    frame = native_frame(plain, spark_schema(days.schema), pinned)
    assert frame.where("a + 1 = 3 OR upper(b) = 'Q'").count() == 2
    assert pinned.unjudged == 2
    assert list(pinned.selections) == [5]
    assert frame.where("day = 'd0001' AND a + 1 = 3").count() == 1
    assert pinned.unjudged == 3
    assert list(pinned.selections) == [5, 1]


def test_paths_are_taken_letter_by_letter(spark, tmp_path):
    names = ["a b", "a%20b", "p=ü😀", "x:y", "h#a?s", "q'\"q", "[0-9]*", "{a,b}", "a+b&c;d", "100%"]
    rows = {f"{name}/f.parquet": pa.table({"n": [number]}) for number, name in enumerate(names)}
    lake = Lake(tmp_path / "r%41 t", rows)
    assert sorted(row.n for row in lake.frame(spark).collect()) == list(range(len(names)))
    assert len(lake.frame(spark).inputFiles()) == len(names)


def moment(text):
    return datetime.datetime.fromisoformat(text)


UTC = "+00:00"
CENT = decimal.Decimal("0.01")
TYPED = pa.schema(
    [
        ("s", pa.string()), ("i", pa.int32()), ("l", pa.int64()), ("f", pa.float32()), ("d", pa.float64()),
        ("b", pa.bool_()),
        ("day", pa.date32()), ("at", pa.timestamp("us", "UTC")), ("local", pa.timestamp("us")),
        ("dec", pa.decimal128(10, 2)), ("big", pa.decimal128(38, 10)), ("raw", pa.binary()),
    ]
)  # fmt: skip
ROWS = [
    {"s": "a", "i": -5, "l": 1, "f": 0.1, "d": -1.0, "b": True, "day": datetime.date(1500, 1, 1),
     "at": moment("1500-01-01 00:00:00" + UTC), "local": moment("1500-01-01 00:00:00"), "dec": CENT, "big": CENT,
     "raw": b"a"},
    {"s": "ab", "i": 5, "l": 2**53 + 1, "f": -0.0, "d": 0.0, "b": False, "day": datetime.date(2024, 1, 1),
     "at": moment("2024-01-01 00:00:00.000001" + UTC), "local": moment("2024-01-01 00:00:00"), "dec": 5 * CENT,
     "big": -CENT, "raw": b""},
    dict.fromkeys(TYPED.names),
    {"s": "ü😀", "i": 7, "l": -(2**63), "f": 1.5, "d": 5.5, "b": True, "day": datetime.date(9999, 12, 31),
     "at": moment("2024-06-30 12:00:00" + UTC), "local": moment("2024-06-30 12:00:00"),
     "dec": decimal.Decimal("12345678.90"), "big": decimal.Decimal("1.5"), "raw": b"\xff"},
    {"s": "", "i": 0, "l": 0, "f": 2.5, "d": 7.5, "b": False, "day": datetime.date(1970, 1, 1),
     "at": moment("1970-01-01 00:00:00" + UTC), "local": moment("1969-12-31 23:59:59.999999"), "dec": -CENT,
     "big": decimal.Decimal(0), "raw": b"z"},
]  # fmt: skip
FILTERS = [
    "s = 'a'", "s <=> 'a'", "s <=> NULL", "NOT s <=> 'a'", "s LIKE 'a%'", "NOT s LIKE 'a%'", "s > 'z'", "s = ''",
    "s IN ('a', 'b')", "s IN ({many})".format(many=", ".join(f"'{n}'" for n in [*range(12), "ab"])),
    "s NOT IN ('a', 'ab')", "s IS NULL", "s IS NOT NULL", "'ab' <= s", "i > 2.5", "i = 5000000000", "i < 5000000000",
    "i <> 5", "i IN (5, NULL)", "i = '7'", "i IN ({many})".format(many=", ".join(str(n) for n in range(-20, 0))),
    "l = 9007199254740993", "l > 1.5D", "f = 0.1", "f = float('0.1')", "f > 1", "f = 0", "f >= -0.0", "d > 5",
    "d < 0", "d != 5.5", "d IN (5.5D, 7.5D)", "d = double('NaN')", "b", "NOT b", "b = false", "day = '2024-01-01'",
    "day < '1582-10-15'", "day > date'9999-01-01'", "day IN (date'1970-01-01')",
    "day IN ({many})".format(many=", ".join(f"date'1970-01-{n:02}'" for n in range(1, 15))), "at > '2024-01-01'",
    "at = timestamp'2024-01-01 00:00:00.000001 UTC'", "at < '1970-01-01 00:00:01 UTC'",
    "at IN ({many})".format(many=", ".join(f"timestamp'2024-06-30 {n:02}:00:00 UTC'" for n in range(14))),
    "local = timestamp_ntz'2024-06-30 12:00:00'", "local < timestamp_ntz'1970-01-01 00:00:00'", "dec = 0.05",
    "dec > 0.045", "dec IN ({many})".format(many=", ".join(f"{n / 100:.2f}" for n in range(20))), "dec < 0",
    "big = 1.5", "big <= -0.01", "raw = X'FF'", "raw IS NULL", "s = 'a' OR i = 7", "NOT (s = 'a' OR i = 7)",
    "s = 'a' AND length(s) = 1", "true", "s = 'a' OR NULL", "cast(NULL AS boolean)",
    "CASE WHEN i > 0 THEN b ELSE NOT b END", "i = l", "coalesce(i, 5) = 5", "dec = 0.055", "year(day) = 2024",
]  # fmt: skip


@pytest.fixture(scope="module")
def typed_lake(tmp_path_factory):
    files = {f"{number}.parquet": pa.Table.from_pylist([row], schema=TYPED) for number, row in enumerate(ROWS)}
    files["all.parquet"] = pa.Table.from_pylist(ROWS, schema=TYPED)
    return Lake(tmp_path_factory.mktemp("typed"), files)


def test_no_filter_loses_a_row(plain, typed_lake):
    plain.conf.set("spark.sql.session.timeZone", "Asia/Seoul")
    try:
        everything = PinnedFiles(str(typed_lake.folder), typed_lake.files, lambda _: typed_lake.files)
        whole, pruned = native_frame(plain, spark_schema(TYPED), everything), typed_lake.frame(plain)
        for text in FILTERS:
            expected = sorted(map(repr, whole.where(text).collect()))
            assert sorted(map(repr, pruned.where(text).collect())) == expected, text
        left_out = sum(len(typed_lake.files) - number for number in typed_lake.pinned.selections)
        assert left_out > len(FILTERS)
        assert typed_lake.pinned.failures == 0
    finally:
        plain.conf.unset("spark.sql.session.timeZone")


@pytest.mark.parametrize(
    ("text", "count"),
    [("x > 5", 2), ("NOT x <= 5", 2), ("x = double('NaN')", 2), ("x <> 1", 5), ("x = 0", 3), ("x <= -0.0D", 3)],
)
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_nan_and_minus_zero_are_found_whatever_the_files_say_of_them(plain, tmp_path, kind, text, count):
    values = {"a": [1.0, math.nan], "b": [math.nan], "c": [-0.0, -0.0], "d": [0.0], "e": [1.0, None]}
    lake = Lake(tmp_path, {f"{name}.parquet": pa.table({"x": pa.array(each, kind)}) for name, each in values.items()})
    assert lake.frame(plain).where(text).count() == count


def test_values_of_every_type_come_back(plain, typed_lake):
    plain.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        found = typed_lake.frame(plain).where("s = 'a'").selectExpr(
            "cast(at AS string) at", "cast(local AS string) local", "cast(day AS string) day", "dec", "big", "f", "raw"
        ).collect()  # fmt: skip
    finally:
        plain.conf.unset("spark.sql.session.timeZone")
    for row in found:
        assert (row.at, row.local, row.day) == ("1500-01-01 00:00:00", "1500-01-01 00:00:00", "1500-01-01")
        assert (row.dec, row.big, bytes(row.raw)) == (CENT, CENT, b"a")
    assert len(found) == 2


def test_a_column_that_a_file_lacks_is_null(plain, tmp_path):
    lake = Lake(tmp_path, {"old.parquet": pa.table({"n": [1]}), "new.parquet": pa.table({"n": [2], "added": ["x"]})})
    assert lake.frame(plain).where("added IS NULL").collect()[0].n == 1


def test_a_hundred_thousand_files_are_listed_in_seconds(plain, days):
    files = [ScanFile(path=f"day=d{number:06}/{'0' * 60}.parquet", size=1000) for number in range(100_000)]
    pinned = PinnedFiles("/nowhere/in/particular", files, lambda _: files)
    frame = native_frame(plain, spark_schema(days.schema), pinned)
    times = []
    for _ in range(2):
        start = time.monotonic()
        listed = scan_node(frame).selectedPartitions()
        times.append(time.monotonic() - start)
    assert listed is not None
    print(f"100,000 files listed in {times[0]:.2f} s, then {times[1]:.2f} s")
    assert times[0] < 15


def test_schemas_go_there_and_back(spark):
    names = pa.schema([*TYPED, pa.field("tiny", pa.int8()), pa.field("short", pa.int16(), nullable=False)])
    assert arrow_schema(spark_schema(names)).equals(names)
    wide = pa.schema([("t", pa.timestamp("ms", "UTC")), ("s", pa.large_string())])
    assert spark_schema(wide).simpleString() == "struct<t:timestamp,s:string>"
    for schema in (pa.schema([("clock", pa.time64("us"))]), pa.schema([("many", pa.list_(pa.int32()))])):
        with pytest.raises(Unsupported, match=schema.names[0]):
            spark_schema(schema)
    with pytest.raises(Unsupported, match="many"):
        arrow_schema(spark.createDataFrame([], "many array<int>").schema)
