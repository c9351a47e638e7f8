"""The far side of the pipe: a Spark 3.5 session with the Hudi bundle that answers one line of JSON with another.

server.py JAR TIMEZONE FOLDER. Runs in .venv35 and imports nothing of ours. Java writes to standard output as it likes,
so the pipe is moved to a descriptor of its own and standard output becomes the log.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema


def session(jar: str, timezone: str, folder: str) -> SparkSession:
    """A session as Hudi's documentation asks for it, made to start fast and to stay on this machine."""
    settings = {
        "spark.jars": jar,
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.sql.session.timeZone": timezone,
        "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
        "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.driver.extraJavaOptions": f"-Duser.timezone={timezone} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    builder = SparkSession.builder.master("local[2]").appName("oracle")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def read(spark: SparkSession, request: dict[str, Any]) -> None:
    """Rows of a table, all of them or those asked for."""
    rows = spark.read.format("hudi").options(**request["options"]).load(request["path"])
    if request["where"] is not None:
        rows = rows.where(request["where"])
    if request["columns"] is not None:
        rows = rows.select(*request["columns"])
    _hand_over(rows, request["answer"])


def write(spark: SparkSession, request: dict[str, Any]) -> None:
    """Rows from a Parquet file into a table."""
    rows = spark.read.parquet(request["rows"])
    rows.write.format("hudi").options(**request["options"]).mode(request["mode"]).save(request["path"])


def sql(spark: SparkSession, request: dict[str, Any]) -> None:
    """The answer to a statement."""
    _hand_over(spark.sql(request["text"]), request["answer"])


def ping(spark: SparkSession, request: dict[str, Any]) -> None:
    """Nothing but an answer: the session stands."""


VERBS = {verb.__name__: verb for verb in (read, write, sql, ping)}


def _hand_over(rows: DataFrame, file: str) -> None:
    batches: list[pa.RecordBatch] = rows._collect_as_arrow()  # type: ignore[operator]
    zoned = batches[0].schema if batches else to_arrow_schema(rows.schema)
    schema = pa.schema([field.with_type(_utc(field.type)) for field in zoned])
    with pa.ipc.new_file(file, schema) as writer:
        writer.write_table(pa.Table.from_batches(batches, zoned).cast(schema))


def _utc(kind: pa.DataType) -> pa.DataType:
    """Timestamps carry the session's zone as a label; the value is the same in any."""
    return pa.timestamp(kind.unit, "UTC") if pa.types.is_timestamp(kind) and kind.tz is not None else kind


def _causes(problem: Exception) -> str:
    """Java's messages, outermost first, without the stack traces."""
    thrown = problem.java_exception if isinstance(problem, Py4JJavaError) else getattr(problem, "_origin", None)
    if thrown is None:
        return str(problem)
    messages = []
    while thrown is not None:
        messages.append(thrown.toString())
        thrown = thrown.getCause()
    return "\ncaused by ".join(messages)


def serve(spark: SparkSession, requests: Any, answers: Any) -> None:
    """One answer for each request, until the other side closes the pipe."""
    for line in requests:
        request = json.loads(line)
        try:
            VERBS[request["verb"]](spark, request)
            answer = {}
        except (Py4JError, PySparkException) as problem:
            answer = {"error": _causes(problem)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def main() -> None:
    """Takes the pipe out of the way of Java's own output, then serves."""
    pipe = os.fdopen(os.dup(1), "w")
    os.set_inheritable(pipe.fileno(), False)
    os.dup2(2, 1)
    spark = session(*sys.argv[1:])
    serve(spark, sys.stdin, pipe)
    spark.stop()


if __name__ == "__main__":
    main()
