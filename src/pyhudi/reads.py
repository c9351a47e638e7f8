"""Queries: snapshot, read-optimized and time travel, each a choice of slices."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from pyhudi.engine.base import Engine, Reading
from pyhudi.errors import InstantNotFound, InvalidRequest
from pyhudi.file_group.reader import Projection
from pyhudi.file_group.spec import TableSpec
from pyhudi.format.instant import RequestedTime, parse_time, print_time
from pyhudi.format.predicate import Predicate
from pyhudi.format.predicate import columns as predicate_columns
from pyhudi.table.scan import Scan, plan_scan
from pyhudi.table.slices import FileSlice
from pyhudi.table.table import Table


class QueryType(StrEnum):
    """What of a table is read."""

    SNAPSHOT = "snapshot"
    READ_OPTIMIZED = "read_optimized"


@dataclass(frozen=True, kw_only=True)
class Query:
    """One query. No `columns` means all, meta columns first."""

    kind: QueryType = QueryType.SNAPSHOT
    as_of: RequestedTime | None = None
    columns: tuple[str, ...] | None = None
    predicate: Predicate | None = None


def read(table: Table, spec: TableSpec, engine: Engine, query: Query) -> Any:
    """The rows, in the form the engine gives them."""
    projection = Projection(columns=query.columns or tuple(spec.file_schema.names), predicate=query.predicate)
    check_columns(spec, projection)
    found = scan(table, query)
    fields = json.loads(spec.schema_text)["fields"]

    def narrow(predicate: Predicate) -> Sequence[FileSlice]:
        return scan(table, replace(query, predicate=predicate)).slices

    def is_plain(part: FileSlice) -> bool:
        return part.base is not None and not part.logs and table.fields_written_at(part.base.name.instant) == fields

    return engine.frame(
        Reading(table=spec, projection=projection, slices=found.slices, is_plain=is_plain, narrow=narrow)
    )


def scan(table: Table, query: Query) -> Scan:
    """Which slices the query needs."""
    return plan_scan(table, query.predicate, as_of=query.as_of, read_optimized=query.kind is QueryType.READ_OPTIMIZED)


def check_columns(spec: TableSpec, projection: Projection) -> None:
    """Refuse columns that the table does not have."""
    asked = set(projection.columns)
    if projection.predicate is not None:
        asked |= predicate_columns(projection.predicate)
    unknown = sorted(asked - set(spec.file_schema.names))
    if unknown:
        have = ", ".join(spec.file_schema.names)
        raise InvalidRequest(f"the table has no column {', '.join(unknown)}; it has {have}")


def resolve_instant(table: Table, moment: str | datetime.datetime) -> RequestedTime:
    """The time to read the table at: an instant, an ISO time or a datetime (in the timeline's zone, or its own)."""
    text = _instant_text(table, moment)
    retained = table.time_travel_start
    if retained is not None and text < retained:
        raise InstantNotFound(
            f"as_of={moment}: files of that time may have been cleaned; the earliest moment to read is {retained}"
        )
    first = table.timeline.start
    if first is not None and text < first and not table.timeline.history():
        raise InstantNotFound(f"as_of={moment}: the table's first instant is {first}; choose that or a later one")
    return RequestedTime(text)


def _instant_text(table: Table, moment: str | datetime.datetime) -> str:
    if isinstance(moment, str):
        if moment.isdigit() and len(moment) in (14, 17):
            parse_time(moment)
            return moment
        try:
            moment = datetime.datetime.fromisoformat(moment)
        except ValueError as problem:
            raise InvalidRequest(
                f"as_of={moment!r} is no instant (yyyyMMddHHmmssSSS), ISO time or datetime: {problem}"
            ) from problem
    if moment.tzinfo is not None:
        zone = datetime.UTC if table.properties.timeline_in_utc else None
        moment = moment.astimezone(zone).replace(tzinfo=None)
    return print_time(int((moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(milliseconds=1)))


def projected(columns: Sequence[str] | None) -> tuple[str, ...] | None:
    """Columns as a query holds them."""
    return None if columns is None else tuple(columns)
