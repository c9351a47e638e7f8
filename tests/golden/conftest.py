"""Tables by Java Hudi, each a zip with a sidecar of what Hudi answers; `make_fixtures.py` says how they were made."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pyhudi.client.table_client import TableClient
from pyhudi.clock import Machine
from pyhudi.storage import safe_path
from pyhudi.storage.local import LocalStorage
from pyhudi.testing.machine import SimClock, SimIds

TABLES = Path(__file__).parent / "tables"
AFTER_ALL_WERE_WRITTEN_MS = 1_800_000_000_000


@dataclass(frozen=True, kw_only=True)
class GoldenTable:
    """A table, unpacked for one test, and its sidecar."""

    name: str
    path: Path
    sidecar: dict[str, Any]

    @property
    def client(self) -> TableClient:
        clock = SimClock(AFTER_ALL_WERE_WRITTEN_MS)
        return TableClient(LocalStorage(str(self.path)), Machine(clock=clock, ids=SimIds()), {})

    def queries(self, *kinds: str) -> list[dict[str, Any]]:
        return [query for query in self.sidecar["queries"] if query["kind"] in kinds]


def unpack(archive: Path, into: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        for member in content.infolist():
            safe_path(member.filename.rstrip("/"))
        content.extractall(into)


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], GoldenTable]:
    """A table that tests only read, unpacked once."""
    opened: dict[str, GoldenTable] = {}

    def open_table(name: str) -> GoldenTable:
        if name not in opened:
            path = tmp_path_factory.mktemp(name)
            unpack(TABLES / f"{name}.zip", path)
            sidecar = json.loads((TABLES / f"{name}.expected.json").read_text(encoding="utf-8"))
            opened[name] = GoldenTable(name=name, path=path, sidecar=sidecar)
        return opened[name]

    return open_table


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "golden" in metafunc.fixturenames:
        metafunc.parametrize("golden", sorted(file.stem for file in TABLES.glob("*.zip")), indirect=True)


@pytest.fixture
def golden(request: pytest.FixtureRequest, unpacked: Callable[[str], GoldenTable]) -> GoldenTable:
    """Every table in turn."""
    return unpacked(request.param)
