"""The number encodings inside an HFile: protobuf fields, and Hadoop's variable-length integers."""

from __future__ import annotations

from pyhudi.format.cursor import ByteCursor

_VARINT_FIELD = 0
_EIGHT_BYTE_FIELD = 1
_BYTES_FIELD = 2
_FOUR_BYTE_FIELD = 5


def read_varint(cursor: ByteCursor) -> int:
    """A protobuf varint, at most 64 bits."""
    value = 0
    for shift in range(0, 70, 7):
        byte = cursor.view(1)[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF
    raise cursor.damaged("a number of more than ten bytes")


def write_varint(value: int) -> bytes:
    """A protobuf varint; a negative number as its 64-bit complement."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_fields(cursor: ByteCursor) -> list[tuple[int, int | bytes]]:
    """All protobuf fields to the end of the bytes: number and value."""
    fields: list[tuple[int, int | bytes]] = []
    while cursor.remaining:
        tag = read_varint(cursor)
        fields.append((tag >> 3, _read_value(cursor, tag & 7)))
    return fields


def write_number(field: int, value: int) -> bytes:
    """A protobuf field that holds an integer."""
    return write_varint(field << 3 | _VARINT_FIELD) + write_varint(value)


def write_bytes(field: int, value: bytes) -> bytes:
    """A protobuf field that holds bytes."""
    return write_varint(field << 3 | _BYTES_FIELD) + write_varint(len(value)) + value


def read_hadoop_int(cursor: ByteCursor) -> int:
    """One of Hadoop's variable-length integers that is not negative."""
    first = int.from_bytes(cursor.view(1), "big", signed=True)
    if first >= -112:
        length, value = 0, first
    else:
        length = -112 - first
        value = int.from_bytes(cursor.take(length), "big") if length <= 8 else -1
    if value < 0:
        raise cursor.damaged("a negative length")
    return value


def write_hadoop_int(value: int) -> bytes:
    """A number that is not negative, as Hadoop writes it."""
    if value <= 127:
        return bytes((value,))
    length = (value.bit_length() + 7) // 8
    return (-112 - length).to_bytes(1, "big", signed=True) + value.to_bytes(length, "big")


def _read_value(cursor: ByteCursor, kind: int) -> int | bytes:
    if kind == _VARINT_FIELD:
        return read_varint(cursor)
    if kind == _BYTES_FIELD:
        return cursor.take(read_varint(cursor))
    if kind == _EIGHT_BYTE_FIELD:
        return cursor.take(8)
    if kind == _FOUR_BYTE_FIELD:
        return cursor.take(4)
    raise cursor.damaged(f"a protobuf field of kind {kind}")
