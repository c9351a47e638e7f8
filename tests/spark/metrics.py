"""What Spark's own metrics say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession


def stages(spark: SparkSession) -> list[Any]:
    """Every stage so far, the newest first."""
    gateway, context = spark.sparkContext._gateway, spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    none = gateway.jvm.java.util.ArrayList()
    found = context.statusStore().stageList(none, False, False, gateway.new_array(gateway.jvm.double, 0), none)
    return [found.apply(index) for index in range(found.size())]


@contextmanager
def bytes_to_driver(spark: SparkSession) -> Iterator[list[int]]:
    """Filled, at the end of the block, with the result bytes of each stage that ran in it."""
    before = max((stage.stageId() for stage in stages(spark)), default=-1)
    sent: list[int] = []
    yield sent
    sent.extend(stage.resultSize() for stage in stages(spark) if stage.stageId() > before)
