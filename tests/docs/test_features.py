"""The feature ledger: every test it names exists, every line says held or open, and what is open says why."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

pytestmark = pytest.mark.docs

LEDGER = ROOT / "docs" / "features.md"
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def lines() -> list[list[str]]:
    """The cells of every row: number, what, tests, state."""
    rows = [line.strip("|").split("|") for line in LEDGER.read_text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row] for row in rows]
    return [row for row in cells if len(row) == 4 and not set(row[0]) <= set("-") and row[3] != "state"]


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("row", lines(), ids=lambda row: row[0])
def test_a_line_names_tests_that_exist_and_its_state(row: list[str]) -> None:
    _, _, tests, state = row
    for path, test in _TEST.findall(tests):
        assert (ROOT / path).is_file(), f"{path} is not there"
        assert not test or test in names_in(ROOT / path), f"{path} has no {test}"
    assert re.match(r"held(: .{10,})?$|held in part: .{10,}|open: .{10,}", state), state
    if state.startswith("held"):
        assert _TEST.search(tests), "what is held names the test that holds it"
