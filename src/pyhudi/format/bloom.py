"""The Bloom filters that Hudi keeps in footers: same bytes as Java's, whole columns of keys at a time.

A key's bits come from one chain of hashes: each round seeds the next. The hash is Hadoop's MurmurHash2, which takes
the last one to three bytes of a key as signed: only keys that end outside ASCII show the difference.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pyhudi.errors import InternalError, Unsupported
from pyhudi.format.cursor import ByteCursor

SIMPLE: Final = "SIMPLE"
DYNAMIC: Final = "DYNAMIC_V0"

_VERSIONED = -1
_MURMUR = 1
_HEADER = struct.Struct(">iibi")
_GROWTH = struct.Struct(">iii")
_FACTOR = np.uint32(0x5BD1E995)
_KEYS_AT_A_TIME = 16384

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int32] | NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BloomParameters:
    """How large a filter is made: Hudi's defaults for base files."""

    entries: int = 60000
    fpp: float = 1e-9
    max_entries: int = 100000
    kind: str = DYNAMIC

    @property
    def bits(self) -> int:
        """Bits of one row."""
        return math.ceil(self.entries * (-math.log(self.fpp) / (math.log(2) * math.log(2))))

    @property
    def hashes(self) -> int:
        """Bits set by one key."""
        return math.ceil(math.log(2) * self.bits / self.entries)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BloomFilter:
    """A filter: `rows` holds one bit vector a row (SIMPLE has one), `in_last_row` is Java's count of keys in it."""

    kind: str
    hashes: int
    bits: int
    rows: Bytes
    entries: int
    in_last_row: int

    @classmethod
    def build(cls, offsets: Offsets, data: Bytes, parameters: BloomParameters) -> BloomFilter:
        """The filter of the keys data[offsets[i]:offsets[i + 1]], in this order: the order decides the rows."""
        keys = len(offsets) - 1
        if keys and int(np.min(np.diff(offsets))) < 1:
            raise InternalError("a Bloom filter was asked to hold an empty key; record keys are never empty")
        row_of_key, in_last_row = _rows_of_keys(keys, parameters)
        bits, hashes = parameters.bits, parameters.hashes
        table = np.zeros((int(row_of_key.max(initial=0)) + 1, bits), dtype=np.bool_)
        for chosen, matrix in _keys_by_length(offsets, data):
            for position in _positions(matrix, hashes, bits):
                table[row_of_key[chosen], position] = True
        rows = np.packbits(table, axis=1, bitorder="little")
        return cls(
            kind=parameters.kind,
            hashes=hashes,
            bits=bits,
            rows=rows,
            entries=parameters.entries,
            in_last_row=in_last_row,
        )

    @classmethod
    def parse(cls, text: str | bytes, type_code: str | None, name: str = "a Bloom filter") -> BloomFilter:
        """The filter in a footer's text; a footer without type code holds a SIMPLE one. `name` is for messages."""
        kind = type_code or SIMPLE
        if kind not in (SIMPLE, DYNAMIC):
            raise _unsupported(name, f"Bloom filter type {kind}")
        cursor = ByteCursor(_decode_base64(text, name), name)
        if kind == SIMPLE:
            hashes, bits, row = _read_row(cursor, name)
            entries, in_last_row, rows = 0, 0, [row]
        else:
            hashes, bits = _read_header(cursor, name)
            entries, in_last_row, count = cursor.int32(), cursor.int32(), cursor.int32()
            if not 1 <= count <= cursor.remaining // _HEADER.size:
                raise cursor.damaged(f"a Bloom filter of {count} rows")
            parsed = [_read_row(cursor, name) for _ in range(count)]
            if any(row[:2] != (hashes, bits) for row in parsed):
                raise cursor.damaged("a Bloom filter with rows of unequal shape")
            rows = [row[2] for row in parsed]
        if cursor.remaining:
            raise cursor.damaged("bytes after the end of a Bloom filter")
        return cls(kind=kind, hashes=hashes, bits=bits, rows=np.stack(rows), entries=entries, in_last_row=in_last_row)

    def might_contain(self, offsets: Offsets, data: Bytes) -> NDArray[np.bool_]:
        """For each key: False where it surely was not added."""
        found = np.zeros(len(offsets) - 1, dtype=np.bool_)
        for chosen, matrix in _keys_by_length(offsets, data):
            in_row = np.ones((len(self.rows), len(matrix)), dtype=np.bool_)
            for position in _positions(matrix, self.hashes, self.bits):
                in_row &= (self.rows[:, position >> 3] >> (position & 7).astype(np.uint8) & 1).astype(np.bool_)
            found[chosen] = in_row.any(axis=0)
        return found

    def text(self) -> str:
        """Base64 of the filter, as it stands in a footer."""
        header = _HEADER.pack(_VERSIONED, self.hashes, _MURMUR, self.bits)
        rows = b"".join(header + row.tobytes() for row in self.rows)
        if self.kind == DYNAMIC:
            rows = header + _GROWTH.pack(self.entries, self.in_last_row, len(self.rows)) + rows
        return base64.b64encode(rows).decode("ascii")


def _rows_of_keys(keys: int, parameters: BloomParameters) -> tuple[NDArray[np.intp], int]:
    """Which row takes each key, and how many keys Java counts for the last row.

    Every row takes `entries` keys, until rows times entries reach `max_entries`. From then on the rows take turns,
    the first of them twice at the beginning, and all further keys count for the last row.
    """
    number = np.arange(keys, dtype=np.intp)
    if parameters.kind != DYNAMIC:
        return np.zeros_like(number), keys
    most_rows = max(1, -(-parameters.max_entries // parameters.entries))
    full = most_rows * parameters.entries
    turns = np.maximum(number - full - 1, 0) % most_rows
    rows = np.where(number < full, number // parameters.entries, turns)
    used = min(max(1, -(-keys // parameters.entries)), most_rows)
    return rows, keys - (used - 1) * parameters.entries


def _keys_by_length(offsets: Offsets, data: Bytes) -> Iterator[tuple[NDArray[np.intp], Bytes]]:
    """Keys of one length together, some thousand at a time: numbers, and bytes as a matrix. Empty ones are left out."""
    lengths = np.diff(offsets)
    for length in np.unique(lengths):
        if length == 0:
            continue
        numbers = np.flatnonzero(lengths == length)
        windows = np.lib.stride_tricks.sliding_window_view(data, int(length))
        for start in range(0, len(numbers), _KEYS_AT_A_TIME):
            chosen = numbers[start : start + _KEYS_AT_A_TIME]
            yield chosen, windows[offsets[chosen]]


def _positions(keys: Bytes, hashes: int, bits: int) -> Iterator[NDArray[np.uint32]]:
    """The bit of every key, round by round."""
    count, length = keys.shape
    words = _mixed_words(keys)
    tail = _signed_tail(keys)
    state = np.zeros(count, dtype=np.uint32)
    for _ in range(hashes):
        state = state ^ np.uint32(length)
        for word in words:
            state *= _FACTOR
            state ^= word
        if tail is not None:
            state ^= tail
            state *= _FACTOR
        state ^= state >> np.uint32(13)
        state *= _FACTOR
        state ^= state >> np.uint32(15)
        yield np.abs(state.view(np.int32)).view(np.uint32) % np.uint32(bits)


def _mixed_words(keys: Bytes) -> NDArray[np.uint32]:
    """The whole four-byte words of each key, mixed: they are the same in every round."""
    whole = keys.shape[1] // 4
    words = np.ascontiguousarray(np.ascontiguousarray(keys[:, : whole * 4]).view("<u4").T).astype(np.uint32)
    words *= _FACTOR
    words ^= words >> np.uint32(24)
    words *= _FACTOR
    return words


def _signed_tail(keys: Bytes) -> NDArray[np.uint32] | None:
    """The last one to three bytes of each key as Java folds them in: signed, the last byte lowest."""
    left = keys.shape[1] % 4
    if not left:
        return None
    signed = np.ascontiguousarray(keys[:, -left:]).view(np.int8).astype(np.int32)
    tail = np.zeros(len(keys), dtype=np.int32)
    for place in range(left):
        tail ^= signed[:, left - 1 - place] << np.int32(8 * place)
    return tail.view(np.uint32)


def _decode_base64(text: str | bytes, name: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as cause:
        raise ByteCursor(b"", name).damaged(f"a Bloom filter that is not base64 ({cause})") from cause


def _read_row(cursor: ByteCursor, name: str) -> tuple[int, int, Bytes]:
    hashes, bits = _read_header(cursor, name)
    return hashes, bits, np.frombuffer(cursor.view(-(-bits // 8)), dtype=np.uint8)


def _read_header(cursor: ByteCursor, name: str) -> tuple[int, int]:
    version, hashes, hash_type, bits = _HEADER.unpack(cursor.view(_HEADER.size))
    if version != _VERSIONED or hash_type != _MURMUR:
        raise _unsupported(name, f"Bloom filter version {version} with hash {hash_type}")
    if not 1 <= hashes <= 1024 or bits < 1:
        raise cursor.damaged(f"a Bloom filter of {hashes} hashes and {bits} bits")
    return hashes, bits


def _unsupported(name: str, what: str) -> Unsupported:
    return Unsupported(f"{name}: {what} is unknown to pyhudi. Use an index that needs no Bloom filter, such as SIMPLE.")
