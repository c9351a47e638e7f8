"""What is installed is pinned by hash and names no place to get it from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
LOCKS = sorted(REQUIREMENTS.glob("*.txt"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_locked_package_is_pinned_by_hash(lock: Path) -> None:
    entries = re.split(r"\n(?=\S)", re.sub(r"(?m)^#.*\n", "", lock.read_text()))
    packages = [entry for entry in entries if entry.strip()]
    assert packages
    loose = [entry.split()[0] for entry in packages if "==" not in entry or "--hash=sha256:" not in entry]
    assert not loose, "run `make locks`"


@pytest.mark.parametrize("file", [*LOCKS, *sorted(REQUIREMENTS.glob("*.in"))], ids=lambda file: file.name)
def test_no_registry_is_named(file: Path) -> None:
    found = re.findall(r"https?://\S+|--(?:extra-)?index-url.*|--find-links.*|--trusted-host.*", file.read_text())
    assert not found, "an index comes from pip's own configuration, never from a committed file"


def test_each_lock_has_its_source() -> None:
    assert {lock.stem for lock in LOCKS} == {source.stem for source in REQUIREMENTS.glob("*.in")} - {"core"}
