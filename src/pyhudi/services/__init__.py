"""Table services: each is a plan that can be looked at, and an execution of exactly that plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyhudi.engine.base import Engine
from pyhudi.file_group.spec import TableSpec
from pyhudi.format.instant import Instant
from pyhudi.table.table import Table
from pyhudi.transaction.writer import Writer


class Plan(Protocol):
    """What a service would do now. It prints as a table; `reason` says why there is nothing to do."""

    @property
    def service(self) -> str:
        """Name of the service that made it."""
        ...

    @property
    def reason(self) -> str | None:
        """Why nothing is to be done; None when there is something."""
        ...

    def rows(self) -> list[dict[str, Any]]:
        """One line per step."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """All of it, for machines."""
        ...

    def __str__(self) -> str:
        """The table that people read; see `plan_text`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceResult:
    """What a service did; `instant` is None when there was nothing to do, and `reason` says why."""

    service: str
    instant: Instant | None
    reason: str | None
    counts: Mapping[str, int]
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TableService:
    """A service as the doors see it: its name, its options record, its plan and its execution.

    `plan(table, options)` only reads: it is handed nothing that writes.
    """

    name: str
    options: type[Any]
    plan: Callable[[Table, Any], Plan]
    execute: Callable[[Any, Table, TableSpec, Engine, Writer], ServiceResult]


def plan_text(plan: Plan, title: str) -> str:
    """How every plan prints: its title, then a table of its steps or the reason why there are none."""
    rows = plan.rows()
    return f"{title}\n{text_table(rows)}" if rows else f"{title}: nothing to do, {plan.reason}"


def text_table(rows: Sequence[Mapping[str, object]], columns: Sequence[str] = (), *, null: str = "") -> str:
    """Rows under their column names, numbers to the right; what could steer a terminal is escaped."""
    names = tuple(columns) or tuple(rows[0] if rows else ())
    cells = [[null if row.get(name) is None else str(row[name]) for name in names] for row in rows]
    lines = [[printable(cell) for cell in line] for line in (names, *cells)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(names))]
    numeric = [bool(rows) and all(_is_number(row.get(name)) for row in rows) for name in names]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )


def printable(text: str) -> str:
    """The text with what could steer a terminal escaped."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
