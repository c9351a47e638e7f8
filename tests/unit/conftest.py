"""A table in simulated storage, worked on by the production path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.client.create import TableDefinition, create
from pyhudi.client.table_client import TableClient
from pyhudi.clock import Machine
from pyhudi.engine.local import LocalEngine
from pyhudi.format.predicate import parse
from pyhudi.format.table_properties import TableType
from pyhudi.reads import Query, QueryType
from pyhudi.testing.machine import SimClock, SimIds
from pyhudi.testing.storage import MemoryStorage

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("v", pa.float64())])


@dataclass
class SimulatedTable:
    table_type: TableType = TableType.COPY_ON_WRITE
    partitioned: bool = True
    ordering: Sequence[str] = ("ts",)
    settings: dict[str, object] = field(default_factory=dict)
    clock: SimClock = field(default_factory=SimClock)
    ids: SimIds = field(default_factory=lambda: SimIds(7))

    def __post_init__(self) -> None:
        self.storage = MemoryStorage(self.clock)
        self.machine = Machine(clock=self.clock, ids=self.ids)
        definition = TableDefinition(
            name="trips",
            schema=SCHEMA,
            table_type=self.table_type,
            record_key=["id"],
            partition_by=["part"] if self.partitioned else [],
            ordering=self.ordering,
        )
        create(self.storage, self.machine, definition)
        self.client = TableClient(self.storage, self.machine, self.settings)

    def write(self, operation: str, rows: pa.Table, **options: object) -> Any:
        return self.client.write(operation, rows, LocalEngine(), options)

    def run(self, service: str) -> Any:
        return self.client.apply(self.client.plan(service, {}), LocalEngine(), {})

    def read(self, where: str | None = None, **query: Any) -> dict[str, tuple[Any, ...]]:
        asked = Query(columns=tuple(SCHEMA.names), predicate=parse(where) if where else None, **query)
        rows = self.client.read(LocalEngine(), asked)
        return {row["id"]: (row["part"], row["ts"], row["v"]) for row in rows.to_pylist()}

    def read_optimized(self) -> dict[str, tuple[Any, ...]]:
        return self.read(kind=QueryType.READ_OPTIMIZED)

    def times(self) -> list[str]:
        return [str(instant.requested_time) for instant in self.client.table().timeline.completed_writes()]


def trips(*rows: tuple[str, str, int, float]) -> pa.Table:
    return pa.table([list(column) for column in zip(*rows, strict=True)], schema=SCHEMA)


@pytest.fixture
def simulated() -> Callable[..., SimulatedTable]:
    return SimulatedTable


@pytest.fixture(params=list(TableType))
def table(request: pytest.FixtureRequest) -> SimulatedTable:
    return SimulatedTable(table_type=request.param)
