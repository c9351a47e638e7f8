"""The demo: it plays to its end, each chapter within its time, and its table goes afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import pyhudi
from pyhudi.interfaces.cli import main
from pyhudi.interfaces.demo.chapters import CHAPTERS

CHAPTER_S = 10


def test_the_whole_story_plays_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    played = subprocess.run(
        [sys.executable, "-m", "pyhudi.interfaces.demo", "--json", "--no-spark"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (played.returncode, played.stderr) == (0, "")
    chapters = json.loads(played.stdout)["chapters"]
    assert [each["name"] for each in chapters] == [chapter.name for chapter in CHAPTERS][:-1]
    assert max(each["seconds"] for each in chapters) < CHAPTER_S
    assert not list(tmp_path.iterdir())


def test_one_chapter_plays_alone_and_its_table_can_be_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "kept"
    assert main(["demo", "--chapter", "write", "--keep", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "[2/" in told and "[1/" not in told
    assert pyhudi.table(str(folder / "trips")).to_arrow(columns=["trip"]).num_rows > 0


def test_a_folder_that_exists_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--keep", str(tmp_path)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
