"""Table services: each is a plan that can be looked at, and an execution of exactly that plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
