"""Work in Spark's Arrow workers: items that travel with the function, one Spark task each, and what comes back."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from pyhudi import errors
from pyhudi.engine.base import R, Task
from pyhudi.file_group.tasks import Attempt

T = TypeVar("T")

OUTCOMES = "number long, outcome binary"
"""A small result of work and the number of what it is the result of."""


@dataclass(frozen=True, slots=True)
class EachItem(Generic[T]):
    """Turns the numbers of items into what `produce` makes of the items. They pickle with it."""

    items: Sequence[T]
    produce: Callable[[int, T], Iterator[pa.RecordBatch]]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self.produce(number, self.items[number])


def made_of(
    spark: SparkSession,
    items: Sequence[T],
    produce: Callable[[int, T], Iterator[pa.RecordBatch]],
    schema: StructType | str,
    tasks: int,
) -> DataFrame:
    """The rows that `produce` makes of the items, which are dealt out to so many Spark tasks. Lazy."""
    return spark.range(0, len(items), 1, tasks).mapInArrow(EachItem(items, produce), schema)


def run_tasks(spark: SparkSession, tasks: Sequence[Task[R]]) -> list[R]:
    """Results in the order of the tasks, each of which is a Spark task of its own; only results reach the driver."""
    if not tasks:
        return []
    results: dict[int, R] = dict(collected(made_of(spark, tasks, _run, OUTCOMES, tasks=len(tasks))))
    return [results[number] for number in range(len(tasks))]


def outcome(number: int, result: Any) -> pa.RecordBatch:
    """A result as a row of `OUTCOMES`."""
    content = pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL)
    return pa.record_batch([pa.array([number], pa.int64()), pa.array([content], pa.binary())], ["number", "outcome"])


def collected(outcomes: DataFrame) -> list[tuple[int, Any]]:
    """Evaluate a frame of `OUTCOMES`, once."""
    with own_errors():
        rows = outcomes.collect()
    return [(row.number, pickle.loads(row.outcome)) for row in rows]


def current_attempt(task: int | None = None) -> Attempt:
    """The try at a Spark task that this code is part of; `task` for one of several things that the Spark task does."""
    context = TaskContext.get()
    if context is None:
        raise errors.InternalError("work for Spark's executors runs outside of a Spark task; report this")
    return Attempt(
        task=context.partitionId() if task is None else task,
        stage=context.stageId(),
        number=context.taskAttemptId(),
    )


@contextmanager
def own_errors() -> Iterator[None]:
    """Errors of ours that ended a Spark job, raised as themselves; Spark's own pass."""
    try:
        yield
    except PySparkException as problem:
        raised = _raised_by_us(str(problem))
        if raised is None:
            raise
        raise raised from problem


_MISSING = re.compile(r"ModuleNotFoundError: No module named '(pyhudi|pyarrow|numpy|fastavro|xxhash|isal)")
_RAISED = re.compile(r"\bpyhudi\.errors\.(\w+): (.*)")


def _raised_by_us(text: str) -> errors.HudiError | None:
    for name, message in reversed(_RAISED.findall(text)):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, errors.HudiError):
            return kind(message.strip())
    missing = _MISSING.search(text)
    if missing is not None:
        return errors.InvalidRequest(
            f"Spark's Python workers cannot import {missing[1]}: they run another Python than the driver. Set the "
            "environment variable PYSPARK_PYTHON to a Python that has pyhudi before the session starts, or ship pyhudi "
            "with spark.submit.pyFiles"
        )
    return None


def _run(number: int, task: Task[Any]) -> Iterator[pa.RecordBatch]:
    yield outcome(number, task.run(current_attempt()))
