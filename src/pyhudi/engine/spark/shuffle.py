"""Rows to their file groups: one shuffle that puts the rows of each target into one Spark task, which writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody gives it

from pyhudi.engine.base import GroupKey
from pyhudi.engine.spark.dispatch import OUTCOMES, collected, current_attempt, outcome
from pyhudi.errors import InternalError
from pyhudi.file_group.tasks import GroupWrite, Target
from pyhudi.file_group.writer import WrittenFile
from pyhudi.format.schema import PARTITION_PATH, RECORD_KEY
from pyhudi.merge.arrow_schema import conform

FILE_ID = "_pyhudi_file_id"
_TARGET = "_pyhudi_target"
_ROWS_PER_TASK = 250_000
_GROUP_COLUMNS = ("_pyhudi_group_path", "_pyhudi_group_file", "_pyhudi_first", "_pyhudi_width")
_GROUPS = "array<struct<{}: string, {}: string, {}: int, {}: int>>".format(*_GROUP_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Targets by number; `groups` holds path, file id (or ""), number of the first target and how many there are."""

    targets: tuple[Target, ...]
    groups: tuple[tuple[str, str, int, int], ...]
    tasks: int

    def groups_as_json(self) -> str:
        """The groups as Spark reads them."""
        return json.dumps([dict(zip(_GROUP_COLUMNS, group, strict=True)) for group in self.groups])


def place(profile: Mapping[GroupKey, int], targets: Mapping[GroupKey, Sequence[Target]], cores: int) -> Placement:
    """Number the targets, those with the most rows first, so that dealing them out in turn loads all tasks alike."""
    chosen = {group: targets[group] for group in profile if targets[group]}
    by_size = sorted(chosen, key=lambda group: (-profile[group] / len(chosen[group]), group[0], group[1] or ""))
    numbered: list[Target] = []
    groups: list[tuple[str, str, int, int]] = []
    for path, file_id in by_size:
        own = chosen[(path, file_id)]
        groups.append((path, file_id or "", len(numbered), len(own)))
        numbered += own
    rows = sum(profile[group] for group in chosen)
    tasks = min(len(numbered), max(cores, rows // _ROWS_PER_TASK))
    return Placement(targets=tuple(numbered), groups=tuple(groups), tasks=tasks)


def write_targets(frame: DataFrame, placement: Placement, write: GroupWrite, schema: pa.Schema) -> list[WrittenFile]:
    """Shuffle the located rows and write every target once; rows of groups without a target are left out."""
    if not placement.targets:
        return []
    placed = _by_task(_numbered(frame, placement), placement.tasks, sort=placement.tasks < len(placement.targets))
    work = WriteTargets(targets=placement.targets, write=write, schema=schema)
    found = collected(placed.mapInArrow(work, OUTCOMES))
    numbers = [number for number, _ in found]
    if len(set(numbers)) != len(numbers):
        raise InternalError("Spark wrote a file group in two tasks of one job; nothing was committed, report this")
    return [written for _, files in found for written in files]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTargets:
    """What a Spark task does with its rows, which lie target by target."""

    targets: tuple[Target, ...]
    write: GroupWrite
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, rows in runs(batches, _TARGET):
            fitted = conform(_in_milliseconds(rows, self.schema), self.schema)
            yield outcome(number, self.write.write(self.targets[number], fitted, current_attempt(number)))


def runs(batches: Iterator[pa.RecordBatch], column: str) -> Iterator[tuple[int, pa.Table]]:
    """Consecutive rows with one number in the column, gathered."""
    number, parts = -1, list[pa.RecordBatch]()
    for batch in batches:
        numbers = batch.column(column).to_numpy()
        cuts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
        for start, end in pairwise([*cuts.tolist(), len(numbers)]):
            if numbers[start] != number and parts:
                yield number, pa.Table.from_batches(parts)
                parts = []
            number = int(numbers[start])
            parts.append(batch.slice(start, end - start))
    if parts:
        yield number, pa.Table.from_batches(parts)


def partition_seeds(partitions: int) -> list[int]:
    """For every partition number an int that Spark's hash partitioning puts there."""
    seeds: dict[int, int] = {}
    start = 0
    while len(seeds) < partitions:
        candidates = np.arange(start, start + 16 * partitions, dtype=np.int32)
        places = spark_hash(candidates) % partitions
        found, index = np.unique(places, return_index=True)
        for partition, seed in zip(found.tolist(), candidates[index].tolist(), strict=True):
            seeds.setdefault(partition, seed)
        start += 16 * partitions
    return [seeds[partition] for partition in range(partitions)]


def spark_hash(numbers: np.ndarray[tuple[int], np.dtype[np.int32]]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Spark's hash of int columns: Murmur3 with seed 42, the one by which it partitions and buckets."""
    with np.errstate(over="ignore"):
        mixed = _rotated(numbers.view(np.uint32) * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        state = _rotated(mixed ^ np.uint32(42), 13) * np.uint32(5) + np.uint32(0xE6546B64)
        state ^= np.uint32(4)
        state = (state ^ (state >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        state = (state ^ (state >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        return (state ^ (state >> np.uint32(16))).view(np.int32)


def _rotated(
    numbers: np.ndarray[tuple[int], np.dtype[np.uint32]], bits: int
) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return (numbers << np.uint32(bits)) | (numbers >> np.uint32(32 - bits))


def _numbered(frame: DataFrame, placement: Placement) -> DataFrame:
    """Rows with the number of their target; the rows of a group with several are dealt out by their keys."""
    listed = F.from_json(F.lit(placement.groups_as_json()), _GROUPS)
    groups = frame.sparkSession.range(0, 1, 1, 1).select(F.inline(listed))
    path, file_id, first, width = map(F.col, _GROUP_COLUMNS)
    same = (F.col(PARTITION_PATH) == path) & (F.coalesce(F.col(FILE_ID), F.lit("")) == file_id)
    number = first + F.pmod(F.hash(RECORD_KEY), width)
    numbered = frame.join(F.broadcast(groups), same).withColumn(_TARGET, number.cast("int"))
    return numbered.drop(FILE_ID, *_GROUP_COLUMNS)


def _by_task(numbered: DataFrame, tasks: int, *, sort: bool) -> DataFrame:
    """Rows in so many partitions, target n in the one with the number n modulo `tasks`."""
    seeds = F.array(*(F.lit(seed) for seed in partition_seeds(tasks)))
    seed = F.element_at(seeds, F.col(_TARGET) % F.lit(tasks) + F.lit(1))
    placed = numbered.repartition(tasks, seed)
    return placed.sortWithinPartitions(_TARGET) if sort else placed


def _in_milliseconds(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Timestamps cut to milliseconds where the table keeps these; that nothing is lost was checked before."""
    for index, field in enumerate(schema):
        if pa.types.is_timestamp(field.type) and field.type.unit == "ms":
            rows = rows.set_column(index, field, rows.column(index).cast(pa.timestamp("ms", field.type.tz)))
    return rows
