"""The content of an Avro data block, framed: version, record count, then each record as length and Avro datum."""

from __future__ import annotations

import struct

from pyhudi.errors import Unsupported
from pyhudi.format.cursor import ByteCursor

_VERSION = 3
_HEAD = struct.Struct(">ii")
_SHORTEST_RECORD = 4


def frame_records(count: int, records: bytes) -> bytes:
    """The content of a data block of `count` records, given as [length][datum] one after the other."""
    return _HEAD.pack(_VERSION, count) + records


def record_frames(content: bytes | memoryview, name: str = "a log block") -> tuple[int, memoryview]:
    """How many records the content of a data block has, and their [length][datum] bytes, not copied.

    Versions 1 to 3 frame alike. `name` is only for error messages.
    """
    cursor = ByteCursor(content, name)
    version = cursor.int32()
    if not 1 <= version <= _VERSION:
        raise Unsupported(
            f"{name}: data block version {version} is unknown to pyhudi. "
            f"Read this table with the Hudi release that wrote it, or compact it there first."
        )
    count = cursor.int32()
    if not 0 <= count <= cursor.remaining // _SHORTEST_RECORD:
        raise cursor.damaged(f"{count} records announced in {cursor.remaining} bytes")
    return count, cursor.view(cursor.remaining)
