"""The demo over Spark, run as a process: its results go to stdout as JSON, Spark's own words to stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as PySpark's own documentation has it

from pyhudi.interfaces.dataframe import table
from pyhudi.interfaces.engines import enable

SESSION: dict[str, Any] = {
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""For a quick start rather than for speed."""


def main(path: str) -> dict[str, Any]:
    """Change the fares of one day by a DataFrame, then read the table as DataFrames do."""
    spark = SparkSession.builder.config(map=SESSION).getOrCreate()
    enable(spark)
    opened = table(path)
    changes = opened.read(spark, columns=["trip", "day", "rider", "fare", "updated"], where="day = '2024-12-31'")
    result = opened.upsert(
        changes.limit(5_000).withColumn("fare", F.col("fare") + 1).withColumn("updated", F.lit(9).cast("long"))
    )
    frame = spark.read.format("hudi").load(path)
    by_day = frame.groupBy("day").agg(F.count("*").alias("trips"), F.round(F.sum("fare"), 2).alias("fares"))
    told = {
        "spark": spark.version,
        "instant": str(result.instant),
        "updated": result.rows_updated,
        "files": len(result.files),
        "days": [row.asDict() for row in by_day.orderBy("day").collect()],
    }
    spark.stop()
    return told


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
