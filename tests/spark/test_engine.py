"""The Spark engine gives what the local engine gives, moves rows between executors only, and survives lost tasks."""

import datetime
import random
import string
import time
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from pyspark.sql import functions as F  # noqa: N812 - the name that everybody gives it

import pyhudi
from pyhudi.client.table_client import TableClient
from pyhudi.clock import system_machine
from pyhudi.engine.base import Incoming
from pyhudi.engine.spark.engine import SparkEngine
from pyhudi.engine.spark.keying import keyed_frame, partition_path, record_key, rows_per_partition
from pyhudi.engine.spark.latest import latest_per_key
from pyhudi.engine.spark.shuffle import partition_seeds, place, runs, spark_hash
from pyhudi.engine.spark.types import spark_schema
from pyhudi.errors import InvalidRequest, SchemaMismatch, StorageError, Unsupported
from pyhudi.file_group import keying
from pyhudi.file_group.tasks import Attempt, Target
from pyhudi.format.file_names import FileId
from pyhudi.format.keys import KeyGenerator, KeySpec
from pyhudi.format.merge_properties import MergeMode
from pyhudi.format.schema import COMMIT_SEQNO, META_COLUMNS, PARTITION_PATH, RECORD_KEY
from pyhudi.merge import kernel
from pyhudi.merge.modes import MergeRule
from pyhudi.storage import LocalStorage
from tests.spark.faulty_storage import FaultyStorage
from tests.spark.metrics import bytes_to_driver

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # PySpark 3.5 leaves sockets open
]

TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")


# ---------------------------------------------------------------- keys and partition paths

KINDS = {
    "text": pa.string(), "other": pa.string(), "tiny": pa.int8(), "small": pa.int16(), "whole": pa.int32(),
    "big": pa.int64(), "day": pa.date32(), "flag": pa.bool_(), "at": pa.timestamp("us", "UTC"),
    "wall": pa.timestamp("us"),
}  # fmt: skip
STORED = {"tiny": pa.int32(), "small": pa.int32()}
WORDS = ["", "a", "__HIVE_DEFAULT_PARTITION__", "50%", "a b", "é漢😀", "=", "\t", "\x01\x7f", "%2F", "]^[", "'\""]


def cells(kind, dice, count):
    limits = {pa.int8(): 7, pa.int16(): 15, pa.int32(): 31, pa.int64(): 63, pa.date32(): 15, pa.bool_(): 0}
    if pa.types.is_string(kind):
        letters = [char for char in string.printable if char not in "./\\"]
        made = ["".join(dice.choices(letters, k=dice.randint(0, 4))) for _ in range(count)]
        return pa.array([dice.choice([each, *WORDS, None]) for each in made], kind)
    if pa.types.is_boolean(kind):
        return pa.array([dice.choice([True, False, None]) for _ in range(count)], kind)
    bits = limits.get(kind, 54)
    edges = [-(2**bits), 2**bits - 1, 0, -1, None]
    numbers = [dice.choice([dice.randint(-(2**bits), 2**bits - 1), *edges]) for _ in range(count)]
    storage = {pa.date32(): pa.int32()}.get(kind, pa.int64() if pa.types.is_timestamp(kind) else kind)
    return pa.array(numbers, storage).cast(kind)


def frame_of(spark, rows):
    """A DataFrame of the same rows in one partition; timestamps travel as numbers, free of Python's time zones."""
    plain, columns = [], []
    for field in rows.schema:
        column = rows.column(field.name)
        if pa.types.is_timestamp(field.type):
            plain.append(column.cast(pa.int64()))
            seconds = f"cast({field.name} as decimal(20)) / 1000000"
            wall = f"timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {seconds})"
            moment = F.expr(f"timestamp_micros({field.name})" if field.type.tz else wall)
            columns.append(moment.alias(field.name))
        else:
            plain.append(column)
            columns.append(F.col(field.name))
    table = pa.table(plain, names=rows.schema.names)
    frame = spark.createDataFrame([tuple(row.values()) for row in table.to_pylist()], spark_schema(table.schema))
    return frame.coalesce(1).select(*columns)


def spec(keys, partitions, generator=KeyGenerator.SIMPLE, hive=False, url=False, prefix=True):
    return KeySpec(
        generator=generator, key_fields=keys, partition_fields=partitions, hive_style=hive, url_encoded=url,
        prefix_single_key=prefix,
    )  # fmt: skip


SPECS = [
    *(spec(("big",), ("text",), hive=hive, url=url) for hive in (False, True) for url in (False, True)),
    *(spec(("big",), (name,), KeyGenerator.COMPLEX, hive=True) for name in KINDS),
    *(spec((name,), ("text", "day"), KeyGenerator.COMPLEX, url=True) for name in KINDS),
    spec(("text", "other", "flag"), ("other", "whole", "flag"), KeyGenerator.COMPLEX, url=True, hive=True),
    spec(("wall", "at", "text"), ("at", "wall"), KeyGenerator.COMPLEX, prefix=False),
    spec(("tiny",), (), KeyGenerator.NON_PARTITION),
]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_keys_and_partition_paths_are_the_text_that_the_local_engine_makes(spark, zone):
    dice = random.Random(zone)
    rows = pa.table({name: cells(kind, dice, 400) for name, kind in KINDS.items()})
    stored = pa.schema([pa.field(name, STORED.get(name, kind)) for name, kind in KINDS.items()])
    filled = rows
    for name in ("big", "tiny"):
        filled = filled.set_column(filled.column_names.index(name), name, rows.column(name).fill_null(7))
    columns = [column for each in SPECS for column in (record_key(stored, each), partition_path(stored, each))]
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        found = frame_of(spark, filled).select(*(column.alias(str(at)) for at, column in enumerate(columns))).collect()
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
    for at, each in enumerate(SPECS):
        assert [row[2 * at] for row in found] == keying.record_keys(filled, each).to_pylist(), each
        assert [row[2 * at + 1] for row in found] == keying.partition_paths(filled, each).to_pylist(), each


@dataclass
class PlainTable:
    """As much of a `TableSpec` as keying looks at."""

    user_schema: pa.Schema


def keyed(spark, rows, keys, stored, deleting=False):
    incoming = Incoming(source=None, table=PlainTable(stored), keys=keys, deleting=deleting, combine=False)
    return keyed_frame(frame_of(spark, rows), incoming)


BY_TEXT = spec(("text",), ("other",))
TWO_TEXTS = pa.schema([("text", pa.string()), ("other", pa.string())])


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ([None], ["a"]),
        (["b", ""], ["a", "a"]),
        (["k"], [".."]),
        (["k"], ["a/../b"]),
        (["k"], [".hoodie"]),
        (["k"], ["a\\b"]),
        (["k"], ["a//b"]),
    ],
)
def test_rows_are_refused_with_the_words_of_the_local_engine(spark, text, other):
    rows = pa.table([text, other], schema=TWO_TEXTS)
    with pytest.raises(InvalidRequest) as local:
        keying.keyed_rows(rows, PlainTable(TWO_TEXTS), BY_TEXT, deleting=False)
    with pytest.raises(InvalidRequest) as distributed:
        rows_per_partition(keyed(spark, rows, BY_TEXT, TWO_TEXTS))
    assert str(distributed.value) == str(local.value)


@pytest.mark.parametrize("deleting", [False, True])
@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (("text",), (pa.string(),)),
        (("text", "other", "more"), (pa.string(),) * 3),
        (("text", "other"), (pa.string(), pa.int64())),
    ],
)
def test_columns_are_refused_with_the_words_of_the_local_engine(spark, names, kinds, deleting):
    rows = pa.table([pa.array([], kind) for kind in kinds], names=list(names))
    if deleting and "more" in names:
        assert keyed(spark, rows, BY_TEXT, TWO_TEXTS, deleting).frame.columns == [RECORD_KEY, PARTITION_PATH]
        return
    with pytest.raises(SchemaMismatch) as distributed:
        keyed(spark, rows, BY_TEXT, TWO_TEXTS, deleting)
    if "other" in names and not deleting:
        with pytest.raises(SchemaMismatch) as local:
            keying.keyed_rows(rows, PlainTable(TWO_TEXTS), BY_TEXT, deleting=deleting)
        assert str(distributed.value) == str(local.value)


def test_columns_that_may_not_be_null_and_times_finer_than_the_tables_are_refused(spark):
    fine = pa.schema([*TWO_TEXTS, pa.field("at", pa.timestamp("us", "UTC"))])
    coarse = pa.schema([*TWO_TEXTS, pa.field("at", pa.timestamp("ms", "UTC"))])
    strict = pa.schema([*TWO_TEXTS, pa.field("at", pa.timestamp("us", "UTC"), nullable=False)])
    rows = pa.table([["k", "l"], ["p", "p"], [1_000_000, None]], schema=fine)
    assert rows_per_partition(keyed(spark, rows, BY_TEXT, coarse)) == {"p": 2}
    with pytest.raises(SchemaMismatch, match="'at' may not be null, but 1 rows"):
        rows_per_partition(keyed(spark, rows, BY_TEXT, strict))
    finer = pa.table([["k", "l"], ["p", "p"], [1_000_001, 5000]], schema=fine)
    with pytest.raises(InvalidRequest, match="'at' keeps milliseconds, but 1 rows"):
        rows_per_partition(keyed(spark, finer, BY_TEXT, coarse))


def test_a_column_without_a_text_of_its_own_is_no_key(spark):
    stored = pa.schema([("text", pa.float64()), ("other", pa.string())])
    with pytest.raises(Unsupported, match="column 'text' of type double as key or partition"):
        keyed(spark, stored.empty_table(), BY_TEXT, stored)


# ---------------------------------------------------------------- one row per key

RANKED = {
    "int": (pa.int32(), [0, 1, -1, 2, None]),
    "long": (pa.int64(), [0, 1, -1, 2, None]),
    "double": (pa.float64(), [0.0, -0.0, 1.5, float("nan"), float("-inf"), None]),
    "text": (pa.string(), ["", "a", "é", "漢", "😀", None]),
    "date": (pa.date32(), [datetime.date(1970, 1, 1), datetime.date(1969, 1, 1), datetime.date(2020, 1, 1), None]),
    "time": (pa.timestamp("us", "UTC"), [0, 1, -1, None]),
    "wall": (pa.timestamp("us"), [0, 1, -1, None]),
    "decimal": (pa.decimal128(9, 2), [Decimal("0.00"), Decimal("-1.50"), Decimal("7.25"), None]),
    "flag": (pa.bool_(), [True, False, None]),
    "bytes": (pa.binary(), [b"", b"\x7f", b"\xff", None]),
}


@pytest.mark.parametrize("marked", [False, True], ids=["rows", "rows that say delete"])
@pytest.mark.parametrize("name", [*RANKED, None], ids=str)
def test_of_several_rows_with_a_key_the_one_wins_that_the_merge_kernel_chooses(spark, name, marked):
    dice = random.Random(f"{name} {marked}")
    count = 300
    kind, values = RANKED[name or "long"]
    columns = {
        RECORD_KEY: pa.array([f"k{dice.randint(0, 60)}" for _ in range(count)]),
        PARTITION_PATH: pa.array(["p"] * count),
        "n": pa.array(range(count)),
        "rank": pa.array([dice.choice(values) for _ in range(count)], kind),
    }
    if marked:
        columns["_hoodie_is_deleted"] = pa.array([dice.choice([True, False, None]) for _ in range(count)])
    rows = pa.table(columns)
    mode = MergeMode.EVENT_TIME_ORDERING if name else MergeMode.COMMIT_TIME_ORDERING
    rule = MergeRule(mode=mode, ordering_fields=("rank",) if name else ())
    expected = kernel.latest_per_key(rows, rule).column("n").to_pylist()
    found = latest_per_key(frame_of(spark, rows), rows.schema, rule)
    assert found.columns == rows.schema.names
    assert sorted(row.n for row in found.select("n").collect()) == expected


# ---------------------------------------------------------------- whole writes

USERS = pa.schema([
    ("id", pa.int64()), ("day", pa.string()), ("hour", pa.int32()), ("ts", pa.int64()), ("v", pa.float64()),
    ("name", pa.string()), ("at", pa.timestamp("us", "UTC")), ("amount", pa.decimal128(12, 2)), ("born", pa.date32()),
])  # fmt: skip


def users(ids, ts, tag="x"):
    ids = list(ids)
    return pa.table(
        [
            ids, [f"d{i % 3}" for i in ids], [i % 2 for i in ids], [ts] * len(ids), [i / 4 for i in ids],
            [None if i % 7 == 0 else f"{tag}{i}" for i in ids], [i * 1_000_001 for i in ids],
            [Decimal(i) / 4 for i in ids], [datetime.date(2020, 1, 1) + datetime.timedelta(days=i % 50) for i in ids],
        ],
        schema=USERS,
    )  # fmt: skip


def created(folder, table_type, partition_by=("day",), ordering=("ts",), **options):
    return pyhudi.create_table(
        str(folder), USERS, name="users", table_type=table_type, record_key=["id"], partition_by=partition_by,
        ordering=ordering, options=options,
    )  # fmt: skip


def by_id(rows):
    rows = rows.drop_columns([name for name in META_COLUMNS if name in rows.column_names])
    return rows.sort_by("id").to_pylist()


def counts(result):
    return result.rows_inserted, result.rows_updated, result.rows_deleted, len(result.files)


def collected(frame):
    return sorted((row.asDict() for row in frame.collect()), key=lambda row: row["id"])


def data_files(folder):
    return sorted(
        str(path.relative_to(folder))
        for path in Path(folder).rglob("*")
        if path.is_file() and ".hoodie" not in path.parts and (path.suffix == ".parquet" or ".log." in path.name)
    )


def kept_rdds(spark):
    return spark.sparkContext._jsc.getPersistentRDDs().size()


@pytest.mark.parametrize("partition_by", [(), ("day",), ("day", "hour")], ids=len)
@pytest.mark.parametrize("table_type", TYPES)
def test_a_table_written_over_spark_holds_what_the_local_engine_writes(spark, tmp_path, table_type, partition_by):
    local, distributed = (created(tmp_path / name, table_type, partition_by) for name in ("local", "spark"))
    twice = pa.concat_tables([users(range(50, 90), 3, "old"), users(range(30, 120), 4, "new"), users([60], 4, "last")])
    for verb, rows in (
        ("insert", users(range(80), 1)), ("upsert", twice),
        ("delete", users(range(10, 25), 0).select(["day", "id", "hour"])),
        ("upsert", users(range(20), 2, "late")), ("delete", users(range(500, 503), 9)),
    ):  # fmt: skip
        frame = frame_of(spark, rows).repartition(3) if rows.num_rows < 100 else frame_of(spark, rows)
        ours, theirs = getattr(distributed, verb)(frame), getattr(local, verb)(rows)
        assert counts(ours) == counts(theirs), verb
        assert by_id(distributed.to_arrow()) == by_id(local.to_arrow()), verb
    read = distributed.read(spark)
    assert read.columns == [*META_COLUMNS, *USERS.names]
    expected = [{**row, "at": row["at"].astimezone().replace(tzinfo=None)} for row in by_id(distributed.to_arrow())]
    assert collected(read.drop(*META_COLUMNS)) == expected
    numbers = distributed.to_arrow(columns=[COMMIT_SEQNO]).column(0).to_pylist()
    assert len(set(numbers)) == len(numbers)
    assert kept_rdds(spark) == 0


def test_compaction_runs_over_spark_and_changes_no_row(spark, tmp_path):
    table = created(tmp_path, "MERGE_ON_READ")
    table.insert(frame_of(spark, users(range(60), 1)))
    table.upsert(frame_of(spark, users(range(0, 90, 2), 2)))
    before = by_id(table.to_arrow())
    table.run("compaction", engine=spark)
    assert by_id(table.to_arrow()) == before
    assert by_id(table.to_arrow(query="read_optimized")) == before


def test_a_query_over_spark_reads_the_columns_and_rows_asked_for(spark, tmp_path):
    table = created(tmp_path, "MERGE_ON_READ")
    assert table.read(spark).collect() == []
    table.insert(frame_of(spark, users(range(60), 1)))
    table.upsert(frame_of(spark, users(range(0, 90, 2), 2)))
    asked = {"columns": ["name", "id"], "where": "v > 8 and day = 'd1'"}
    read = table.read(spark, **asked)
    assert read.columns == ["name", "id"]
    assert collected(read) == table.to_arrow(**asked).sort_by("id").to_pylist()


@pytest.mark.parametrize("verb", ["insert", "upsert", "delete"])
def test_the_callers_frame_is_evaluated_once(spark, tmp_path, verb):
    table = created(tmp_path, "COPY_ON_WRITE")
    table.insert(users(range(40), 1))
    seen = spark.sparkContext.accumulator(0)

    def counting(batches):
        for batch in batches:
            seen.add(batch.num_rows)
            yield batch

    frame = frame_of(spark, users(range(20, 60), 2))
    getattr(table, verb)(frame.mapInArrow(counting, frame.schema))
    assert seen.value == 40


def test_new_keys_go_into_as_many_file_groups_as_are_due_each_written_once(spark, tmp_path):
    table = created(tmp_path, "COPY_ON_WRITE", **{"hoodie.copyonwrite.insert.split.size": "100"})
    result = table.insert(frame_of(spark, users(range(1200), 1)).repartition(5))
    assert len(result.files) == 12
    assert data_files(tmp_path) == sorted(result.files)
    assert by_id(table.to_arrow()) == by_id(users(range(1200), 1))


def test_columns_and_partitions_may_have_any_name(spark, tmp_path):
    names = ["id", "first", "width", "count", "rows", "number", "held_key", "group_path", "path"]
    schema = pa.schema([(name, pa.string()) for name in names])
    values = [f"k{n}" for n in range(20)], *[["é \"'\t", None] * 10] * 8
    rows = pa.table(list(values), schema=schema)
    table = pyhudi.create_table(str(tmp_path), schema, name="t", record_key=["id"], partition_by=["first", "path"])
    assert table.insert(frame_of(spark, rows)).rows_inserted == 20
    assert table.upsert(frame_of(spark, rows)).rows_updated == 20
    assert by_id(table.to_arrow()) == by_id(rows)
    assert collected(table.read(spark, columns=names)) == by_id(rows)


@pytest.mark.parametrize("verb", ["insert", "upsert", "delete"])
def test_refused_rows_leave_no_trace(spark, tmp_path, verb):
    table = created(tmp_path / "table", "COPY_ON_WRITE")
    table.insert(users(range(10), 1))
    before = sorted(map(str, (tmp_path / "table").rglob("*")))
    bad = frame_of(spark, users(range(20), 2)).withColumn("id", F.when(F.col("id") != 15, F.col("id")))
    with pytest.raises(InvalidRequest, match="key column 'id' holds null or empty values"):
        getattr(table, verb)(bad)
    assert sorted(map(str, (tmp_path / "table").rglob("*"))) == before
    assert kept_rdds(spark) == 0


def test_rows_of_another_kind_are_refused(spark, tmp_path):
    created(tmp_path, "COPY_ON_WRITE")
    client = TableClient(LocalStorage(str(tmp_path)), system_machine(), {})
    with pytest.raises(InvalidRequest, match="rows are a Table; the Spark engine takes a DataFrame"):
        client.write("insert", users([1], 1), SparkEngine(spark), {})


# ---------------------------------------------------------------- lost tasks


@pytest.mark.parametrize("how", ["raise", "die"])
@pytest.mark.parametrize("table_type", TYPES)
def test_a_task_lost_once_leaves_one_file_per_file_group(spark, tmp_path, table_type, how):
    table = created(tmp_path, table_type)
    engine = SparkEngine(spark)
    faulty = TableClient(FaultyStorage(str(tmp_path), how), system_machine(), {})
    inserted = faulty.write("insert", frame_of(spark, users(range(60), 1)), engine, {})
    assert data_files(tmp_path) == sorted(inserted.files)
    assert len(inserted.files) == 3
    updated = faulty.write("upsert", frame_of(spark, users(range(30, 90), 2)), engine, {})
    assert data_files(tmp_path) == sorted((*inserted.files, *updated.files))
    groups = [path.replace("/.", "/").split("_")[0] for path in updated.files]
    assert len(set(groups)) == len(groups)
    assert by_id(table.to_arrow()) == by_id(pa.concat_tables([users(range(30), 1), users(range(30, 90), 2)]))
    assert not list((tmp_path / ".hoodie" / ".temp").rglob("*.marker.*"))


def test_a_task_that_keeps_failing_fails_the_write_with_its_own_error_and_undoes_it(spark, tmp_path):
    table = created(tmp_path, "COPY_ON_WRITE")
    table.insert(users(range(30), 1))
    files = data_files(tmp_path)
    client = TableClient(FaultyStorage(str(tmp_path), "always"), system_machine(), {})
    with pytest.raises(StorageError, match=r"^d\d/\S+\.parquet: the network went away; retry$"):
        client.write("upsert", frame_of(spark, users(range(20, 50), 2)), SparkEngine(spark), {})
    deadline = time.monotonic() + 20  # tasks that still ran when the job failed remove what they wrote
    while data_files(tmp_path) != files and time.monotonic() < deadline:
        time.sleep(0.2)
    assert data_files(tmp_path) == files
    assert by_id(table.to_arrow()) == by_id(users(range(30), 1))
    assert kept_rdds(spark) == 0


# ---------------------------------------------------------------- tasks, and what reaches the driver


@dataclass(frozen=True)
class Square:
    number: int

    def run(self, attempt: Attempt) -> tuple[int, int]:
        if self.number < 0:
            raise StorageError("there is no such square; retry")
        return self.number**2, attempt.task


def test_tasks_run_one_per_spark_task_and_answer_in_their_order(spark):
    assert SparkEngine(spark).run([]) == []
    found = SparkEngine(spark).run([Square(number) for number in range(9)])
    assert found == [(number**2, number) for number in range(9)]


def test_an_error_of_ours_in_a_task_arrives_as_itself(spark):
    with pytest.raises(StorageError, match=r"^there is no such square; retry$"):
        SparkEngine(spark).run([Square(1), Square(-1)])


def test_a_write_sends_results_to_the_driver_and_no_rows(spark, tmp_path):
    table = created(tmp_path, "COPY_ON_WRITE")
    frame = frame_of(spark, users(range(50_000), 1))
    table.insert(frame.where("id < 40000"))
    with bytes_to_driver(spark) as sent:
        result = table.upsert(frame.where("id >= 10000"))
    assert (result.rows_updated, result.rows_inserted) == (30_000, 10_000)
    assert 0 < sum(sent) < 200_000


# ---------------------------------------------------------------- the shuffle's parts


def target(path, name):
    return Target(partition_path=path, file_id=FileId(name), slice=None)


def test_targets_are_dealt_out_by_size():
    profile = {("a", FileId("f1")): 10, ("a", None): 90, ("b", None): 50, ("c", None): 5}
    targets = {
        ("a", FileId("f1")): (target("a", "f1"),),
        ("a", None): (target("a", "n1"), target("a", "n2")),
        ("b", None): (target("b", "n3"),),
        ("c", None): (),
    }
    placed = place(profile, targets, cores=1)
    assert [each.file_id for each in placed.targets] == ["n3", "n1", "n2", "f1"]
    assert placed.groups == (("b", "", 0, 1), ("a", "", 1, 2), ("a", "f1", 3, 1))
    assert placed.tasks == 1
    assert place(profile, targets, cores=8).tasks == 4
    assert place({}, {}, cores=1).tasks == 0
    many = {(str(n), None): (target(str(n), "x"),) for n in range(100)}
    assert place(dict.fromkeys(many, 1), many, cores=2).tasks == 2
    assert place(dict.fromkeys(many, 100_000), many, cores=2).tasks == 40


def test_rows_of_one_target_are_gathered_over_batches():
    numbers = [[4, 4], [], [4, 1, 1], [1], [7], [7, 3]]
    batches = [pa.record_batch([pa.array(part, pa.int32())], ["t"]) for part in numbers]
    found = [(number, rows.column("t").to_pylist()) for number, rows in runs(iter(batches), "t")]
    assert found == [(4, [4, 4, 4]), (1, [1, 1, 1]), (7, [7, 7]), (3, [3])]


def test_every_partition_has_a_seed_that_spark_hashes_into_it(spark):
    numbers = [0, 1, -1, 42, 2**31 - 1, -(2**31)]
    asked = spark.createDataFrame([(number,) for number in numbers], "n int").select(F.hash("n"))
    assert [row[0] for row in asked.collect()] == spark_hash(pa.array(numbers, pa.int32()).to_numpy()).tolist()
    for count in (1, 2, 7, 200):
        seeds = partition_seeds(count)
        assert (spark_hash(pa.array(seeds, pa.int32()).to_numpy()) % count).tolist() == list(range(count))
