"""One Spark session for all tests of a process, set up for a fast start rather than for speed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

import pyhudi

WORKER_PATH = (str(Path(pyhudi.__file__).parents[1]), str(Path(__file__).parents[2]))
"""What a Python worker needs on its path to import pyhudi, and what tests hand to it."""

FAST_START = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Two cores; a task may fail twice."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    paths = [*WORKER_PATH, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(path for path in paths if path))
    builder = SparkSession.builder.master("local[2,3]").appName("pyhudi tests")
    for key, value in FAST_START.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
