"""Incoming Arrow rows get their record key and partition path, or are refused with what is wrong about them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import InvalidRequest, SchemaMismatch, Unsupported
from pyhudi.file_group.spec import TableSpec
from pyhudi.format.keys import (
    EMPTY_KEY_PART,
    NULL_KEY_PART,
    KeySpec,
    escapes_table,
    partition_part,
)
from pyhudi.format.schema import META_COLUMNS, PARTITION_PATH, RECORD_KEY
from pyhudi.merge.arrow_schema import conform, stored_type


def keyed_rows(rows: pa.Table, table: TableSpec, keys: KeySpec, *, deleting: bool) -> pa.Table:
    """The user's columns with key and partition path added; for deletes only these two remain."""
    plain = rows.drop_columns([name for name in META_COLUMNS if name in rows.column_names])
    if not deleting:
        check_columns(plain.schema, table.user_schema)
        plain = conform(plain, table.user_schema)
    check_key_columns(plain.column_names, keys)
    if deleting:
        plain = conform(plain, pa.schema([field for field in table.user_schema if field.name in keys.fields]))
    key, path = record_keys(plain, keys), partition_paths(plain, keys)
    if deleting:
        return pa.table({RECORD_KEY: key, PARTITION_PATH: path})
    return plain.append_column(RECORD_KEY, key).append_column(PARTITION_PATH, path)


def check_columns(rows: pa.Schema, table: pa.Schema) -> None:
    """Refuse rows whose columns are not the table's, naming each that differs."""
    problems = [f"{name} is missing" for name in table.names if name not in rows.names]
    problems += [f"{name} is not in the table" for name in rows.names if name not in table.names]
    for field in table:
        if field.name in rows.names:
            given = rows.field(field.name).type
            kept = given if given == field.type else stored_type(rows.field(field.name))
            if kept != field.type:
                problems.append(f"{field.name} is {given}, in the table {field.type}")
    if problems:
        raise SchemaMismatch(f"the columns differ from the table's: {'; '.join(problems)}. Cast or rename them first")


def check_key_columns(names: Collection[str], keys: KeySpec) -> None:
    """Refuse rows without the columns that make up key and partition."""
    missing = [name for name in keys.fields if name not in names]
    if missing:
        raise SchemaMismatch(f"the rows lack the column(s) {', '.join(missing)}, which make up key and partition")


def check_paths(paths: Iterable[str]) -> None:
    """Refuse partition paths that leave the table."""
    for path in paths:
        if escapes_table(path):
            raise InvalidRequest(
                f"partition path {path!r} would leave the table; url-encode partition values or change them"
            )


def missing_key(field: str) -> InvalidRequest:
    """The refusal of rows without a key."""
    return InvalidRequest(f"key column {field!r} holds null or empty values; every row needs a key")


def unprintable(field: str, kind: pa.DataType) -> Unsupported:
    """The refusal of a column whose values have no text of their own."""
    return Unsupported(f"column {field!r} of type {kind} as key or partition; use text, integers, dates or booleans")


def record_keys(rows: pa.Table, keys: KeySpec) -> pa.ChunkedArray:
    """Keys as the table's key generator writes them."""
    if not keys.key_is_prefixed:
        field = keys.key_fields[0]
        text = as_text(rows.column(field), field)
        if text.null_count or pc.any(pc.equal(text, "")).as_py():
            raise missing_key(field)
        return text
    parts = []
    for field in keys.key_fields:
        text = as_text(rows.column(field), field)
        text = pc.if_else(
            pc.equal(pc.fill_null(text, NULL_KEY_PART), ""), EMPTY_KEY_PART, pc.fill_null(text, NULL_KEY_PART)
        )
        parts.append(pc.binary_join_element_wise(f"{field}:", text, ""))
    return pc.binary_join_element_wise(*parts, ",") if len(parts) > 1 else parts[0]


def partition_paths(rows: pa.Table, keys: KeySpec) -> pa.ChunkedArray:
    """Partition paths as the table's key generator writes them."""
    if not keys.partition_fields:
        return pa.chunked_array([pa.repeat(pa.scalar(""), len(rows))])
    parts = [_partition_parts(rows.column(field), field, keys) for field in keys.partition_fields]
    paths = pc.binary_join_element_wise(*parts, "/") if len(parts) > 1 else parts[0]
    for path in pc.unique(paths).to_pylist():
        if escapes_table(path):
            raise InvalidRequest(
                f"partition path {path!r} would leave the table; url-encode partition values or change them"
            )
    return paths


def as_text(column: pa.ChunkedArray, field: str) -> pa.ChunkedArray:
    """Values as Java prints them in keys and paths."""
    kind = column.type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_integer(kind) or pa.types.is_date(kind):
        return pc.cast(column, pa.string())
    if pa.types.is_boolean(kind):
        return pc.if_else(column, "true", "false")
    if pa.types.is_timestamp(kind):
        return pc.cast(pc.cast(column, pa.int64()), pa.string())
    raise unprintable(field, kind)


def _partition_parts(column: pa.ChunkedArray, field: str, keys: KeySpec) -> pa.ChunkedArray:
    """Folder names of one field: made once per distinct value."""
    text = as_text(column, field)
    distinct = pc.unique(text)
    folders = pa.array([partition_part(field, value, keys) for value in distinct.to_pylist()], pa.string())
    return folders.take(pc.index_in(text, value_set=distinct))
