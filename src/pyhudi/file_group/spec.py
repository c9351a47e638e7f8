"""What a worker must know of a table to read and write its file groups; small, and it pickles."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pyhudi.errors import Unsupported
from pyhudi.format.bloom import BloomParameters
from pyhudi.format.instant import RequestedTime
from pyhudi.format.schema import META_COLUMNS
from pyhudi.merge.arrow_schema import arrow_of
from pyhudi.merge.modes import MergeRule
from pyhudi.storage import Storage
from pyhudi.table.table import Table

META_ARROW = tuple(pa.field(name, pa.string()) for name in META_COLUMNS)


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """The table as its files see it. `schema_text` is the Avro record of the user's columns."""

    storage: Storage
    schema_text: str
    rule: MergeRule

    @classmethod
    def of(cls, table: Table, as_of: RequestedTime | None = None) -> TableSpec:
        """The spec of a table; with the columns that it had at an instant, if one is given."""
        properties = table.properties
        schema = table.schema if as_of is None else table.schema_at(as_of)
        return cls(
            storage=table.storage,
            schema_text=json.dumps(schema, separators=(",", ":")),
            rule=MergeRule(
                mode=properties.merge_mode,
                ordering_fields=properties.ordering_fields,
                delete_field=properties.delete_field,
                delete_marker=properties.delete_marker,
            ),
        )

    @functools.cached_property
    def user_schema(self) -> pa.Schema:
        """The user's columns."""
        return arrow_of(json.loads(self.schema_text))

    @functools.cached_property
    def file_schema(self) -> pa.Schema:
        """Meta columns, then the user's."""
        return pa.schema([*META_ARROW, *self.user_schema])

    @functools.cached_property
    def file_avro(self) -> dict[str, Any]:
        """The Avro record of a stored row."""
        record: dict[str, Any] = json.loads(self.schema_text)
        meta = [{"name": name, "type": ["null", "string"], "doc": "", "default": None} for name in META_COLUMNS]
        return {**record, "fields": meta + record["fields"]}

    @functools.cached_property
    def file_avro_text(self) -> str:
        """The same as JSON, for footers and block headers."""
        return json.dumps(self.file_avro, separators=(",", ":"))


CODECS = ("zstd", "snappy", "gzip", "lz4", "uncompressed")

_PARQUET_CODECS = {"uncompressed": "none", "lz4": "lz4_raw"}


@dataclass(frozen=True, kw_only=True)
class FileLayout:
    """How files are written."""

    codec: str = "zstd"
    row_group_rows: int = 1 << 20
    bloom: BloomParameters | None = BloomParameters()

    @property
    def parquet_codec(self) -> str:
        """The codec as the Parquet writer calls it."""
        if self.codec not in CODECS:
            raise Unsupported(f"Parquet codec {self.codec!r}; choose one of {', '.join(CODECS)}")
        return _PARQUET_CODECS.get(self.codec, self.codec)


@dataclass(frozen=True, kw_only=True)
class WriteSpec:
    """One write, as a worker sees it."""

    table: TableSpec
    instant: RequestedTime
    indexed_columns: tuple[str, ...]
    layout: FileLayout = FileLayout()
    salt: int = 0
    """makes the write tokens of this write differ from those of any other try at the same instant"""
