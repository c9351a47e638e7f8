"""Every table service, in one ordered tuple."""

from __future__ import annotations

from pyhudi.errors import InvalidRequest, Unsupported
from pyhudi.services import TableService, compaction

SERVICES: tuple[TableService, ...] = (compaction.SERVICE,)

PLANNED = (
    "log_compaction",
    "clustering",
    "clean",
    "archive",
    "ttl",
    "rollback",
    "restore",
    "savepoint",
    "snapshot_view",
    "indexing",
    "upgrade",
    "downgrade",
    "catalog_sync",
)
"""Services that are named by the interface and refused until they are built."""


def service_named(name: str) -> TableService:
    """The service of that name."""
    for service in SERVICES:
        if service.name == name:
            return service
    known = ", ".join(service.name for service in SERVICES)
    if name in PLANNED:
        raise Unsupported(f"table service {name} is not built yet; available: {known}")
    raise InvalidRequest(f"there is no table service {name!r}; available: {known}")
