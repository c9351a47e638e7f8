"""Slices without logs, read by Spark's own Parquet reader, which opens only the files that its filters leave.

The list of files is made once, when the table is loaded; each query then asks for the part that it needs.
"""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody gives it
from pyspark.sql.types import StructType

from pyhudi.engine.base import Reading
from pyhudi.engine.spark.catalyst import Filter, predicate_of, unjudged
from pyhudi.engine.spark.conditions import condition
from pyhudi.engine.spark.jvm import ScanFile, parquet_frame
from pyhudi.engine.spark.types import spark_schema
from pyhudi.errors import HudiError
from pyhudi.format.predicate import And, Predicate, domains_of
from pyhudi.table.slices import FileSlice

Prune: TypeAlias = Callable[[Predicate], Sequence[ScanFile]]
"""Which of the pinned files may hold rows that match."""


def native_frame(spark: SparkSession, schema: StructType, files: PinnedFiles) -> DataFrame:
    """A DataFrame over the files: they must have these columns (or lack them) in exactly these types."""
    return parquet_frame(spark, schema, files)


def native_rows(spark: SparkSession, reading: Reading, slices: Sequence[FileSlice]) -> DataFrame:
    """The rows of plain slices; filters that a query adds later leave out files too."""
    table = reading.table
    files = {each.base.path: ScanFile(path=each.base.path, size=each.base.size) for each in slices if each.base}

    def prune(predicate: Predicate) -> Sequence[ScanFile]:
        left = reading.narrow(predicate)
        return [files[each.base.path] for each in left if each.base is not None and each.base.path in files]

    pinned = PinnedFiles(table.storage.uri, tuple(files.values()), prune)
    rows = native_frame(spark, spark_schema(table.file_schema), pinned)
    if reading.projection.predicate is not None:
        rows = rows.where(condition(reading.projection.predicate, domains_of(table.file_avro)))
    return rows.select(*(F.col(f"`{name}`") for name in reading.projection.columns))


class PinnedFiles:
    """The files of one reading of a table. Pruning fails no query: what goes wrong is counted, and all are read."""

    def __init__(self, root_uri: str, files: Sequence[ScanFile], prune: Prune) -> None:
        self.root_uri = root_uri
        self.files: Sequence[ScanFile] = tuple(files)
        self.name = f"pyhudi({root_uri}, {len(self.files)} files, reading {next(_readings)})"
        self.selections: deque[int] = deque(maxlen=1000)
        """how many files each of the last listings left"""
        self.unjudged = 0
        """parts of filters that were not understood"""
        self.failures = 0
        """listings that were not pruned because something went wrong"""
        self._prune = prune

    def select(self, filters: Sequence[Filter]) -> tuple[Hashable, Sequence[ScanFile]]:
        """The files that may hold rows for which all filters are true, and the predicate that chose them."""
        predicate, chosen = self._judged(filters)
        self.selections.append(len(chosen))
        return predicate, chosen

    def _judged(self, filters: Sequence[Filter]) -> tuple[Predicate | None, Sequence[ScanFile]]:
        if not filters:
            return None, self.files
        try:
            predicate = And(parts=tuple(predicate_of(each) for each in filters))
            self.unjudged += unjudged(predicate)
            return predicate, self._prune(predicate)
        except _PROBLEMS as problem:
            self.failures += 1
            if self.failures == 1:
                _LOG.warning("%s: a filter was not used to leave out files, all are read: %s", self.name, problem)
            return None, self.files


_LOG = logging.getLogger(__name__)
_PROBLEMS = (
    HudiError,
    Py4JError,
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
_readings = itertools.count(1)
