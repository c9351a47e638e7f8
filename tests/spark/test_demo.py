"""The demo's last chapter: Spark takes the table over, in a process of its own."""

from __future__ import annotations

import json

import pytest

from pyhudi.interfaces.cli import main


def test_the_spark_chapter_changes_a_days_fares(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--chapter", "spark", "--json"]) == 0
    (chapter,) = json.loads(capsys.readouterr().out)["chapters"]
    assert chapter["facts"]["updated"] == 5_000
    assert [day["trips"] for day in chapter["facts"]["days"]] == [30_400] * 4
