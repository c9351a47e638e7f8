"""One simulated machine with one table on it: processes that run the house's own client, and may die on cue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pyhudi.client.create import TableDefinition, create
from pyhudi.client.table_client import TableClient
from pyhudi.clock import Clock, Machine
from pyhudi.engine.local import LocalEngine
from pyhudi.format.schema import META_COLUMNS
from pyhudi.reads import Query
from pyhudi.services import ServiceResult
from pyhudi.table.table import Table
from pyhudi.testing.machine import SimClock, SimIds
from pyhudi.testing.model import Row
from pyhudi.testing.storage import Fault, FaultPlan, FaultyStorage, MemoryStorage
from pyhudi.writes import WriteResult

SMALL: Mapping[str, object] = {
    "hoodie.metadata.compact.max.delta.commits": 3,
    "hoodie.index.bloom.num_entries": 10,
    "hoodie.bloom.index.filter.dynamic.max.entries": 20,
    "hoodie.parquet.compression.codec": "uncompressed",
}
"""Settings under which a handful of rows goes through everything that many rows would."""


@dataclass(frozen=True, kw_only=True)
class Process:
    """A process on the machine, with the table open."""

    definition: TableDefinition
    client: TableClient
    ids: SimIds
    plan: FaultPlan

    def create(self) -> None:
        """Create the table."""
        create(self.client.storage, self.client.machine, self.definition)

    def write(self, operation: str, rows: Iterable[Row]) -> WriteResult:
        """Insert, upsert or delete."""
        table = pa.Table.from_pylist(list(rows), schema=self.definition.schema)
        return self.client.write(operation, table, LocalEngine(), {})

    def compact(self) -> ServiceResult:
        """Plan a compaction and carry it out."""
        return self.client.apply(self.client.plan("compaction", {}), LocalEngine(), {})

    def read(self, query: Query | None = None, table: Table | None = None) -> list[dict[str, Any]]:
        """The rows of a query without meta columns, sorted by key; of this reading of the table, if one is given."""
        rows: pa.Table = self.client.read(LocalEngine(), query or Query(), table)
        plain = rows.drop_columns([name for name in META_COLUMNS if name in rows.column_names])
        keys = (*self.definition.record_key, *self.definition.partition_by)
        return sorted(plain.to_pylist(), key=lambda row: tuple(row[name] for name in keys))

    def die(self) -> None:
        """From now on every other process can tell that this one is dead."""
        self.plan.crashed = True
        self.ids.kill(self.ids.owner())


@dataclass(kw_only=True)
class World:
    """The machine's disk and clock. Every process gets ids of its own."""

    definition: TableDefinition
    settings: Mapping[str, object] = field(default_factory=lambda: dict(SMALL))
    clock: Clock = field(default_factory=SimClock)
    ids: SimIds = field(default_factory=SimIds)
    disk: MemoryStorage = field(init=False)

    def __post_init__(self) -> None:
        self.disk = MemoryStorage(self.clock)

    def process(self, *faults: Fault, clock: Clock | None = None) -> Process:
        """Start a process; its storage fails as told, its clock is the machine's unless it has one of its own."""
        plan, ids = FaultPlan(*faults), self.ids.other_process()
        machine = Machine(clock=clock or self.clock, ids=ids)
        client = TableClient(FaultyStorage(self.disk, plan), machine, self.settings)
        return Process(definition=self.definition, client=client, ids=ids, plan=plan)
