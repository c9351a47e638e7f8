"""Writes what the documentation can take from the code: docs/reference/*.md and the module map in ARCHITECTURE.md.

reference.py [--check]: with --check nothing is written, and pages that are out of date are named.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from pyhudi.configs import Setting, settings_of
from pyhudi.interfaces.cli.program import COMMANDS, NOT_BUILT

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "pyhudi"
MADE = "<!-- made by scripts/reference.py from the code; do not edit -->"
MAP = re.compile(r"(?s)(<!-- modules -->\n).*(<!-- end of modules -->)")

FLOORS = (
    ("errors", "clock", "configs"),
    ("format",),
    ("storage", "catalog"),
    ("table", "merge"),
    ("file_group",),
    ("engine",),
    ("transaction",),
    ("reads", "writes", "services"),
    ("client",),
    ("interfaces",),
    ("testing",),
)
"""From the ground up, as in pyproject.toml."""


CONFIGS_HEAD = """Set as table properties, as `options` of `create_table` and `table`, or on a single call; the later of
these wins. Keys that pyhudi does not know are left alone.
"""

COMMANDS_HEAD = """`pyhudi COMMAND TABLE [options]`, or `python -m pyhudi`. Every command takes `--json`: one JSON
document on stdout and nothing else; an error is a document with `error` and `message`. Exit codes: 0 done, 1 findings
or refused, 2 wrong usage. Long work shows progress on a terminal and none elsewhere.
"""


def main(*, check: bool) -> int:
    """Writes the pages, or names the stale ones; the exit code is the verdict."""
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if not check:
            path.write_text(pages()[path])
        print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}")
    return 1 if check and stale else 0


def pages() -> dict[Path, str]:
    """Every made page, with what it must say."""
    architecture = ROOT / "ARCHITECTURE.md"
    return {
        ROOT / "docs/reference/configs.md": configs_page(),
        ROOT / "docs/reference/commands.md": commands_page(),
        architecture: MAP.sub(lambda match: f"{match[1]}\n{module_map()}\n{match[2]}", architecture.read_text()),
    }


def configs_page() -> str:
    """All settings, by the record that declares them."""
    parts = [f"# Settings\n\n{MADE}\n", CONFIGS_HEAD]
    for kind in option_records():
        title = (kind.__doc__ or "").rstrip(".")
        rows = "\n".join(_config_row(kind, name, about) for name, about in settings_of(kind))
        head = f"## {title}\n\nDeclared in `{_home(kind)}`."
        parts.append(f"{head}\n\n| key | default | meaning |\n|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def _config_row(kind: type[Any], name: str, about: Setting) -> str:
    default = {field.name: field.default for field in dataclasses.fields(kind)}[name]
    text = str(default).lower() if isinstance(default, bool) else str(default)
    also = f" Also: {', '.join(f'`{alias}`' for alias in about.aliases)}." if about.aliases else ""
    return f"| `{about.key}` | `{text}` | {about.doc}{also} |"


def option_records() -> list[type[Any]]:
    """Every options record in the house, in the order of its floors."""
    found: dict[type[Any], None] = {}
    for module in modules():
        for value in vars(module).values():
            if isinstance(value, type) and dataclasses.is_dataclass(value) and settings_of(value):
                found[value] = None
    return sorted(found, key=lambda kind: (_floor_of(_home(kind)), _home(kind), kind.__name__))


def commands_page() -> str:
    """Every command with its arguments."""
    parts = [f"# Commands\n\n{MADE}\n", COMMANDS_HEAD]
    for command in COMMANDS:
        parser = argparse.ArgumentParser(add_help=False)
        command.add_arguments(parser)
        places = " ".join(str(each.metavar) for each in parser._actions if not each.option_strings)
        rows = "\n".join(_argument_row(action) for action in parser._actions)
        title = f"## pyhudi {command.name} {places}".rstrip()
        parts.append(f"{title}\n\n{command.help.capitalize()}.\n\n| argument | meaning |\n|---|---|\n{rows}\n")
    return (
        "\n".join(parts) + f"\n## Not built yet\n\nRefused by name: {', '.join(f'`{name}`' for name in NOT_BUILT)}.\n"
    )


def _argument_row(action: argparse.Action) -> str:
    value = f" {action.metavar}" if action.metavar else f" {'/'.join(action.choices)}" if action.choices else ""
    name = f"{action.option_strings[0]}{value}" if action.option_strings else str(action.metavar)
    return f"| `{name}` | {action.help} |"


def module_map() -> str:
    """One line for every module: its path and the first sentence of its docstring."""
    parts = _floor_lines("the package", ("__init__", "__main__"))
    for floor in reversed(FLOORS[:-1]):
        parts += _floor_lines(" · ".join(f"`{name}`" for name in floor if _modules_of(name)), floor)
    return "\n".join([*parts, *_floor_lines("`testing` (a leaf)", FLOORS[-1])])


def _floor_lines(title: str, floor: tuple[str, ...]) -> list[str]:
    rows = [f"| `{path.relative_to(SOURCE)}` | {summary(path)} |" for name in floor for path in _modules_of(name)]
    return [f"### {title}", "", "| module | what it is |", "|---|---|", *rows, ""]


def summary(path: Path) -> str:
    """The first sentence of a module's docstring."""
    text = " ".join((ast.get_docstring(ast.parse(path.read_text())) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.?!])\s(?=[A-Z`])", text)[0].rstrip(".")


def _modules_of(name: str) -> list[Path]:
    single = SOURCE / f"{name}.py"
    return [single] if single.exists() else sorted((SOURCE / name).rglob("*.py"))


def modules() -> Iterator[ModuleType]:
    """All modules of the house, imported; programs are left out."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name != "__main__.py":
            parts = path.relative_to(SOURCE.parent).with_suffix("").parts
            yield importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def _home(kind: type[Any]) -> str:
    return kind.__module__.removeprefix("pyhudi.").replace(".", "/") + ".py"


def _floor_of(home: str) -> int:
    name = home.split("/")[0].removesuffix(".py")
    return next(number for number, floor in enumerate(reversed(FLOORS)) if name in floor)


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
