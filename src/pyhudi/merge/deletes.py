"""What a DELETE block holds: keys, their partition, and the ordering value each delete competes with.

The content is version 3: `int version | int length | Avro datum of HoodieDeleteRecordList`. An entry without an
ordering value carries the number 0 as an int; such a delete wins over everything before it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import CorruptTable, Unsupported
from pyhudi.merge.arrow_schema import AvroField
from pyhudi.merge.avro_decode import Cursors, checked
from pyhudi.merge.avro_encode import joined_records, varints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Deletes:
    """The entries of one block, in their order."""

    keys: pa.StringArray
    ordering: pa.Array
    """in the type the block holds; null where `is_default`"""
    is_default: npt.NDArray[np.bool_]
    """entries without an ordering value of their own"""


def encode_deletes(keys: pa.Array, partition_path: str, ordering: pa.Array | None) -> bytes:
    """The whole content of a block; a null ordering value, or none at all, deletes whatever came before."""
    paths = pa.array([partition_path]).take(pa.array(np.zeros(len(keys), np.int64)))
    if ordering is None:
        ordering = pa.nulls(len(keys), pa.int32())
    payload = b"\0"
    if len(keys):
        whose = joined_records([(_KEY, keys.cast(pa.string())), (_PATH, paths)], framed=False)
        items = pc.binary_join_element_wise(whose, _ordering_cells(ordering), pa.scalar(b"", pa.binary()))
        count, _ = varints(np.array([len(keys)], np.int64))
        payload = count.tobytes() + bytes(items.buffers()[2])[: _end(items)] + payload
    return struct.pack(">ii", _VERSION, len(payload)) + payload


def decode_deletes(content: bytes | memoryview, name: str) -> Deletes:
    """The entries of a block; `name` says where it lies if it is damaged."""
    payload = _payload(content, name)
    try:
        starts, branches = _item_starts(payload)
    except (IndexError, ValueError) as problem:
        raise CorruptTable(f"{name}: the delete block breaks off or is damaged; restore the file") from problem
    data = np.frombuffer(payload, np.uint8)
    groups = [_group(data, starts, branches, branch, name) for branch in np.unique(branches).tolist()]
    if not groups:
        return Deletes(keys=pa.array([], pa.string()), ordering=pa.nulls(0, pa.int32()), is_default=np.zeros(0, bool))
    rows = np.concatenate([group.rows for group in groups])
    back = pa.array(np.argsort(rows))
    ordering = _one_array([group.ordering for group in groups], name).take(back)
    return Deletes(
        keys=pa.concat_arrays([group.keys for group in groups]).take(back),
        ordering=ordering,
        is_default=ordering.is_null().to_numpy(zero_copy_only=False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Group:
    """The entries of a block whose ordering values have one wrapper."""

    rows: npt.NDArray[np.int64]
    keys: pa.Array
    ordering: pa.Array


_VERSION = 3

_KEY = AvroField(name="recordKey", physical="string", arrow=pa.string(), null_branch=0)
_PATH = AvroField(name="partitionPath", physical="string", arrow=pa.string(), null_branch=0)
_BRANCH = AvroField(name="orderingVal", physical="int", arrow=pa.int32())

_NULL, _INT, _LONG, _ARRAY = 0, 2, 3, 12
_WRAPPERS: dict[int, tuple[str, pa.DataType]] = {
    1: ("boolean", pa.bool_()),
    _INT: ("int", pa.int32()),
    _LONG: ("long", pa.int64()),
    4: ("float", pa.float32()),
    5: ("double", pa.float64()),
    6: ("bytes", pa.binary()),
    7: ("string", pa.string()),
    8: ("int", pa.date32()),
    9: ("bytes", pa.decimal128(30, 15)),
    10: ("long", pa.time64("us")),
    11: ("long", pa.timestamp("us", "UTC")),
}
"""Branch of the union -> how its one value lies there."""

_BRANCH_OF = {arrow: branch for branch, (_, arrow) in _WRAPPERS.items()}

_MIXES = ((pa.int64(), {pa.int32(), pa.int64()}), (pa.float64(), {pa.float32(), pa.float64()}))
"""Types that may meet in one block after the ordering column was widened."""

_NO_ORDERING = bytes([2 * _INT, 0])
_FIXED_SIZE = {_NULL: 0, 1: 1, 4: 4, 5: 8}
_TEXTS = (6, 7, 9)


def _value_field(branch: int) -> AvroField:
    physical, arrow = _WRAPPERS[branch]
    return AvroField(name="orderingVal", physical=physical, arrow=arrow)


def _ordering_cells(ordering: pa.Array) -> pa.Array:
    branch, values = _wrapped(ordering)
    cells = joined_records([(_value_field(branch), values)], framed=False)
    nothing = pa.scalar(b"", pa.binary())
    cells = pc.binary_join_element_wise(pa.scalar(bytes([2 * branch]), pa.binary()), cells, nothing)
    return pc.if_else(ordering.is_valid(), cells, pa.scalar(_NO_ORDERING, pa.binary()))


def _wrapped(ordering: pa.Array) -> tuple[int, pa.Array]:
    """The wrapper that Hudi's readers compare with a column of this type, and the values for it.

    Hudi on Spark holds dates as ints and times as longs, so those are their wrappers, not the ones named after them.
    """
    kind = ordering.type
    if pa.types.is_date32(kind):
        return _INT, ordering.cast(pa.int32())
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return _LONG, ordering.cast(pa.int64())
    if pa.types.is_decimal(kind):
        kind = pa.decimal128(30, 15)
    try:
        return _BRANCH_OF[kind], ordering.cast(kind)
    except (KeyError, pa.ArrowInvalid) as problem:
        raise Unsupported(f"a delete block cannot hold ordering values of type {ordering.type}: {problem}") from problem


def _end(cells: pa.Array) -> int:
    return int(struct.unpack_from("<i", cells.buffers()[1], 4 * len(cells))[0])


def _payload(content: bytes | memoryview, name: str) -> bytes:
    if len(content) < 8:
        raise CorruptTable(f"{name}: the delete block has {len(content)} bytes, fewer than its head; restore the file")
    version, length = struct.unpack_from(">ii", content)
    if version != _VERSION:
        raise Unsupported(f"{name}: delete blocks of version {version} are not read; compact the table with Hudi first")
    if length != len(content) - 8:
        raise CorruptTable(f"{name}: the delete block says {length} bytes and has {len(content) - 8}; restore the file")
    return bytes(content[8:])


def _item_starts(payload: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each entry starts, closed by where the last ends, and the branch of its ordering value.

    Entries carry no lengths, so this walks them one by one. Array blocks with a byte size (negative count) occur in
    Avro at large and are never written by Hudi: their size lies between entries, so they are refused.
    """
    starts, branches, at = [], [], 0
    count, at = _number(payload, at)
    for _ in range(count):
        starts.append(at)
        at, branch = _skip_item(payload, at)
        branches.append(branch)
    starts.append(at)
    if count < 0 or (count > 0 and payload[at] != 0) or at + (count > 0) != len(payload):
        raise ValueError("the array does not end where its block does")
    return np.array(starts, np.int64), np.array(branches, np.int64)


def _skip_item(payload: bytes, at: int) -> tuple[int, int]:
    for _ in (_KEY, _PATH):
        at = _skip_text(payload, at + 1) if payload[at] else at + 1
    twice, at = payload[at], at + 1
    branch = twice >> 1
    if branch in _FIXED_SIZE:
        return at + _FIXED_SIZE[branch], branch
    if branch in _TEXTS:
        return _skip_text(payload, at), branch
    if branch == _ARRAY:
        raise Unsupported("delete entries with several ordering fields are not read; compact the table with Hudi first")
    while payload[at] & 0x80:
        at += 1
    return at + 1, branch


def _skip_text(payload: bytes, at: int) -> int:
    length, at = _number(payload, at)
    if not 0 <= length <= len(payload) - at:
        raise ValueError("a text leads out of the block")
    return at + length


def _number(payload: bytes, at: int) -> tuple[int, int]:
    value, shift, digit = 0, 0, 0x80
    while digit & 0x80:
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
        digit = payload[at]
        value |= (digit & 0x7F) << shift
        shift += 7
        at += 1
    return (value >> 1) ^ -(value & 1), at


def _group(
    data: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    branches: npt.NDArray[np.int64],
    branch: int,
    name: str,
) -> _Group:
    rows = np.flatnonzero(branches == branch)
    cursors = Cursors(data, starts[rows], starts[rows + 1], name)
    keys = checked(cursors.column(_KEY), _KEY, name)
    cursors.column(_PATH)
    cursors.column(_BRANCH)
    if branch == _NULL:
        ordering = pa.nulls(rows.size, pa.int32())
    elif branch in _WRAPPERS:
        field = _value_field(branch)
        ordering = checked(cursors.column(field), field, name)
    else:
        raise CorruptTable(f"{name}: a delete entry has an ordering value of the unknown kind {branch}")
    cursors.finish()
    if keys.null_count:
        raise CorruptTable(f"{name}: {keys.null_count} delete entries have no record key; restore the file")
    if branch == _INT:
        ordering = pc.if_else(pc.equal(ordering, 0), pa.scalar(None, pa.int32()), ordering)
    return _Group(rows=rows, keys=keys, ordering=ordering)


def _one_array(groups: list[pa.Array], name: str) -> pa.Array:
    """All ordering values of a block in the one type that holds them exactly."""
    kinds = {group.type for group in groups if group.null_count < len(group)}
    kind = next((wider for wider, mixed in _MIXES if kinds == mixed), None)
    if kind is None and len(kinds) > 1:
        raise Unsupported(f"{name}: delete entries with ordering values of the types {sorted(map(str, kinds))}")
    kind = kind or next(iter(kinds), pa.int32())
    return pa.concat_arrays(
        [group.cast(kind) if group.null_count < len(group) else pa.nulls(len(group), kind) for group in groups]
    )
