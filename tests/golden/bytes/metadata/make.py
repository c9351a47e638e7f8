"""Writes the tables whose files lie here (PySpark 3.5 with the bundle of Hudi 1.2.0 in the local Maven repository)."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path

from pyspark.sql import SparkSession

VERSION = "1.2.0"
NAME = f"hudi-spark3.5-bundle_2.12-{VERSION}.jar"
JAR = Path.home() / f".m2/repository/org/apache/hudi/hudi-spark3.5-bundle_2.12/{VERSION}/{NAME}"
SCHEMA = (
    "id string, part string, ts bigint, b boolean, i int, f float, d double, s string, bin binary, dt date, "
    "tm timestamp, tn timestamp_ntz, dec decimal(10,2), dec38 decimal(38,10), sh smallint"
)


def row(number: int, ts: int) -> tuple[object, ...]:
    moment = datetime.datetime(2020, 1, 1, microsecond=number * 1000)
    amounts = (decimal.Decimal("12.34") * number, decimal.Decimal("-1.5") * number)
    numbers = (number % 2 == 0, number - 5, number / 2, -float(number))
    text = (f"s{number}" if number else None, bytes([number, 255]))
    times = (datetime.date(2020, 1, 1 + number), moment, moment)
    return (f"k{number}", f"p{number % 2}", ts, *numbers, *text, *times, *amounts, number)


def main() -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.jars", str(JAR))
    for key, value in {
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for table_type in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        options = {
            "hoodie.table.name": "ref",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "part",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.table.type": table_type,
        }
        for count, ts, operation, mode in (
            (10, 1, "insert", "overwrite"),
            (3, 2, "upsert", "append"),
            (2, 3, "delete", "append"),
        ):
            frame = spark.createDataFrame([row(number, ts) for number in range(count)], SCHEMA)
            written = frame.write.format("hudi").options(**options)
            written.option("hoodie.datasource.write.operation", operation).mode(mode).save(
                f"tables/{table_type.lower()}"
            )


main()
