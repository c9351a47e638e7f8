"""The engine over Spark: rows stay in executors, the driver sees partition paths, counts and write results."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial, reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody gives it

from pyhudi.engine.base import GroupKey, Incoming, Located, Lookup, R, Reading, Task
from pyhudi.engine.spark.dispatch import current_attempt, made_of, own_errors, run_tasks
from pyhudi.engine.spark.keying import Keyed, keyed_frame, rows_per_partition
from pyhudi.engine.spark.latest import latest_per_key
from pyhudi.engine.spark.native_scan import native_rows
from pyhudi.engine.spark.shuffle import FILE_ID, place, write_targets
from pyhudi.engine.spark.types import arrow_schema, spark_schema
from pyhudi.errors import InternalError, InvalidRequest, Unsupported
from pyhudi.file_group.reader import Projection, read_slice
from pyhudi.file_group.spec import TableSpec
from pyhudi.file_group.tasks import GroupWrite, KeyScan, Target
from pyhudi.file_group.writer import WrittenFile
from pyhudi.format.file_names import FileId
from pyhudi.format.schema import PARTITION_PATH, RECORD_KEY
from pyhudi.table.slices import FileSlice

_BATCH_ROWS = 1 << 14
_SCANNED_PER_TASK = 256 << 20
_MERGED_PER_TASK = 32 << 20
_OPENING = 1 << 20
"""What opening a file costs, in bytes that might be read instead."""


class SparkLocated:
    """Keyed rows with their file ids, kept by Spark until they are written, released, or nobody refers to them."""

    def __init__(self, frame: DataFrame, profile: Mapping[GroupKey, int], schema: pa.Schema, kept: DataFrame) -> None:
        self.frame = frame
        self.profile = profile
        self.schema = schema
        self._kept = weakref.finalize(self, kept.unpersist)
        self._kept.atexit = False

    def release(self) -> None:
        """Let Spark forget the rows."""
        self._kept()


class SparkEngine:
    """Runs tasks and moves rows with a classic Spark session."""

    def __init__(self, spark: SparkSession) -> None:
        if type(spark).__module__.startswith("pyspark.sql.connect"):
            raise Unsupported("Spark Connect sessions are not served yet; use a classic SparkSession")
        self.spark = spark

    def run(self, tasks: Sequence[Task[R]]) -> list[R]:
        return run_tasks(self.spark, tasks)

    def locate(self, incoming: Incoming, lookup: Lookup | None) -> SparkLocated:
        """See `Engine`. The caller's DataFrame is evaluated once: what it gave is kept until the write is done."""
        if not isinstance(incoming.source, DataFrame):
            raise InvalidRequest(f"rows are a {type(incoming.source).__name__}; the Spark engine takes a DataFrame")
        keyed = keyed_frame(incoming.source, incoming)
        if incoming.combine:
            keyed = replace(keyed, frame=latest_per_key(keyed.frame, keyed.schema, incoming.table.rule))
        with ExitStack() as kept:
            kept.callback(keyed.frame.persist().unpersist)
            counts = rows_per_partition(keyed)
            scans = lookup(sorted(counts)) if lookup is not None else ()
            if not scans:
                kept.pop_all()
                return _all_new(keyed, counts)
            return self._tagged(keyed, scans)

    def shuffle(
        self, located: Located, targets: Mapping[GroupKey, Sequence[Target]], write: GroupWrite
    ) -> list[WrittenFile]:
        if not isinstance(located, SparkLocated):
            raise InternalError("the Spark engine was handed rows that it did not locate; report this")
        placement = place(located.profile, targets, self.spark.sparkContext.defaultParallelism)
        try:
            return write_targets(located.frame, placement, write, located.schema)
        finally:
            located.release()

    def frame(self, reading: Reading) -> DataFrame:
        """The rows, lazily: plain slices by Spark's own Parquet reader, the others merged in Arrow workers."""
        plain = [part for part in reading.slices if reading.is_plain(part)]
        known = {part.paths for part in plain}
        merged = [part for part in reading.slices if part.paths not in known]
        frames = [native_rows(self.spark, reading, plain)] if plain else []
        if merged or not plain:
            frames.append(self._merged_in_workers(reading.table, merged, reading.projection))
        return reduce(DataFrame.unionByName, frames)

    def _merged_in_workers(self, table: TableSpec, slices: Sequence[FileSlice], projection: Projection) -> DataFrame:
        """Read in Arrow workers: the way for slices with logs, and a way for all."""
        schema = spark_schema(projection.schema(table))
        if not slices:
            return self.spark.createDataFrame([], schema)
        read = partial(_read, table, projection, arrow_schema(schema))
        return made_of(self.spark, slices, read, schema, self._tasks_for(slices, _MERGED_PER_TASK))

    def _tasks_for(self, slices: Sequence[FileSlice], bytes_each: int) -> int:
        """Enough for all cores, more where there is much to read, at most one per slice."""
        size = sum(part.size + _OPENING for part in slices)
        return min(len(slices), max(self.spark.sparkContext.defaultParallelism, size // bytes_each))

    def _tagged(self, keyed: Keyed, scans: Sequence[KeyScan]) -> SparkLocated:
        """Rows joined to the keys that the table holds."""
        tasks = self._tasks_for([scan.slice for scan in scans], _SCANNED_PER_TASK)
        held = made_of(self.spark, scans, _scan, _HELD_KEYS, tasks).hint("merge")
        same = (F.col(PARTITION_PATH) == F.col(_HELD_PATH)) & (F.col(RECORD_KEY) == F.col(_HELD_KEY))
        tagged = keyed.frame.join(held, same, "left").drop(_HELD_PATH, _HELD_KEY)
        with ExitStack() as kept:
            kept.callback(tagged.persist().unpersist)
            with own_errors():
                found = tagged.groupBy(PARTITION_PATH, FILE_ID).count().collect()
            kept.pop_all()
        profile = {(row[PARTITION_PATH], _file_id(row[FILE_ID])): row["count"] for row in found}
        return SparkLocated(tagged, profile, _written_schema(keyed), kept=tagged)


_HELD_PATH = "_pyhudi_held_path"
_HELD_KEY = "_pyhudi_held_key"
_HELD_KEYS = f"{_HELD_PATH} string, {_HELD_KEY} string, {FILE_ID} string"


def _all_new(keyed: Keyed, counts: Mapping[str, int]) -> SparkLocated:
    frame = keyed.frame.withColumn(FILE_ID, F.lit(None).cast("string"))
    profile: dict[GroupKey, int] = {(path, None): count for path, count in counts.items()}
    return SparkLocated(frame, profile, _written_schema(keyed), kept=keyed.frame)


def _written_schema(keyed: Keyed) -> pa.Schema:
    """The columns that reach `GroupWrite`."""
    return pa.schema([*keyed.schema, pa.field(RECORD_KEY, pa.string()), pa.field(PARTITION_PATH, pa.string())])


def _file_id(text: str | None) -> FileId | None:
    return None if text is None else FileId(text)


def _scan(number: int, scan: KeyScan) -> Iterator[pa.RecordBatch]:
    """On an executor: the keys of one file group, each once, beside its partition path and id."""
    del number
    keys = pc.unique(scan.run(current_attempt()))
    for start in range(0, len(keys), _BATCH_ROWS):
        part = keys.slice(start, _BATCH_ROWS)
        path, file_id = (pa.repeat(text, len(part)) for text in (scan.slice.partition_path, scan.slice.file_id))
        yield pa.record_batch([path, part, file_id], [_HELD_PATH, _HELD_KEY, FILE_ID])


def _read(
    table: TableSpec, projection: Projection, schema: pa.Schema, number: int, part: FileSlice
) -> Iterator[pa.RecordBatch]:
    """On an executor: the rows of one slice, in Spark's types."""
    del number
    for rows in read_slice(table, part, projection):
        yield from rows.cast(schema).to_batches(_BATCH_ROWS)
