"""One side of the benchmark, in a process of its own: java or pyhudi, one table type."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import pyhudi

NAME = "bench"
FILE_GROUPS = 4


class Side:
    """The work, in terms that both sides share."""

    def __init__(self, spark: SparkSession, kind: str, path: str) -> None:
        self.spark, self.kind, self.path = spark, kind, path
        self.phases: dict[str, float] = {}

    def load(self, rows: DataFrame) -> None: ...
    def upsert(self, rows: DataFrame) -> None: ...
    def read(self) -> DataFrame: ...
    def compact(self) -> None: ...


class Java(Side):
    def _write(self, rows: DataFrame, operation: str, mode: str) -> None:
        options = {
            "hoodie.table.name": NAME,
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.partitionpath.field": "",
            "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
            "hoodie.datasource.write.table.type": self.kind,
            "hoodie.datasource.write.operation": operation,
            "hoodie.bulkinsert.shuffle.parallelism": str(FILE_GROUPS),
            "hoodie.parquet.small.file.limit": "0",
            "hoodie.compact.inline": "false",
            "hoodie.clean.automatic": "false",
            "hoodie.archive.automatic": "false",
        }
        rows.write.format("hudi").options(**options).mode(mode).save(self.path)

    def load(self, rows: DataFrame) -> None:
        self._write(rows, "bulk_insert", "overwrite")

    def upsert(self, rows: DataFrame) -> None:
        self._write(rows, "upsert", "append")

    def read(self) -> DataFrame:
        return self.spark.read.format("hudi").load(self.path)

    def compact(self) -> None:
        options = "hoodie.compact.inline.max.delta.commits=1"
        call = f"call run_compaction(op=>'scheduleAndExecute', path=>'{self.path}', options=>'{options}')"
        self.spark.sql(call).collect()


class Pyhudi(Side):
    def load(self, rows: DataFrame) -> None:
        self.table = pyhudi.create_table(
            self.path, rows.schema, name=NAME, table_type=self.kind, record_key=["id"], ordering=["ts"]
        )
        share = -(-rows.count() // FILE_GROUPS)
        self.table.insert(rows, **{"hoodie.copyonwrite.insert.split.size": share})

    def upsert(self, rows: DataFrame) -> None:
        self.phases = dict(self.table.upsert(rows).phases)

    def read(self) -> DataFrame:
        return self.table.read(self.spark)

    def compact(self) -> None:
        self.table.run("compaction", engine=self.spark)


def session(side: str, jar: str) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").appName(f"bench-{side}")
    if side == "java":
        builder = (
            builder.config("spark.jars", jar)
            .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
            .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
            .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
        )
    for key, value in {
        "spark.driver.memory": "6g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.default.parallelism": "4",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def source(spark: SparkSession, rows: int, folder: Path) -> DataFrame:
    path = str(folder / f"source-{rows}")
    columns = (
        "concat('key-', lpad(cast(id as string), 10, '0')) id",
        "cast(id % 50 as int) grp",
        "id * 7 amount",
        "rand(1) * 1000 price",
        "concat('note ', cast(hash(id) as string)) note",
        "cast(1000 as long) ts",
    )
    spark.range(0, rows, 1, 4).selectExpr(*columns).write.mode("overwrite").parquet(path)
    return spark.read.parquet(path)


def updates(rows: DataFrame, every: int, step: int) -> DataFrame:
    changed = ("id", "grp", "amount + 1 amount", "price + 1 price", "concat(note, ' u') note", f"ts + {step + 1} ts")
    return rows.where(f"(amount / 7) % {every} = {step % every}").selectExpr(*changed)


def one_run(side: Side, rows: DataFrame, every: int) -> tuple[dict[str, float], list[Any]]:
    shutil.rmtree(side.path, ignore_errors=True)
    seconds: dict[str, float] = {}

    def timed(name: str, act: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        result = act()
        seconds[name] = time.perf_counter() - started
        return result

    def total() -> Any:
        return side.read().selectExpr("count(*)", "sum(amount)", "max(ts)").collect()[0]

    timed("load", lambda: side.load(rows))
    timed("upsert", lambda: side.upsert(updates(rows, every, 0)))
    timed("upsert_again", lambda: side.upsert(updates(rows, every, 1)))
    answers = [list(timed("snapshot", total))]
    timed("snapshot_full", lambda: side.read().write.format("noop").mode("overwrite").save())
    if side.kind == "MERGE_ON_READ":
        timed("compaction", side.compact)
        answers.append(list(timed("read_after", total)))
    return seconds, answers


def main() -> None:
    name, kind, rows, changed, repeat, folder, answer, jar = sys.argv[1:]
    spark = session(name, jar)
    side = {"java": Java, "pyhudi": Pyhudi}[name](spark, kind, str(Path(folder) / "table"))
    small, every = source(spark, 20_000, Path(folder)), int(rows) // int(changed)
    one_run(side, small, every)
    data = source(spark, int(rows), Path(folder))
    runs = [one_run(side, data, every) for _ in range(int(repeat))]
    best = {key: min(seconds[key] for seconds, _ in runs) for key in runs[0][0]}
    content = {"seconds": best, "answers": runs[-1][1], "phases": side.phases}
    Path(answer).write_text(json.dumps(content), encoding="utf-8")
    spark.stop()


main()
