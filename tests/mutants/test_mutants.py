"""Planted bugs, each a patch: the simulation must catch every one of them, or it proves nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.simulate

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CRASHES = "tests/simulation/test_crashes.py::test_a_crash_at_any_call_is_mended_by_the_next_write"
WRITERS = "tests/simulation/test_two_writers.py::test_a_second_writer_begun_at_any_call_of_the_first"
ERRORS = "tests/simulation/test_storage_errors.py"
CLOCKS = "tests/simulation/test_clocks.py"

MUTANTS = {
    "completed_before_data": (f"{CRASHES}[upsert-cow-parts-event]", "neither the state before|there is no file"),
    "rollback_leaves_files": (f"{CRASHES}[upsert-cow-parts-event]", "orphan|R2"),
    "metadata_after_data": (f"{CRASHES}[insert-cow-flat-commit]", "orphan|metadata table and storage differ"),
    "unmarked_files": (f"{CRASHES}[insert-cow-flat-commit]", "orphan|R2"),
    "heartbeat_ignored": (f"{WRITERS}[upserts side by side-cow-parts-event]", "nothing in common"),
    "conflicts_ignored": (f"{WRITERS}[upserts of one file group-cow-parts-event]", "AssertionError"),
    "keys_of_base_files_alone": (f"{CRASHES}[compaction-mor-flat-commit]", "snapshot"),
    "later_logs_out_of_partition_range": (f"{WRITERS}[upsert and compaction-mor-parts-event]", "where v > 90"),
    "failed_upkeep_fails_the_commit": (ERRORS, "told that it failed"),
    "clock_of_the_data_table_alone": (CLOCKS, "gone from the metadata table"),
}
"""Patch -> the simulation that catches it, and what its report says."""


def test_every_patch_has_its_simulation():
    assert {path.stem for path in HERE.glob("*.patch")} == set(MUTANTS)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name, tmp_path):
    simulation, complaint = MUTANTS[name]
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    patch = ["git", "apply", "--unidiff-zero", str(HERE / f"{name}.patch")]
    subprocess.run(patch, cwd=tmp_path, check=True, env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", simulation]
    settings = {"PYTHONPATH": f"{tmp_path / 'src'}{os.pathsep}{ROOT}", "PYHUDI_CASES": "20", "PYHUDI_FULL": ""}
    run = subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, capture_output=True, text=True)
    assert run.returncode == 1, f"{name} lives: {run.stdout[-2000:]}{run.stderr[-2000:]}"
    assert any(each in run.stdout for each in complaint.split("|")), run.stdout[-4000:]
