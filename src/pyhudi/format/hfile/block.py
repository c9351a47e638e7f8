"""HFile blocks: a header, a payload that may be compressed, and room for checksums."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final

from isal import isal_zlib

from pyhudi.errors import Unsupported
from pyhudi.format.cursor import ByteCursor

DATA_MAGIC: Final = b"DATABLK*"
META_MAGIC: Final = b"METABLKc"
ROOT_INDEX_MAGIC: Final = b"IDXROOT2"
LEAF_INDEX_MAGIC: Final = b"IDXLEAF2"
INTERMEDIATE_INDEX_MAGIC: Final = b"IDXINTE2"
FILE_INFO_MAGIC: Final = b"FILEINF2"

HEADER_SIZE: Final = 33
LARGEST_BLOCK: Final = 256 << 20

# magic, size on disk without header, size uncompressed without header, offset of the previous block of this kind,
# kind of checksum, bytes per checksum, size on disk with header but without checksums
_HEADER = struct.Struct(">8siiqBii")
_NO_CHECKSUM = 0
_BYTES_PER_CHECKSUM = 16384
_GZIP_WINDOW = 31
_GZIP_LEVEL = 2
_CODEC_NAMES = {0: "LZO", 3: "SNAPPY", 4: "LZ4", 5: "BZIP2", 6: "ZSTD"}


class Codec(IntEnum):
    """How all blocks of a file are compressed."""

    GZ = 1
    NONE = 2


def codec_of(number: int, name: str) -> Codec:
    """The codec that a trailer names."""
    for codec in Codec:
        if codec == number:
            return codec
    raise Unsupported(
        f"{name}: HFile compression {_CODEC_NAMES.get(number, number)} is unknown to pyhudi, which reads GZ and NONE. "
        f"Rebuild the metadata table with hoodie.hfile.compression.algorithm=GZ."
    )


def encode_block(magic: bytes, content: bytes, codec: Codec, previous: int = -1) -> bytes:
    """A whole block, with checksums left empty as Hudi 1.2.0 leaves them."""
    payload = isal_zlib.compress(content, _GZIP_LEVEL, wbits=_GZIP_WINDOW) if codec is Codec.GZ else content
    with_header = HEADER_SIZE + len(payload)
    checksums = bytes(4 * -(-with_header // _BYTES_PER_CHECKSUM))
    header = _HEADER.pack(
        magic,
        len(payload) + len(checksums),
        len(content),
        previous,
        _NO_CHECKSUM,
        _BYTES_PER_CHECKSUM,
        with_header,
    )
    return b"".join((header, payload, checksums))


def decode_block(cursor: ByteCursor, magic: bytes, codec: Codec) -> bytes:
    """The content of the block at the cursor, which moves behind the block.

    Checksums are not looked at: Hudi writes none, and a GZ payload carries its own.
    """
    start = cursor.position
    found, on_disk, uncompressed, _, _, _, with_header = _HEADER.unpack(cursor.view(HEADER_SIZE))
    if found != magic:
        cursor.position = start
        raise cursor.damaged(f"{found!r} where the block {magic!r} must begin")
    if not 0 <= with_header - HEADER_SIZE <= on_disk or not 0 <= uncompressed <= LARGEST_BLOCK:
        cursor.position = start
        raise cursor.damaged(f"a block of impossible sizes ({on_disk}, {with_header}, {uncompressed})")
    block = cursor.view(on_disk)
    payload = block[: with_header - HEADER_SIZE]
    content = bytes(payload) if codec is Codec.NONE else _inflate(payload, uncompressed)
    if content is None or len(content) != uncompressed:
        cursor.position = start
        raise cursor.damaged("a block whose content does not unpack to its size")
    return content


def _inflate(payload: memoryview, size: int) -> bytes | None:
    """The unpacked bytes, never more than one beyond `size`; None where the payload is no whole gzip member."""
    inflater = isal_zlib.decompressobj(wbits=_GZIP_WINDOW)
    try:
        content = inflater.decompress(payload, size + 1)
    except isal_zlib.error:  # type: ignore[misc]  # its stub declares an instance
        return None
    return content if inflater.eof else None
