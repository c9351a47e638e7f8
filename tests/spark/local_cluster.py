"""A write whose executors run in processes of their own, which have pyhudi only from the archive shipped to them.

Run as a script: archive, folder of the table, folder that holds pyhudi for the driver.
"""

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.pop("PYTHONPATH", None)
archive, folder, sources = sys.argv[1:]

import pyspark  # noqa: E402
from pyspark import TaskContext  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

spark = (
    SparkSession.builder.master("local-cluster[1,1,1024]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .getOrCreate()
)
spark.sparkContext.addPyFile(archive)
sys.path.insert(0, sources)

import pyhudi  # noqa: E402
from pyhudi.engine.spark.engine import SparkEngine  # noqa: E402


class Where:
    """Tells where a task finds pyhudi, and in which process."""

    def run(self, attempt):
        assert TaskContext.get() is not None
        return __import__("pyhudi").__file__, os.getpid()


rows = spark.range(0, 3000, 1, 3).selectExpr("id", "concat('d', id % 3) day", "id % 2 ts", "cast(id as string) name")
table = pyhudi.create_table(
    folder, rows.schema, name="t", table_type="MERGE_ON_READ", record_key=["id"], partition_by=["day"], ordering=["ts"],
)  # fmt: skip
table.insert(rows)
table.upsert(rows.where("id < 1000").selectExpr("id", "day", "ts + 5 as ts", "'new' as name"))
new = table.read(spark, where="name = 'new'").count()
[(found, process)] = SparkEngine(spark).run([Where()])
assert process != os.getpid()
print(f"{table.read(spark).count()} rows, {new} new, pyhudi from {found}")
work = Path(pyspark.__file__).parent / "work" / spark.sparkContext.applicationId
spark.stop()
shutil.rmtree(work)
with suppress(OSError):
    work.parent.rmdir()
