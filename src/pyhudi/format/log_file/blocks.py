"""Log blocks, framed: magic, length, version, kind, headers, content, footers, length again. All big-endian.

The bytes are the same in every table version. A log file is blocks back to back, nothing before, between or after.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from pyhudi.errors import CorruptTable, InternalError, Unsupported
from pyhudi.format.cursor import ByteCursor

MAGIC = b"#HUDI#"

_FORMAT_VERSION = 1
_LENGTH = struct.Struct(">q")
_PAIR = struct.Struct(">ii")
_COUNT = struct.Struct(">i")
_BEFORE_LENGTH = len(MAGIC) + _LENGTH.size
_SHORTEST_LENGTH = 4 + 4 + 4 + 8 + 4 + 8


class BlockKind(IntEnum):
    """What a block holds, by its ordinal on disk. CORRUPT is never written: a reader makes it."""

    COMMAND = 0
    DELETE = 1
    CORRUPT = 2
    AVRO_DATA = 3
    HFILE_DATA = 4
    PARQUET_DATA = 5
    CDC_DATA = 6


class Header(IntEnum):
    """The keys of a block's headers, by their ordinal on disk."""

    INSTANT_TIME = 0
    TARGET_INSTANT_TIME = 1
    SCHEMA = 2
    COMMAND_BLOCK_TYPE = 3
    COMPACTED_BLOCK_TIMES = 4
    RECORD_POSITIONS = 5
    BLOCK_IDENTIFIER = 6
    IS_PARTIAL = 7
    BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS = 8


_KINDS = {kind.value: kind for kind in BlockKind if kind is not BlockKind.CORRUPT}
_HEADERS = {header.value: header for header in Header}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBlock:
    """One block of a log file; `offset` and `length` tell which bytes of the file it takes, magic included."""

    kind: BlockKind
    headers: Mapping[Header, str]
    content: memoryview
    offset: int
    length: int


def read_blocks(data: bytes, name: str) -> Iterator[LogBlock]:
    """The blocks of the log file `name` in file order, their contents not copied.

    Bytes that are no block (a torn write, a flipped length) come as a block of kind CORRUPT without content, and
    reading goes on at the next magic: whether that may be skipped depends on who wrote it, so the caller decides.
    Unlike Java, a whole block before such bytes is still a block.
    """
    position = 0
    while position < len(data):
        length = _length_of_block(data, position)
        if length is None:
            following = data.find(MAGIC, position + 1)
            length = (len(data) if following < 0 else following) - position
            yield _corrupt(position, length)
        else:
            yield _parse(memoryview(data)[position : position + length], position, name)
        position += length


def write_block(kind: BlockKind, headers: Mapping[Header, str], content: bytes) -> bytes:
    """A whole block, ready to stand in a log file."""
    if kind is BlockKind.CORRUPT:
        raise InternalError("a CORRUPT log block is never written")
    entries = [(key, headers[key].encode("utf-8")) for key in sorted(headers)]
    body = b"".join(
        (
            _PAIR.pack(_FORMAT_VERSION, kind),
            _COUNT.pack(len(entries)),
            *(_PAIR.pack(key, len(value)) + value for key, value in entries),
            _LENGTH.pack(len(content)),
            content,
            _COUNT.pack(0),
        )
    )
    length = len(body) + _LENGTH.size
    return b"".join((MAGIC, _LENGTH.pack(length), body, _LENGTH.pack(length + len(MAGIC))))


def _length_of_block(data: bytes, position: int) -> int | None:
    """How many bytes the block at `position` takes; None where no block stands or its two lengths disagree."""
    if len(data) - position < _BEFORE_LENGTH or not data.startswith(MAGIC, position):
        return None
    (length,) = _LENGTH.unpack_from(data, position + len(MAGIC))
    end = position + _BEFORE_LENGTH + length
    if length < _SHORTEST_LENGTH or end > len(data):
        return None
    (trailing,) = _LENGTH.unpack_from(data, end - _LENGTH.size)
    return _BEFORE_LENGTH + length if trailing == length + len(MAGIC) else None


def _parse(block: memoryview, offset: int, name: str) -> LogBlock:
    cursor = ByteCursor(block[: -_LENGTH.size], name, offset)
    cursor.view(_BEFORE_LENGTH)
    version = cursor.int32()
    if version != _FORMAT_VERSION:
        raise _unsupported(name, offset, f"log format version {version}")
    kind = _kind(cursor.int32(), name, offset)
    try:
        headers = _read_headers(cursor, name, offset)
        content = cursor.view(cursor.int64())
        footers = cursor.int32()
        if footers == 0 and cursor.remaining:
            raise cursor.damaged(f"{cursor.remaining} bytes more than the block has")
    except CorruptTable:
        return _corrupt(offset, len(block))
    if footers:
        raise _unsupported(name, offset, "log block footers")
    return LogBlock(kind=kind, headers=headers, content=content, offset=offset, length=len(block))


def _kind(ordinal: int, name: str, offset: int) -> BlockKind:
    if ordinal not in _KINDS:
        raise _unsupported(name, offset, f"log block kind {ordinal}")
    return _KINDS[ordinal]


def _read_headers(cursor: ByteCursor, name: str, offset: int) -> dict[Header, str]:
    headers = {}
    for _ in range(cursor.int32()):
        ordinal = cursor.int32()
        value = cursor.text(cursor.int32())
        if ordinal not in _HEADERS:
            raise _unsupported(name, offset, f"log block header {ordinal}")
        headers[_HEADERS[ordinal]] = value
    return headers


def _corrupt(offset: int, length: int) -> LogBlock:
    return LogBlock(kind=BlockKind.CORRUPT, headers={}, content=memoryview(b""), offset=offset, length=length)


def _unsupported(name: str, offset: int, what: str) -> Unsupported:
    return Unsupported(
        f"{name}: {what} in the block at byte {offset} is unknown to pyhudi. "
        f"Read this table with the Hudi release that wrote it, or compact it there first."
    )
