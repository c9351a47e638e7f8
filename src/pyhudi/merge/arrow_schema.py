"""Schemas and columns between Arrow and Avro, flat types only.

Hudi keeps a table's schema as Avro JSON in the look that Spark gives it; rows travel in Arrow. Names and types that
both sides can hold without loss pass, everything else is refused with the column's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pyhudi.errors import SchemaMismatch, Unsupported
from pyhudi.format.schema import META_COLUMNS

META_FIELDS: tuple[pa.Field, ...] = tuple(pa.field(name, pa.string()) for name in META_COLUMNS)
"""The five columns that lead every row of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroField:
    """One column as it lies in an Avro datum."""

    name: str
    physical: str
    """boolean, int, long, float, double, string, bytes or fixed"""
    arrow: pa.DataType
    null_branch: int | None = None
    """which branch of the union is null; None where the column is not nullable"""
    size: int = 0
    """bytes of a fixed"""


def avro_of(schema: pa.Schema, name: str, namespace: str) -> dict[str, Any]:
    """The record schema that Hudi on Spark stores for these columns.

    Accepted and stored in a wider type: int8, int16, uint8, uint16 (int), uint32 (long), float16 (float),
    timestamp[s] (micros), time32 (time-micros), date64 (date), large and view strings and binaries, dictionaries
    (their values), decimal32/64/256 up to 38 digits.
    """
    fields = [_avro_field(field, f"{namespace}.{name}.{field.name}") for field in schema]
    return {"type": "record", "name": name, "namespace": namespace, "fields": fields}


def arrow_of(avro: dict[str, Any]) -> pa.Schema:
    """The Arrow columns of an Avro record schema."""
    return pa.schema(
        [pa.field(field.name, field.arrow, nullable=field.null_branch is not None) for field in avro_fields(avro)]
    )


def avro_fields(avro: dict[str, Any]) -> tuple[AvroField, ...]:
    """The columns of an Avro record schema in their order."""
    if avro.get("type") != "record":
        raise Unsupported(f"the Avro schema {avro.get('name', avro.get('type'))!r} is not a record")
    return tuple(_field_of(field["name"], field["type"]) for field in avro["fields"])


def stored_type(field: pa.Field) -> pa.DataType:
    """The type in which the column comes back from a table; lossless for every value, else Unsupported."""
    source = field.type
    if pa.types.is_dictionary(source):
        source = source.value_type
    stored = _STORED.get(source.id)
    if stored is not None:
        return stored
    if pa.types.is_decimal(source) and source.precision <= 38 and 0 <= source.scale <= source.precision:
        return pa.decimal128(source.precision, source.scale)
    if pa.types.is_timestamp(source) and source.unit != "ns":
        return pa.timestamp("ms" if source.unit == "ms" else "us", tz="UTC" if source.tz else None)
    if pa.types.is_time(source) and source.unit != "ns":
        return pa.time64("us")
    raise Unsupported(f"column {field.name!r} has the type {field.type}, which pyhudi does not store; cast it first")


def conform(rows: pa.Table | pa.RecordBatch, schema: pa.Schema) -> pa.Table:
    """The rows with exactly these columns: missing ones null, narrower types widened, others left out.

    Raises SchemaMismatch where that would lose something.
    """
    present = set(rows.schema.names)
    columns = [
        _widened(rows.column(field.name), rows.schema.field(field.name), field)
        if field.name in present
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    for field, column in zip(schema, columns, strict=True):
        if not field.nullable and column.null_count:
            raise SchemaMismatch(f"column {field.name!r} may not be null, but {column.null_count} rows hold no value")
    return pa.table(columns, schema=schema)


_STORED: dict[int, pa.DataType] = {
    kind.id: stored
    for stored, kinds in {
        pa.bool_(): (pa.bool_(),),
        pa.int32(): (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16()),
        pa.int64(): (pa.int64(), pa.uint32()),
        pa.float32(): (pa.float16(), pa.float32()),
        pa.float64(): (pa.float64(),),
        pa.string(): (pa.string(), pa.large_string(), pa.string_view()),
        pa.binary(): (pa.binary(), pa.large_binary(), pa.binary_view()),
        pa.date32(): (pa.date32(), pa.date64()),
    }.items()
    for kind in kinds
}

_AVRO: dict[pa.DataType, Any] = {
    pa.bool_(): "boolean",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    pa.date32(): {"type": "int", "logicalType": "date"},
    pa.timestamp("ms", "UTC"): {"type": "long", "logicalType": "timestamp-millis"},
    pa.timestamp("us", "UTC"): {"type": "long", "logicalType": "timestamp-micros"},
    pa.timestamp("ms"): {"type": "long", "logicalType": "local-timestamp-millis"},
    pa.timestamp("us"): {"type": "long", "logicalType": "local-timestamp-micros"},
    pa.time64("us"): {"type": "long", "logicalType": "time-micros"},
}

_ARROW: dict[tuple[str, str | None], pa.DataType] = {
    (avro, None) if isinstance(avro, str) else (avro["type"], avro["logicalType"]): arrow
    for arrow, avro in _AVRO.items()
}

_AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_WIDER: dict[pa.DataType, tuple[pa.DataType, ...]] = {
    pa.int32(): (pa.int64(), pa.float32(), pa.float64(), pa.string()),
    pa.int64(): (pa.float32(), pa.float64(), pa.string()),
    pa.float32(): (pa.float64(),),
    pa.date32(): (pa.string(),),
    pa.string(): (pa.binary(),),
    pa.binary(): (pa.string(),),
    pa.timestamp("ms", "UTC"): (pa.timestamp("us", "UTC"),),
    pa.timestamp("ms"): (pa.timestamp("us"),),
}


def _avro_field(field: pa.Field, full_name: str) -> dict[str, Any]:
    if not _AVRO_NAME.fullmatch(field.name):
        raise Unsupported(f"column name {field.name!r} is no Avro name (letters, digits, _); rename the column")
    arrow = stored_type(field)
    avro = _AVRO[arrow] if arrow in _AVRO else _avro_decimal(arrow, full_name)
    doc = {"doc": ""} if field.name in META_COLUMNS else {}
    if not field.nullable:
        return {"name": field.name, "type": avro, **doc}
    return {"name": field.name, "type": ["null", avro], **doc, "default": None}


def _avro_decimal(arrow: pa.DataType, namespace: str) -> dict[str, Any]:
    return {
        "type": "fixed",
        "name": "fixed",
        "namespace": namespace,
        "size": _decimal_bytes(arrow.precision),
        "logicalType": "decimal",
        "precision": arrow.precision,
        "scale": arrow.scale,
    }


def _decimal_bytes(precision: int) -> int:
    """Bytes that hold every signed number of so many digits."""
    limit: int = 10**precision
    return limit.bit_length() // 8 + 1


def _field_of(name: str, avro: Any) -> AvroField:
    if not isinstance(avro, list):
        return _leaf_of(name, avro, null_branch=None)
    if len(avro) != 2 or "null" not in avro:
        raise Unsupported(f"column {name!r} is the Avro union {avro}; only a nullable type is read")
    null_branch = avro.index("null")
    return _leaf_of(name, avro[1 - null_branch], null_branch=null_branch)


def _leaf_of(name: str, avro: Any, *, null_branch: int | None) -> AvroField:
    described = avro if isinstance(avro, dict) else {"type": avro}
    physical, logical = described.get("type"), described.get("logicalType")
    if logical == "decimal" and physical in ("fixed", "bytes"):
        return _decimal_of(name, described, null_branch=null_branch)
    arrow = _ARROW.get((physical, logical)) if isinstance(physical, str) else None
    if arrow is None or not isinstance(physical, str):
        raise Unsupported(f"column {name!r} has the Avro type {avro}, which pyhudi does not read yet")
    return AvroField(name=name, physical=physical, arrow=arrow, null_branch=null_branch)


def _decimal_of(name: str, avro: dict[str, Any], *, null_branch: int | None) -> AvroField:
    precision, scale, size = avro["precision"], avro.get("scale", 0), avro.get("size", 16)
    if not 1 <= precision <= 38 or not 0 <= scale <= precision or not _decimal_bytes(precision) <= size <= 16:
        raise Unsupported(f"column {name!r} is the decimal {avro}; only 1 to 38 digits in at most 16 bytes are read")
    arrow = pa.decimal128(precision, scale)
    return AvroField(name=name, physical=avro["type"], arrow=arrow, null_branch=null_branch, size=size)


def _widened(column: pa.Array | pa.ChunkedArray, source: pa.Field, target: pa.Field) -> pa.Array | pa.ChunkedArray:
    if source.type == target.type:
        return column
    stored = stored_type(source)
    if stored != target.type and target.type not in _WIDER.get(stored, ()) and not _fits(stored, target.type):
        raise SchemaMismatch(
            f"column {target.name!r} is {target.type} in the table and {source.type} in the rows; cast the rows"
        )
    try:
        column = column.cast(stored)
        if pa.types.is_float32(stored) and pa.types.is_float64(target.type):
            # as Hudi does: 1.1 stays 1.1 and does not become 1.10000002384
            column = column.cast(pa.string())
        return column.cast(target.type, safe=not pa.types.is_floating(target.type))
    except pa.ArrowInvalid as problem:
        raise SchemaMismatch(
            f"column {target.name!r} holds {source.type} values that are no {target.type}: {problem}"
        ) from problem


def _fits(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether every decimal of the one type is one of the other."""
    if not (pa.types.is_decimal(source) and pa.types.is_decimal128(target)):
        return False
    return bool(target.scale >= source.scale and target.precision - target.scale >= source.precision - source.scale)
