"""The entries of a data block: each a key and a value in HBase's frame, with family, timestamp and version constant."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from pyhudi.format.cursor import damaged

# After the row: no column family, the latest timestamp, key type "put".
KEY_SUFFIX: Final = b"\x00\x7f\xff\xff\xff\xff\xff\xff\xff\x04"
LONGEST_KEY: Final = 0x7FFF

_HEAD = struct.Struct(">iih")
_ROW_LENGTH = struct.Struct(">h")
_KEY_EXTRA = _ROW_LENGTH.size + len(KEY_SUFFIX)
_VERSION_ZERO = b"\x00"


def full_key(key: bytes) -> bytes:
    """The key as an index of HBase holds it: with row length, timestamp and type. Every reader takes this form."""
    return _ROW_LENGTH.pack(len(key)) + key + KEY_SUFFIX


def encode_entry(key: bytes, value: bytes) -> bytes:
    """One entry of a data block."""
    head = _HEAD.pack(len(key) + _KEY_EXTRA, len(value), len(key))
    return b"".join((head, key, KEY_SUFFIX, value, _VERSION_ZERO))


def decode_entries(content: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Key and value of every entry of a data block; keys must not descend."""
    position, end = 0, len(content)
    previous = b""
    while position < end:
        if end - position < _HEAD.size:
            raise damaged(name, position, "an entry cut short")
        key_length, value_length, row_length = _HEAD.unpack_from(content, position)
        key_start = position + _HEAD.size
        value_start = key_start + row_length + len(KEY_SUFFIX)
        value_end = value_start + value_length
        if row_length < 0 or value_length < 0 or key_length != row_length + _KEY_EXTRA or value_end >= end:
            raise damaged(name, position, f"an entry of impossible lengths ({key_length}, {value_length})")
        key = content[key_start : key_start + row_length]
        if content[value_end] or key < previous:
            raise damaged(name, position, "an entry with a version, or out of order")
        yield key, content[value_start:value_end]
        previous = key
        position = value_end + 1
