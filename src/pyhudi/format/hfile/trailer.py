"""What stands at the end of an HFile: the trailer of fixed size, and the named values called file info."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyhudi.errors import Unsupported
from pyhudi.format.cursor import ByteCursor
from pyhudi.format.hfile.block import Codec, codec_of
from pyhudi.format.hfile.wire import read_fields, read_varint, write_bytes, write_number, write_varint

TRAILER_SIZE: Final = 4096

_MAGIC = b'TRABLK"$'
_INFO_MAGIC = b"PBUF"
_MAJOR_VERSION = 3
# Minor version 3 is what HBase writes; readers that look at it want a file with checksum fields.
_VERSION_BYTES = b"\x03\x00\x00\x03"
_COMPARATOR = b"org.apache.hudi.io.storage.HoodieHBaseKVComparator"
_NO_OFFSET = 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Trailer:
    """The places and counts by which a file is read. Offsets of data blocks are -1 where there is none."""

    file_info_offset: int
    load_on_open_offset: int
    index_size: int
    total_size: int
    data_blocks: int
    meta_blocks: int
    entries: int
    index_levels: int
    first_data_block: int
    last_data_block: int
    codec: Codec

    def encode(self) -> bytes:
        """The trailer's bytes, all of them."""
        message = b"".join(
            (
                write_number(1, self.file_info_offset),
                write_number(2, self.load_on_open_offset),
                write_number(3, self.index_size),
                write_number(4, self.total_size),
                write_number(5, self.data_blocks),
                write_number(6, self.meta_blocks),
                write_number(7, self.entries),
                write_number(8, self.index_levels),
                write_number(9, self.first_data_block),
                write_number(10, self.last_data_block),
                write_bytes(11, _COMPARATOR),
                write_number(12, self.codec),
            )
        )
        head = _MAGIC + write_varint(len(message)) + message
        return head.ljust(TRAILER_SIZE - len(_VERSION_BYTES), b"\x00") + _VERSION_BYTES

    @classmethod
    def decode(cls, data: bytes | memoryview, name: str, offset: int) -> Trailer:
        """The trailer in the last bytes of file `name`, which begin at `offset`."""
        cursor = ByteCursor(data, name, offset)
        if cursor.take(len(_MAGIC)) != _MAGIC:
            cursor.position = 0
            raise cursor.damaged("no HFile trailer")
        major = int.from_bytes(data[-3:], "big")
        if major != _MAJOR_VERSION:
            raise Unsupported(f"{name}: HFile version {major} is unknown to pyhudi, which reads version 3.")
        message = ByteCursor(cursor.view(read_varint(cursor)), name, offset + cursor.position)
        numbers = {field: value for field, value in read_fields(message) if isinstance(value, int)}
        trailer = cls(
            file_info_offset=numbers.get(1, 0),
            load_on_open_offset=numbers.get(2, 0),
            index_size=numbers.get(3, 0),
            total_size=numbers.get(4, 0),
            data_blocks=numbers.get(5, 0),
            meta_blocks=numbers.get(6, 0),
            entries=numbers.get(7, 0),
            index_levels=numbers.get(8, 1),
            first_data_block=_offset_or_none(numbers.get(9, 0)),
            last_data_block=_offset_or_none(numbers.get(10, 0)),
            codec=codec_of(numbers.get(12, Codec.NONE), name),
        )
        if not trailer.load_on_open_offset <= trailer.file_info_offset <= offset or not 1 <= trailer.index_levels <= 16:
            raise cursor.damaged("a trailer that points outside of the file")
        return trailer


def encode_file_info(values: dict[str, bytes]) -> bytes:
    """The content of a file info block."""
    entries = (write_bytes(1, key.encode("utf-8")) + write_bytes(2, values[key]) for key in sorted(values))
    message = b"".join(write_bytes(1, entry) for entry in entries)
    return _INFO_MAGIC + write_varint(len(message)) + message


def decode_file_info(cursor: ByteCursor, name: str) -> dict[str, bytes]:
    """The named values in a file info block."""
    if cursor.take(len(_INFO_MAGIC)) != _INFO_MAGIC:
        raise cursor.damaged("no file info")
    message = ByteCursor(cursor.view(read_varint(cursor)), name)
    values = {}
    for _, entry in read_fields(message):
        pair = dict(read_fields(ByteCursor(entry, name))) if isinstance(entry, bytes) else {}
        key, value = pair.get(1), pair.get(2, b"")
        if not isinstance(key, bytes) or not isinstance(value, bytes):
            raise message.damaged("a file info entry without name or value")
        values[ByteCursor(key, name).text(len(key))] = value
    return values


def _offset_or_none(value: int) -> int:
    return -1 if value == _NO_OFFSET else value
