"""Avro containers of the timeline: one record per file, written with Hudi's record schemas, read with the writer's."""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import io
import json
from collections.abc import Mapping
from typing import Any

import fastavro

from pyhudi.errors import CorruptTable

_PACKAGE = "pyhudi.format.metadata"


@functools.cache
def _schemas() -> Mapping[str, Any]:
    text = importlib.resources.files(_PACKAGE).joinpath("schemas.json").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = json.loads(text)
    return loaded


def schema_of(record: str) -> Any:
    """Hudi's Avro schema of one of its records, as JSON values."""
    return _schemas()[record]


@functools.cache
def _parsed(record: str) -> Any:
    return fastavro.parse_schema(schema_of(record))


def write_container(record: str, value: Mapping[str, Any]) -> bytes:
    """The record as an Avro container file; equal values give equal bytes."""
    marker = hashlib.md5(repr(sorted(value.items(), key=lambda item: item[0])).encode(), usedforsecurity=False).digest()
    out = io.BytesIO()
    fastavro.writer(out, _parsed(record), [value], sync_marker=marker)
    return out.getvalue()


def read_container(content: bytes, where: str) -> dict[str, Any]:
    """The one record of an Avro container file, by the schema it carries; `{}` for an empty file."""
    if not content:
        return {}
    try:
        records = list(fastavro.reader(io.BytesIO(content)))
    except (ValueError, EOFError, IndexError, KeyError, TypeError, fastavro.schema.SchemaParseException) as problem:
        raise CorruptTable(
            f"{where} is no readable Avro file ({problem}); restore it or roll the instant back"
        ) from problem
    if len(records) != 1 or not isinstance(records[0], dict):
        raise CorruptTable(f"{where} holds {len(records)} records instead of one")
    return records[0]
