"""Block indexes: which block begins with which key. A file that Hudi 1.x wrote has one level, HBase's may have more."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from pyhudi.format.cursor import ByteCursor
from pyhudi.format.hfile.wire import read_hadoop_int, write_hadoop_int

_PLACE = struct.Struct(">qi")
_ROW_LENGTH_SIZE = 2
# After the entries of the root of a multi-level index: where the middle key is (offset, size, number).
_MIDDLE_KEY_SIZE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlace:
    """Where a block is; no key in it is smaller than `first_key` (which itself need not be there)."""

    first_key: bytes
    offset: int
    size: int

    @property
    def end(self) -> int:
        """The first byte after the block."""
        return self.offset + self.size


def encode_index(places: Iterable[tuple[int, int, bytes]]) -> bytes:
    """The content of a root index block: (offset, size, key as it shall stand there) of every block."""
    return b"".join(_PLACE.pack(offset, size) + write_hadoop_int(len(key)) + key for offset, size, key in places)


def decode_root_index(cursor: ByteCursor, count: int, levels: int) -> list[BlockPlace]:
    """The entries of the root of the data index. Keys come in two forms, with and without HBase's suffix."""
    places = []
    for _ in range(count):
        offset, size = _PLACE.unpack(cursor.view(_PLACE.size))
        places.append(_place(cursor, offset, size, read_hadoop_int(cursor)))
    if cursor.remaining not in (0, _MIDDLE_KEY_SIZE if levels > 1 else 0):
        raise cursor.damaged("more bytes in the index than its entries take")
    return places


def decode_lower_index(cursor: ByteCursor) -> list[BlockPlace]:
    """The entries of an intermediate or leaf index block: a table of relative offsets, then the entries."""
    count = cursor.int32()
    if not 0 <= count < cursor.remaining // 4:
        raise cursor.damaged(f"an index block of {count} entries")
    starts = [cursor.int32() for _ in range(count + 1)]
    places = []
    for start, end in pairwise(starts):
        offset, size = _PLACE.unpack(cursor.view(_PLACE.size))
        places.append(_place(cursor, offset, size, end - start - _PLACE.size))
    return places


def _place(cursor: ByteCursor, offset: int, size: int, key_length: int) -> BlockPlace:
    key = cursor.take(key_length)
    row_length = int.from_bytes(key[:_ROW_LENGTH_SIZE], "big", signed=True)
    if not 0 <= row_length <= key_length - _ROW_LENGTH_SIZE:
        raise cursor.damaged("an index key longer than its entry")
    return BlockPlace(first_key=key[_ROW_LENGTH_SIZE : _ROW_LENGTH_SIZE + row_length], offset=offset, size=size)
