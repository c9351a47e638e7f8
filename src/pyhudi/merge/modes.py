"""How two records with one key are settled, and which records say that they are deletes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import InvalidRequest, Unsupported
from pyhudi.format.merge_properties import MergeMode
from pyhudi.format.schema import IS_DELETED, OPERATION


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRule:
    """What a table says about merging."""

    mode: MergeMode
    ordering_fields: tuple[str, ...] = ()
    delete_field: str | None = None
    delete_marker: str | None = None

    def __post_init__(self) -> None:
        if self.mode is MergeMode.CUSTOM:
            raise Unsupported("merge mode CUSTOM (a payload or merger class of the user) is not carried out by pyhudi")
        if len(self.ordering_fields) > 1:
            raise Unsupported(f"several ordering fields ({', '.join(self.ordering_fields)}); pyhudi merges by one")
        if (self.delete_field is None) != (self.delete_marker is None):
            raise InvalidRequest("hoodie.payload.delete.field and hoodie.payload.delete.marker go together; set both")

    def ordering_field(self, schema: pa.Schema) -> pa.Field | None:
        """The column that decides, None where the later record wins."""
        if self.mode is MergeMode.COMMIT_TIME_ORDERING:
            return None
        present = [name for name in self.ordering_fields if name in schema.names]
        return schema.field(present[0]) if present else None


def soft_deletes(rows: pa.Table | pa.RecordBatch, rule: MergeRule) -> npt.NDArray[np.bool_]:
    """Which rows are deletes by what they hold: `_hoodie_is_deleted`, `_hoodie_operation`, or the table's marker."""
    deleted = np.zeros(rows.num_rows, np.bool_)
    names = set(rows.schema.names)
    if IS_DELETED in names:
        deleted |= _true(_flags(rows.column(IS_DELETED)))
    if OPERATION in names:
        deleted |= _true(pc.is_in(rows.column(OPERATION), value_set=pa.array(["D", "-U"])))
    if rule.delete_field in names:
        deleted |= _true(pc.equal(_printed(rows.column(rule.delete_field), rule), rule.delete_marker))
    return deleted


def _true(flags: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    array: npt.NDArray[np.bool_] = np.asarray(flags.fill_null(False), dtype=np.bool_)
    return array


def _flags(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if not pa.types.is_boolean(column.type):
        raise Unsupported(f"column {IS_DELETED!r} is {column.type}; Hudi reads it as boolean only")
    return column


def _printed(column: pa.Array | pa.ChunkedArray, rule: MergeRule) -> pa.Array | pa.ChunkedArray:
    """The column as the text that Java compares with the marker."""
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_temporal(kind) or pa.types.is_binary(kind):
        raise Unsupported(f"the delete marker field {rule.delete_field!r} is {kind}; text, integers and booleans work")
    return column.cast(pa.string())
