"""What README and the guide show is run: Python blocks of a page one after the other, shell blocks line by line."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from pyhudi.interfaces.cli import main
from tests.docs.pages import ROOT, RUN, Block, blocks, name

pytestmark = pytest.mark.docs

_SHOWN = re.compile(r"^(.+?)  # -> (.+)$", re.MULTILINE)
_EXAMPLE_LINES = 25


def run_python(page: Path, block: Block, names: dict[str, Any]) -> None:
    """Run the block; a line `expression  # -> value` must give that value."""
    text = _SHOWN.sub(lambda match: f"_shown(({match[1]}), {match[2]!r})", block.text)
    tree = ast.parse(text, str(page))
    ast.increment_lineno(tree, block.line - 1)
    exec(compile(tree, str(page), "exec"), names)


def shown(value: object, expected: str) -> None:
    assert repr(value) == expected


def run_shell(block: Block) -> None:
    """`pyhudi` lines run here; `make` lines must name a target that is there."""
    for line in block.text.splitlines():
        words = shlex.split(line, comments=True)
        assert words[0] == "pyhudi", f"{line}: a shell block shows the command line, nothing else"
        assert main(words[1:]) == 0, line


@pytest.mark.parametrize("page", RUN, ids=name)
def test_the_code_of_a_page_runs_as_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__", "_shown": shown}
    for block in blocks(page):
        if block.language == "python":
            run_python(page, block, names)
        elif block.language == "shell":
            run_shell(block)
        else:
            assert block.language in ("text", "properties"), f"{name(page)}, line {block.line}: nobody runs this block"


def test_the_first_example_is_short() -> None:
    example = next(block for block in blocks(ROOT / "README.md") if block.language == "python")
    assert len(example.text.splitlines()) <= _EXAMPLE_LINES


def test_every_make_target_that_a_page_names_is_there() -> None:
    targets = set(re.findall(r"(?m)^([a-z0-9]+):", (ROOT / "Makefile").read_text()))
    for page in (*RUN, ROOT / "CONTRIBUTING.md"):
        named = set(re.findall(r"(?m)^    make ([a-z0-9]+)", page.read_text()))
        named |= set(re.findall(r"`make ([a-z0-9]+)`", page.read_text()))
        assert named <= targets, page
