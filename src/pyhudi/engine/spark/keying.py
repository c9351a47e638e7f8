"""Keys and partition paths as Spark expressions: the same text, letter by letter, that `file_group.keying` makes.

What is wrong with rows is counted along the way, in the first job over them, and refused before a write begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody gives it

from pyhudi.engine.base import Incoming
from pyhudi.engine.spark.types import arrow_schema
from pyhudi.errors import HudiError, InvalidRequest, SchemaMismatch
from pyhudi.file_group.keying import check_columns, check_key_columns, check_paths, missing_key, unprintable
from pyhudi.format.keys import EMPTY_KEY_PART, NULL_KEY_PART, KeySpec, escape_partition_value, partition_part
from pyhudi.format.schema import META_COLUMNS, PARTITION_PATH, RECORD_KEY

_ROWS = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """What may be wrong with a row, and the error when it is so for some number of them."""

    present: Column
    error: Callable[[int], HudiError]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """Rows with key and partition path. `schema` is that of the user's columns among them, in the table's types."""

    frame: DataFrame
    schema: pa.Schema
    flaws: Sequence[Flaw]


def keyed_frame(frame: DataFrame, incoming: Incoming) -> Keyed:
    """The user's columns in the table's order with key and partition path; for deletes only these two. Runs no job."""
    plain = frame.drop(*META_COLUMNS)
    check_key_columns(plain.columns, incoming.keys)
    wanted = incoming.table.user_schema
    if incoming.deleting:
        wanted = pa.schema([field for field in wanted if field.name in incoming.keys.fields])
        plain = plain.select(*(_column(name) for name in incoming.keys.fields))
    check_columns(_in_units_of(wanted, arrow_schema(plain.schema)), wanted)
    key, path = record_key(wanted, incoming.keys), partition_path(wanted, incoming.keys)
    kept = [] if incoming.deleting else [_column(name) for name in wanted.names]
    keyed = plain.select(*kept, key.alias(RECORD_KEY), path.alias(PARTITION_PATH))
    flaws = [*_key_flaws(incoming.keys), *([] if incoming.deleting else _value_flaws(wanted))]
    return Keyed(frame=keyed, schema=wanted if kept else pa.schema([]), flaws=flaws)


def rows_per_partition(keyed: Keyed) -> Mapping[str, int]:
    """One job over the rows: how many there are for each partition path, once nothing is wrong with any."""
    flaws = [F.sum(flaw.present.cast("long")).alias(str(number)) for number, flaw in enumerate(keyed.flaws)]
    found = keyed.frame.groupBy(PARTITION_PATH).agg(F.count(F.lit(1)).alias(_ROWS), *flaws).collect()
    for number, flaw in enumerate(keyed.flaws):
        count = sum(row[str(number)] for row in found)
        if count:
            raise flaw.error(count)
    counts = {row[PARTITION_PATH]: row[_ROWS] for row in found}
    check_paths(sorted(counts))
    return counts


def record_key(schema: pa.Schema, keys: KeySpec) -> Column:
    """Keys as the table's key generator writes them; null or empty where a row has none."""
    if not keys.key_is_prefixed:
        return _text(schema.field(keys.key_fields[0]))
    parts = []
    for name in keys.key_fields:
        text = F.coalesce(_text(schema.field(name)), F.lit(NULL_KEY_PART))
        parts.append(F.concat(F.lit(f"{name}:"), F.when(text == "", EMPTY_KEY_PART).otherwise(text)))
    return F.concat_ws(",", *parts)


def partition_path(schema: pa.Schema, keys: KeySpec) -> Column:
    """Partition paths as the table's key generator writes them."""
    if not keys.partition_fields:
        return F.lit("")
    return F.concat_ws("/", *(_folder(schema.field(name), keys) for name in keys.partition_fields))


def _folder(field: pa.Field, keys: KeySpec) -> Column:
    text = _text(field)
    value = _escaped(text) if keys.url_encoded else text
    prefix = F.lit(f"{field.name}=" if keys.hive_style else "")
    absent = F.lit(partition_part(field.name, None, keys))
    return F.when(F.coalesce(text, F.lit("")) == "", absent).otherwise(F.concat(prefix, value))


def _text(field: pa.Field) -> Column:
    column, kind = _column(field.name), field.type
    if pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date(kind):
        return column.cast("string")
    if pa.types.is_timestamp(kind):
        moment = column if kind.tz else F.concat(column.cast("string"), F.lit("Z")).cast("timestamp")
        number = F.unix_millis(moment) if kind.unit == "ms" else F.unix_micros(moment)
        return number.cast("string")
    raise unprintable(field.name, kind)


_ESCAPES = {char: code for char in map(chr, range(1, 128)) if (code := escape_partition_value(char)) != char}


def _escaped(text: Column) -> Column:
    anything = "[" + "".join(f"\\x{ord(char):02X}" for char in _ESCAPES) + "]"
    order = sorted(_ESCAPES, key=lambda char: char != "%")
    escaped = reduce(lambda done, char: F.replace(done, F.lit(char), F.lit(_ESCAPES[char])), order, text)
    return F.when(text.rlike(anything), escaped).otherwise(text)


def _key_flaws(keys: KeySpec) -> list[Flaw]:
    if keys.key_is_prefixed:
        return []
    missing = F.coalesce(_column(RECORD_KEY), F.lit("")) == ""
    return [Flaw(present=missing, error=lambda _: missing_key(keys.key_fields[0]))]


def _value_flaws(schema: pa.Schema) -> list[Flaw]:
    flaws = [
        Flaw(present=_column(field.name).isNull(), error=partial(_unfilled, field.name))
        for field in schema
        if not field.nullable
    ]
    flaws += [
        Flaw(present=_below_milliseconds(field), error=partial(_too_fine, field.name))
        for field in schema
        if pa.types.is_timestamp(field.type) and field.type.unit == "ms"
    ]
    return flaws


def _unfilled(name: str, count: int) -> SchemaMismatch:
    return SchemaMismatch(f"column {name!r} may not be null, but {count} rows hold no value")


def _too_fine(name: str, count: int) -> InvalidRequest:
    return InvalidRequest(
        f"column {name!r} keeps milliseconds, but {count} rows hold microseconds; cut them with date_trunc first"
    )


def _below_milliseconds(field: pa.Field) -> Column:
    column = _column(field.name)
    return F.coalesce(F.date_trunc("millisecond", column) != column, F.lit(False))


def _in_units_of(table: pa.Schema, rows: pa.Schema) -> pa.Schema:
    """The rows' schema, its timestamps in the table's unit: Spark knows microseconds only."""
    fields = []
    for field in rows:
        stored = table.field(field.name).type if field.name in table.names else field.type
        zoned_alike = pa.types.is_timestamp(stored) and pa.types.is_timestamp(field.type) and stored.tz == field.type.tz
        fields.append(field.with_type(stored) if zoned_alike else field)
    return pa.schema(fields)


def _column(name: str) -> Column:
    return F.col(f"`{name}`")
