"""`format("hudi")` after `pyhudi.enable(spark)`: a script written for the bundle, without the bundle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import pyhudi
from pyhudi.errors import InvalidRequest, TableExists, TableNotFound, Unsupported

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # PySpark 3.5 leaves sockets open
]

OPTIONS = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "day",
    "hoodie.datasource.write.precombine.field": "ts",
}


@pytest.fixture
def enabled(spark: SparkSession) -> Iterator[SparkSession]:
    pyhudi.enable(spark)
    yield spark
    pyhudi.disable(spark)


def trips(spark: SparkSession, *rows: tuple[str, str, int, float]) -> DataFrame:
    return spark.createDataFrame(list(rows), "id string, day string, ts bigint, fare double")


def fares(frame: DataFrame) -> dict[str, float]:
    return {row.id: row.fare for row in frame.collect()}


def write(frame: DataFrame, path: Path, mode: str = "append", **options: str) -> None:
    frame.write.format("hudi").options(**OPTIONS).options(**options).mode(mode).save(str(path))


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_script_for_the_bundle_writes_and_reads(enabled: SparkSession, tmp_path: Path, table_type: str) -> None:
    kind = {"hoodie.datasource.write.table.type": table_type}
    write(trips(enabled, ("a", "mon", 1, 1.0), ("b", "tue", 1, 2.0)), tmp_path / "t", **kind)
    write(trips(enabled, ("a", "mon", 2, 9.0), ("c", "tue", 1, 3.0)), tmp_path / "t", **kind)
    reader = enabled.read.format("hudi")
    assert fares(reader.load(str(tmp_path / "t"))) == {"a": 9.0, "b": 2.0, "c": 3.0}
    gone = {"hoodie.datasource.write.operation": "delete"}
    write(trips(enabled, ("b", "tue", 1, 2.0)), tmp_path / "t", **gone)
    assert fares(enabled.read.load(str(tmp_path / "t"), format="hudi")) == {"a": 9.0, "c": 3.0}
    table = pyhudi.table(str(tmp_path / "t"))
    assert table.table_type == table_type
    first = str(table.timeline()[0].requested_time)
    earlier = enabled.read.format("hudi").option("as.of.instant", first).load(str(tmp_path / "t"))
    assert fares(earlier) == {"a": 1.0, "b": 2.0}
    optimized = enabled.read.format("hudi").option("hoodie.datasource.query.type", "read_optimized")
    assert len(fares(optimized.load(str(tmp_path / "t")))) == (3 if table_type == "MERGE_ON_READ" else 2)


def scanned(frame: DataFrame) -> tuple[int, str]:
    """Files opened and the columns read, as Spark's own scan tells them."""
    frame.collect()
    plan = frame._jdf.queryExecution().executedPlan()
    while not plan.getClass().getSimpleName().startswith("FileSourceScan"):
        plan = plan.children().head()
    return plan.metrics().apply("numFiles").value(), plan.requiredSchema().simpleString()


def test_one_day_of_a_thousand_partitions_opens_its_file_and_reads_its_columns(
    enabled: SparkSession, tmp_path: Path
) -> None:
    schema = pa.schema(
        [("id", pa.string()), ("day", pa.string()), ("ts", pa.int64()), ("a", pa.int64()), ("b", pa.int64())]
    )
    path = str(tmp_path / "days")
    table = pyhudi.create_table(path, schema, name="days", record_key=["id"], partition_by=["day"], ordering=["ts"])
    days = [f"day{number:04d}" for number in range(1000)]
    count = len(days)
    rows: list[list[Any]] = [[f"k{day}" for day in days], days, [1] * count, list(range(count)), [0] * count]
    table.insert(pa.table(rows, schema=schema))
    frame = enabled.read.format("hudi").load(path)
    one = frame.where("day = 'day0417'").select("a")
    files, columns = scanned(one)
    print(f"1,000 partitions, one day: {files} file(s) opened, columns {columns}")
    assert [row.a for row in one.collect()] == [417]
    assert files == 1
    assert columns == "struct<day:string,a:bigint>"
    few, _ = scanned(frame.where("a > 990").select("id"))
    assert few == 9
    frame.createOrReplaceTempView("days")
    assert enabled.sql("SELECT count(*) c FROM days WHERE day >= 'day0990'").head().c == 10


def test_what_cannot_be_done_is_said_with_the_call_that_works(enabled: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    rows = trips(enabled, ("a", "mon", 1, 1.0))
    with pytest.raises(TableNotFound):
        enabled.read.format("hudi").load(str(path))
    with pytest.raises(InvalidRequest, match="recordkey.field must be set"):
        rows.write.format("hudi").option("hoodie.table.name", "t").mode("append").save(str(path))
    write(rows, path)
    with pytest.raises(TableExists, match='mode\\("append"\\)'):
        write(rows, path, mode="errorifexists")
    with pytest.raises(Unsupported, match="overwrite"):
        write(rows, path, mode="overwrite")
    with pytest.raises(Unsupported, match="bulk_insert is not built yet"):
        write(rows, path, **{"hoodie.datasource.write.operation": "bulk_insert"})
    with pytest.raises(Unsupported, match="incremental"):
        enabled.read.format("hudi").option("hoodie.datasource.query.type", "incremental").load(str(path))
    write(trips(enabled, ("a", "mon", 2, 5.0)), path, mode="ignore")
    assert fares(enabled.read.format("hudi").load(str(path))) == {"a": 1.0}


def test_partition_by_of_the_writer_names_the_partitions(enabled: SparkSession, tmp_path: Path) -> None:
    plain = {key: value for key, value in OPTIONS.items() if "partitionpath" not in key}
    frame = trips(enabled, ("a", "mon", 1, 1.0))
    frame.write.format("hudi").options(**plain).partitionBy("day").mode("append").save(str(tmp_path / "t"))
    assert pyhudi.table(str(tmp_path / "t")).partitions() == ["mon"]


def test_other_formats_are_left_to_spark(enabled: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "plain")
    trips(enabled, ("a", "mon", 1, 1.0)).write.format("parquet").mode("overwrite").partitionBy("day").save(path)
    assert fares(enabled.read.format("parquet").load(path)) == {"a": 1.0}
    assert fares(enabled.read.option("mergeSchema", "true").parquet(path)) == {"a": 1.0}


def test_enabling_twice_is_once_and_can_be_undone(spark: SparkSession, tmp_path: Path) -> None:
    pyhudi.enable(spark)
    pyhudi.enable(spark)
    write(trips(spark, ("a", "mon", 1, 1.0)), tmp_path / "t")
    pyhudi.disable(spark)
    with pytest.raises(Exception, match="(?i)hudi") as refused:
        spark.read.format("hudi").load(str(tmp_path / "t"))
    assert not isinstance(refused.value, pyhudi.HudiError)


def test_another_session_of_the_same_jvm_is_not_enabled(enabled: SparkSession, tmp_path: Path) -> None:
    write(trips(enabled, ("a", "mon", 1, 1.0)), tmp_path / "t")
    other = enabled.newSession()
    with pytest.raises(Exception, match="(?i)hudi") as refused:
        other.read.format("hudi").load(str(tmp_path / "t"))
    assert not isinstance(refused.value, pyhudi.HudiError)


def test_a_table_is_created_from_a_ddl_string_or_a_spark_schema(spark: SparkSession, tmp_path: Path) -> None:
    ddl = "id string, day string, ts bigint, fare decimal(10,2)"
    by_text = pyhudi.create_table(str(tmp_path / "a"), ddl, name="a", record_key=["id"])
    struct = spark.createDataFrame([], ddl).schema
    by_struct = pyhudi.create_table(str(tmp_path / "b"), struct, name="b", record_key=["id"])
    assert by_text.schema == by_struct.schema
    assert by_text.schema.field("fare").type == pa.decimal128(10, 2)
    with pytest.raises(InvalidRequest, match="no list of columns"):
        pyhudi.create_table(str(tmp_path / "c"), "id strange", name="c", record_key=["id"])
