"""Reading binary structures without trusting them: every step is checked against the end of the bytes."""

from __future__ import annotations

import struct

from pyhudi.errors import CorruptTable

_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")


def damaged(name: str, offset: int, what: str) -> CorruptTable:
    """The error for bytes of file `name` that are not what they must be."""
    return CorruptTable(
        f"{name}: {what} at byte {offset}. The file is damaged: nothing was read from that place; "
        f"restore the file, or let `validate` tell what can be rebuilt without it."
    )


class ByteCursor:
    """A position in `data` that moves forward; reading past the end is `CorruptTable`, never an index error.

    `origin` is where `data` begins in the file: error messages count from there.
    """

    __slots__ = ("_data", "_name", "_origin", "position")

    def __init__(self, data: bytes | memoryview, name: str, origin: int = 0) -> None:
        """Start at the first byte of `data`."""
        self._data = memoryview(data)
        self._name = name
        self._origin = origin
        self.position = 0

    @property
    def remaining(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self.position

    def damaged(self, what: str) -> CorruptTable:
        """The error for what stands at this position."""
        return damaged(self._name, self._origin + self.position, what)

    def view(self, length: int) -> memoryview:
        """The next `length` bytes, not copied."""
        if not 0 <= length <= self.remaining:
            raise self.damaged(f"{length} bytes announced where {self.remaining} are left")
        start = self.position
        self.position += length
        return self._data[start : self.position]

    def take(self, length: int) -> bytes:
        """The next `length` bytes."""
        return bytes(self.view(length))

    def text(self, length: int) -> str:
        """The next `length` bytes as UTF-8."""
        raw = self.take(length)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self.position -= length
            raise self.damaged("a text that is not UTF-8") from None

    def int32(self) -> int:
        """A big-endian signed int."""
        return int(_INT32.unpack(self.view(4))[0])

    def int64(self) -> int:
        """A big-endian signed long."""
        return int(_INT64.unpack(self.view(8))[0])
