"""House rules that no linter knows, read from the source itself."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyhudi.client.registry import PLANNED, SERVICES
from pyhudi.services import TableService

SOURCE = Path(__file__).resolve().parents[2] / "src" / "pyhudi"
MODULES = sorted(SOURCE.rglob("*.py"))

HANDS_THAT_WRITE = ("Engine", "Writer", "Transaction", "Storage")
_KEY = re.compile(r"hoodie\.(?!properties)\w+(\.\w+)*")
_EMPTY_NAME = re.compile(r"(Base|Abstract)(?!File).*|.*(Impl|Factory|Manager|Helper)|get_.*")
UNLOVED = ("utils", "helpers", "common", "misc", "manager")


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in MODULES:
        yield path.relative_to(SOURCE), ast.parse(path.read_text())


def whole_keys(tree: ast.Module) -> Iterator[ast.Constant]:
    """Strings that are one of Hudi's keys and nothing else; prose that mentions a key is prose."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _KEY.fullmatch(node.value):
            yield node


def test_each_of_hudis_keys_is_written_down_once() -> None:
    places = defaultdict(list)
    for path, tree in trees():
        if path.parts[0] == "testing":
            continue  # it sets keys as a user does
        for node in whole_keys(tree):
            places[node.value].append(f"{path}:{node.lineno}")
    twice = {key: found for key, found in places.items() if len(found) > 1}
    assert not twice, "import the key from the module that declares it"


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_a_plan_is_handed_nothing_that_writes(service: TableService) -> None:
    kinds = [str(parameter.annotation) for parameter in inspect.signature(service.plan).parameters.values()]
    assert len(kinds) == 2, "plan(table, options)"
    assert not [kind for kind in kinds for hand in HANDS_THAT_WRITE if hand in kind]


def test_every_service_module_is_registered_under_its_own_name() -> None:
    modules = {path.stem for path in (SOURCE / "services").glob("*.py")} | {
        path.parent.name for path in (SOURCE / "services").glob("*/__init__.py")
    }
    names = [service.name for service in SERVICES]
    assert sorted(names) == sorted(modules - {"__init__"})
    assert not set(names) & set(PLANNED), "a service that is built is no longer planned"


def test_table_versions_are_compared_in_format_only() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, tree in trees()
        if path.parts[0] != "format"
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Attribute) and side.attr == "code" and "version" in ast.unparse(side)
    ]
    assert not found, "put what differs into a field of format.version.TableVersion"


def test_names_say_what_a_thing_is() -> None:
    bad = [str(path) for path, _ in trees() if any(word in part for part in path.parts for word in UNLOVED)]
    bad += [
        f"{path}: {node.name}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and _EMPTY_NAME.fullmatch(node.name)
    ]
    assert not bad


def test_nothing_is_left_to_do_in_the_source() -> None:
    words = ("TO" + "DO", "FIX" + "ME", "X" * 3, "NotImplementedError")
    found = [f"{path}: {word}" for path in MODULES for word in words if word in path.read_text()]
    assert not found, "what is not built is refused by name, with errors.Unsupported"
