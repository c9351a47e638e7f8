"""`.hoodie/.index_defs/index.json`: which columns the metadata table's indexes cover."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyhudi.errors import CorruptTable

INDEX_DEFINITIONS_PATH = ".hoodie/.index_defs/index.json"


def print_column_stats_definition(columns: tuple[str, ...], version: str) -> bytes:
    """Definitions of a table whose only index of this kind is column_stats."""
    definition = {
        "indexName": "column_stats",
        "indexType": "column_stats",
        "indexFunction": "column_stats",
        "sourceFields": list(columns),
        "indexOptions": {},
        "version": version,
    }
    return json.dumps({"indexDefinitions": {"column_stats": definition}}, indent=2).encode()


def parse_column_stats_columns(content: bytes, where: str) -> tuple[str, ...] | None:
    """The columns that column_stats covers; None when it is not defined."""
    try:
        definitions: Mapping[str, Any] = json.loads(content).get("indexDefinitions") or {}
    except (ValueError, AttributeError) as problem:
        raise CorruptTable(f"{where} is no index definition file ({problem})") from problem
    entry = definitions.get("column_stats")
    return tuple(entry.get("sourceFields") or ()) if entry else None
