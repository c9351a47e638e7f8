"""Executors in processes of their own get pyhudi as the documentation says: as an archive, by `addPyFile`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

import pyhudi

pytestmark = pytest.mark.spark

SOURCES = Path(pyhudi.__file__).parents[1]


def test_a_write_works_on_executors_that_have_the_package_from_an_archive(tmp_path):
    archive = shutil.make_archive(str(tmp_path / "pyhudi"), "zip", SOURCES, "pyhudi")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    script = Path(__file__).with_name("local_cluster.py")
    done = subprocess.run(
        [sys.executable, str(script), archive, str(tmp_path / "table"), str(SOURCES)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told, _, found = done.stdout.strip().splitlines()[-1].partition(", pyhudi from ")
    assert told == "3000 rows, 1000 new"
    assert found.endswith("pyhudi.zip/pyhudi/__init__.py")
