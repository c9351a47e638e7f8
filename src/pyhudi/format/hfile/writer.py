"""Writing an HFile that every reader of Hudi takes: HBase's own, and the native ones of 0.15, 1.0 and 1.2."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from pyhudi.errors import InternalError
from pyhudi.format.bloom import BloomFilter, BloomParameters
from pyhudi.format.hfile.block import (
    DATA_MAGIC,
    FILE_INFO_MAGIC,
    META_MAGIC,
    ROOT_INDEX_MAGIC,
    Codec,
    encode_block,
)
from pyhudi.format.hfile.entries import LONGEST_KEY, encode_entry, full_key
from pyhudi.format.hfile.index import encode_index
from pyhudi.format.hfile.trailer import Trailer, encode_file_info

LARGEST_BLOCK_SIZE: Final = 64 << 10

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_BLOOM_BLOCK = b"bloomFilter"
_BLOOM = BloomParameters(entries=10000)

Entries = Sequence[tuple[bytes, bytes]]


def write_hfile(
    entries: Entries, schema: str, *, created_ms: int, block_size: int = 65536, compress: bool = True, bloom: bool
) -> bytes:
    """The bytes of an HFile with these keys and values; keys must ascend strictly, as unsigned bytes.

    `bloom` adds what base files have and log blocks have not: smallest and largest key, and a Bloom filter.
    """
    _check(entries, block_size)
    codec = Codec.GZ if compress else Codec.NONE
    out = bytearray()
    places: list[tuple[int, int, bytes]] = []
    total_size = 0
    for first_key, content in _blocks(entries, block_size):
        total_size += len(content)
        block = encode_block(DATA_MAGIC, content, codec, previous=places[-1][0] if places else -1)
        places.append((len(out), len(block), full_key(first_key)))
        out += block
    meta_places = []
    if bloom:
        block = encode_block(META_MAGIC, _bloom_filter(entries).text().encode("ascii"), codec)
        meta_places.append((len(out), len(block), _BLOOM_BLOCK))
        out += block
    load_on_open = len(out)
    index = encode_index(places)
    out += encode_block(ROOT_INDEX_MAGIC, index, codec)
    out += encode_block(ROOT_INDEX_MAGIC, encode_index(meta_places), codec)
    file_info = len(out)
    out += encode_block(FILE_INFO_MAGIC, encode_file_info(_info(entries, schema, created_ms, bloom)), codec)
    trailer = Trailer(
        file_info_offset=file_info,
        load_on_open_offset=load_on_open,
        index_size=len(index),
        total_size=total_size,
        data_blocks=len(places),
        meta_blocks=len(meta_places),
        entries=len(entries),
        index_levels=1,
        first_data_block=places[0][0] if places else -1,
        last_data_block=places[-1][0] if places else -1,
        codec=codec,
    )
    return bytes(out) + trailer.encode()


def _check(entries: Entries, block_size: int) -> None:
    # Java's native reader stops 4 bytes per 16 KiB before a block's end, so that in larger blocks it would lose a
    # short last entry. (Its own log blocks of 1 MiB can be hit by that.)
    if not 0 < block_size <= LARGEST_BLOCK_SIZE:
        raise InternalError(f"an HFile block size of {block_size} is not in 1..{LARGEST_BLOCK_SIZE}")
    for (before, _), (after, _) in pairwise(entries):
        if before >= after:
            raise InternalError(f"keys of an HFile must ascend strictly: {after!r} came after {before!r}")
    if any(len(key) > LONGEST_KEY for key, _ in entries):
        raise InternalError(f"a key of an HFile has at most {LONGEST_KEY} bytes")


def _blocks(entries: Entries, block_size: int) -> Iterator[tuple[bytes, bytes]]:
    """First key and content of each data block: as many whole entries as fit, at least one."""
    block: list[bytes] = []
    first_key, size = b"", 0
    for key, value in entries:
        entry = encode_entry(key, value)
        if block and size + len(entry) > block_size:
            yield first_key, b"".join(block)
            block, size = [], 0
        if not block:
            first_key = key
        block.append(entry)
        size += len(entry)
    if block:
        yield first_key, b"".join(block)


def _info(entries: Entries, schema: str, created_ms: int, bloom: bool) -> dict[str, bytes]:
    count = max(1, len(entries))
    info = {
        "schema": schema.encode("utf-8"),
        "KEY_VALUE_VERSION": _INT.pack(1),
        "MAX_MEMSTORE_TS_KEY": _LONG.pack(0),
        "hfile.AVG_KEY_LEN": _INT.pack(sum(len(key) for key, _ in entries) // count),
        "hfile.AVG_VALUE_LEN": _INT.pack(sum(len(value) for _, value in entries) // count),
        "hfile.CREATE_TIME_TS": _LONG.pack(created_ms),
    }
    if entries:
        info["hfile.LASTKEY"] = full_key(entries[-1][0])
    if bloom:
        info["minRecordKey"] = entries[0][0] if entries else b""
        info["maxRecordKey"] = entries[-1][0] if entries else b""
        info["bloomFilterTypeCode"] = _BLOOM.kind.encode("ascii")
    return info


def _bloom_filter(entries: Entries) -> BloomFilter:
    offsets = np.zeros(len(entries) + 1, dtype=np.int64)
    np.cumsum([len(key) for key, _ in entries], out=offsets[1:])
    data = np.frombuffer(b"".join(key for key, _ in entries), dtype=np.uint8)
    return BloomFilter.build(offsets, data, _BLOOM)
