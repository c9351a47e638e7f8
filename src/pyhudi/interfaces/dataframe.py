"""The Python interface: `pyhudi.table(path)` and what it can do."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pyhudi.client.create import TableDefinition, create
from pyhudi.client.table_client import TableClient
from pyhudi.client.validation import Finding
from pyhudi.clock import system_machine
from pyhudi.errors import InvalidRequest, Unsupported
from pyhudi.file_group.spec import TableSpec
from pyhudi.format.instant import Instant
from pyhudi.format.predicate import parse
from pyhudi.format.table_properties import TableProperties, TableType
from pyhudi.format.version import CURRENT
from pyhudi.interfaces.engines import arrow_schema_of, engine_of, is_spark_frame
from pyhudi.reads import Query, QueryType, projected, resolve_instant
from pyhudi.services import Plan, ServiceResult
from pyhudi.storage.local import open_storage
from pyhudi.table.table import Table
from pyhudi.writes import WriteResult


def table(path: str, options: Mapping[str, object] | None = None) -> HudiTable:
    """Open the table at a path or `file:` URI; `TableNotFound` if there is none. Needs no Spark."""
    client = TableClient(open_storage(path), system_machine(), options or {})
    client.table()
    return HudiTable(client)


def create_table(  # noqa: PLR0913 - the call is pinned by the interface
    path: str,
    schema: Any,
    *,
    name: str,
    table_type: str = "COPY_ON_WRITE",
    record_key: Sequence[str],
    partition_by: Sequence[str] = (),
    ordering: Sequence[str] = (),
    table_version: int = CURRENT.code,
    options: Mapping[str, object] | None = None,
) -> HudiTable:
    """Create a table; `schema` is an Arrow schema, a Spark StructType or a DDL string."""
    if table_type not in frozenset(TableType):
        raise InvalidRequest(f"table_type={table_type!r}; choose {' or '.join(TableType)}")
    definition = TableDefinition(
        name=name,
        schema=arrow_schema_of(schema),
        table_type=TableType(table_type),
        record_key=_names("record_key", record_key),
        partition_by=_names("partition_by", partition_by),
        ordering=_names("ordering", ordering),
        table_version=table_version,
        options={key: str(value) for key, value in (options or {}).items()},
    )
    create(open_storage(path), system_machine(), definition)
    return table(path, options)


class HudiTable:
    """A table, as users work with it. Every call sees the table as it stands at that moment."""

    def __init__(self, client: TableClient) -> None:
        self._client = client

    def read(  # noqa: PLR0913 - the call is pinned by the interface
        self,
        spark: Any,
        *,
        query: str = "snapshot",
        as_of: str | datetime.datetime | None = None,
        since: str | None = None,
        until: str | None = None,
        columns: Sequence[str] | None = None,
        where: str | None = None,
    ) -> Any:
        """Rows as a Spark DataFrame."""
        current, asked = self._query(query, as_of, since or until, columns, where)
        return self._client.read(engine_of(spark), asked, current)

    def to_arrow(
        self,
        *,
        query: str = "snapshot",
        as_of: str | datetime.datetime | None = None,
        since: str | None = None,
        until: str | None = None,
        columns: Sequence[str] | None = None,
        where: str | None = None,
    ) -> pa.Table:
        """Rows as a pyarrow.Table, read in this process."""
        current, asked = self._query(query, as_of, since or until, columns, where)
        result: pa.Table = self._client.read(engine_of("local"), asked, current)
        return result

    def insert(self, rows: Any, **options: object) -> WriteResult:
        """Add rows without looking for existing keys."""
        return self._write("insert", rows, options)

    def upsert(self, rows: Any, **options: object) -> WriteResult:
        """Update rows whose key is there, insert the others."""
        return self._write("upsert", rows, options)

    def delete(self, rows: Any = None, *, where: str | None = None, **options: object) -> WriteResult:
        """Delete the rows with these keys: `rows` holds key and partition columns."""
        if where is not None:
            raise Unsupported(
                "delete(where=…) is not built yet; pass the rows to delete, with key and partition columns"
            )
        return self._write("delete", rows, options)

    def plan(self, service: str, **options: object) -> Plan:
        """What a table service would do now. It prints as a table and writes nothing."""
        return self._client.plan(service, options)

    def apply(self, plan: Plan, *, engine: Any = "local", **options: object) -> ServiceResult:
        """Carry out a plan; `PlanOutdated` if a file it rests on has changed."""
        return self._client.apply(plan, engine_of(engine), options)

    def run(self, service: str, *, engine: Any = "local", **options: object) -> ServiceResult:
        """Plan and apply."""
        return self.apply(self.plan(service, **options), engine=engine, **options)

    def timeline(self, *, history: bool = False) -> list[Instant]:
        """Instants, newest last."""
        if history:
            raise Unsupported("timeline(history=True) is not built yet; the active timeline is timeline()")
        return list(self._client.table().timeline.instants)

    def partitions(self) -> list[str]:
        """Paths of the partitions."""
        return self._client.table().partitions()

    def validate(self, *, deep: bool = False) -> list[Finding]:
        """What is unsound about the table; empty when nothing is. `deep` opens every file."""
        return self._client.validate(deep=deep)

    @property
    def config(self) -> TableProperties:
        """The table's properties."""
        return self._client.table().properties

    @property
    def version(self) -> int:
        """Table version."""
        return self.config.version.code

    @property
    def table_type(self) -> str:
        """COPY_ON_WRITE or MERGE_ON_READ."""
        return str(self.config.table_type)

    @property
    def schema(self) -> pa.Schema:
        """The user's columns."""
        return TableSpec.of(self._client.table()).user_schema

    def close(self) -> None:
        """Nothing runs in the background yet; here so that scripts can end with it."""

    def _write(self, operation: str, rows: Any, options: Mapping[str, object]) -> WriteResult:
        engine = engine_of(rows.sparkSession) if is_spark_frame(rows) else engine_of("local")
        return self._client.write(operation, rows, engine, options)

    def _query(
        self,
        query: str,
        as_of: str | datetime.datetime | None,
        incremental: str | None,
        columns: Sequence[str] | None,
        where: str | None,
    ) -> tuple[Table, Query]:
        if incremental is not None or query == "incremental":
            raise Unsupported(
                "incremental reads (since, until) are not built yet; read with as_of, or the latest snapshot"
            )
        if query not in frozenset(QueryType):
            raise InvalidRequest(f"query={query!r}; choose {' or '.join(QueryType)}")
        current = self._client.table()
        return current, Query(
            kind=QueryType(query),
            as_of=None if as_of is None else resolve_instant(current, as_of),
            columns=projected(columns),
            predicate=None if where is None else parse(where),
        )


def _names(role: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InvalidRequest(f"{role}={names!r} is a string; pass a list of column names: [{names!r}]")
    return tuple(names)
