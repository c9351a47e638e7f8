"""Around a write or a service: before it, failed writes are undone; after it, the metadata table is looked after."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyhudi.client.metadata_table import MetadataTableOptions, compact_if_due
from pyhudi.client.recovery import recover, undo_unfinished
from pyhudi.client.registry import service_named
from pyhudi.client.validation import Finding, validate
from pyhudi.clock import Machine
from pyhudi.configs import read_options
from pyhudi.engine.base import Engine
from pyhudi.errors import HudiError, InvalidRequest, Unsupported
from pyhudi.file_group.spec import TableSpec
from pyhudi.format.instant import Action
from pyhudi.format.schema import META_COLUMNS
from pyhudi.reads import Query, read
from pyhudi.services import Plan, ServiceResult
from pyhudi.storage import Storage
from pyhudi.table.table import Table
from pyhudi.transaction.writer import Writer
from pyhudi.writes import OPERATIONS, WriteOptions, WriteResult, write_rows
from pyhudi.writes.write import WriteRequest

_LOG = logging.getLogger(__name__)


class TableClient:
    """One table, as one process works with it. Every call reads the table anew."""

    def __init__(self, storage: Storage, machine: Machine, settings: Mapping[str, object]) -> None:
        self.storage = storage
        self.machine = machine
        self.settings = dict(settings)

    def table(self) -> Table:
        """The table as it stands now."""
        return Table.load(self.storage)

    def read(self, engine: Engine, query: Query, table: Table | None = None) -> Any:
        """Rows of a query, in the engine's form."""
        current = table or self.table()
        return read(current, TableSpec.of(current, query.as_of), engine, query)

    def write(self, operation: str, source: Any, engine: Engine, options: Mapping[str, object]) -> WriteResult:
        """Carry out a write: undo what failed before, write and commit, keep the metadata table small."""
        if operation not in OPERATIONS:
            known = ", ".join(OPERATIONS)
            raise InvalidRequest(f"there is no write operation {operation!r}; there are {known}")
        table, writer = self._ready_to_write(options)
        request = WriteRequest(
            operation=OPERATIONS[operation],
            source=source,
            spec=TableSpec.of(table),
            options=read_options(WriteOptions, table.properties.raw, self.settings, options),
            extra=commit_extra(options),
        )
        with undone_if_it_fails(table, writer):
            result = write_rows(table, writer, engine, request)
        self._after(writer, engine, options)
        return result

    def plan(self, service: str, options: Mapping[str, object]) -> Plan:
        """What a service would do now; writes nothing."""
        chosen = service_named(service)
        table = self.table()
        return chosen.plan(table, read_options(chosen.options, table.properties.raw, self.settings, options))

    def apply(self, plan: Plan, engine: Engine, options: Mapping[str, object]) -> ServiceResult:
        """Carry out a plan, or refuse when what it rests on has changed."""
        chosen = service_named(plan.service)
        table, writer = self._ready_to_write(options)
        spec = TableSpec.of(table)
        with undone_if_it_fails(table, writer):
            result: ServiceResult = chosen.execute(plan, table, spec, engine, writer)
        self._after(writer, engine, options)
        return result

    def validate(self, *, deep: bool = False) -> list[Finding]:
        """What is unsound about the table; with `deep`, every file is opened."""
        return validate(self.storage, TableSpec.of, now_ms=self.machine.clock.now_ms(), deep=deep)

    def _ready_to_write(self, options: Mapping[str, object]) -> tuple[Table, Writer]:
        table = self.table()
        refused = table.properties.refuse_to_write()
        if refused is not None:
            raise Unsupported(
                f"table at {self.storage.uri} cannot be written by pyhudi yet: {refused}. Nothing was changed"
            )
        refuse_pending_services(table)
        writer = Writer(self.storage, self.machine, {**table.properties.raw, **self.settings, **options})
        current, _ = recover(table, writer)
        return current, writer

    def _after(self, writer: Writer, engine: Engine, options: Mapping[str, object]) -> None:
        """What failed here did not fail the commit before it; the next write tries again."""
        try:
            table = self.table()
            kept = read_options(MetadataTableOptions, table.properties.raw, self.settings, options)
            compact_if_due(table, writer, engine, kept)
        except HudiError as problem:
            _LOG.warning(
                "the commit stands, but the metadata table of %s was not compacted: %s", self.storage.uri, problem
            )


def refuse_pending_services(table: Table) -> None:
    """Writes beside these would have to heed their plans, which pyhudi does not yet."""
    for instant in table.timeline.pending(Action.CLUSTERING, Action.LOG_COMPACTION, Action.INDEXING, Action.RESTORE):
        raise Unsupported(
            f"{instant} is pending on the table at {table.storage.uri}: pyhudi does not write beside it yet. Finish it "
            "or roll it back with Hudi first. Nothing was changed"
        )


@contextmanager
def undone_if_it_fails(table: Table, writer: Writer) -> Iterator[None]:
    """Whatever ends the block early: the instant it began is undone before the error goes on, or by a later write."""
    try:
        yield
    finally:
        unfinished = writer.unfinished
        if unfinished is not None:
            try:
                undo_unfinished(table, writer)
            except HudiError as problem:
                _LOG.warning("%s failed and is left for a later write to undo: %s", unfinished, problem)


def commit_extra(options: Mapping[str, object]) -> dict[str, str]:
    """What a caller wants kept in the commit: options whose key begins with `_`, as Hudi's default prefix has it."""
    return {key: str(value) for key, value in options.items() if key.startswith("_") and key not in META_COLUMNS}
