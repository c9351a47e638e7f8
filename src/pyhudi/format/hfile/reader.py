"""Reading an HFile: its tail once, then only the data blocks that are asked for, neighbours in one read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from pyhudi.errors import CorruptTable, Unsupported
from pyhudi.format.cursor import ByteCursor, damaged
from pyhudi.format.hfile.block import (
    DATA_MAGIC,
    FILE_INFO_MAGIC,
    HEADER_SIZE,
    INTERMEDIATE_INDEX_MAGIC,
    LARGEST_BLOCK,
    LEAF_INDEX_MAGIC,
    ROOT_INDEX_MAGIC,
    decode_block,
)
from pyhudi.format.hfile.entries import decode_entries
from pyhudi.format.hfile.index import BlockPlace, decode_lower_index, decode_root_index
from pyhudi.format.hfile.trailer import TRAILER_SIZE, Trailer, decode_file_info

_TAIL = 64 << 10
_LONGEST_READ = 8 << 20
_NO_VERSIONS = bytes(8)


class HFileReader:
    """One HFile, read through `read(offset, length)`.

    Opening takes one read where trailer, index and file info fit in the last 64 KiB, two otherwise (more only for
    the multi-level index of a large file by HBase). Damage is `CorruptTable` with the file's `name` and the place.
    """

    info: Mapping[str, bytes]

    __slots__ = ("_blocks", "_first_keys", "_name", "_read", "_size", "_tail", "_tail_start", "_trailer", "info")

    def __init__(self, read: Callable[[int, int], bytes], size: int, name: str) -> None:
        """Read the tail of the file, which has `size` bytes."""
        self._read = read
        self._size = size
        self._name = name
        if size < TRAILER_SIZE:
            raise damaged(name, size, f"the end of a file too short for an HFile ({size} bytes)")
        self._tail_start = max(0, size - _TAIL)
        self._tail = memoryview(self._fetched(self._tail_start, size))
        self._trailer = Trailer.decode(self._bytes(size - TRAILER_SIZE, size), name, size - TRAILER_SIZE)
        root, self.info = self._load_on_open()
        self._blocks = self._data_blocks(root)
        self._first_keys = [block.first_key for block in self._blocks]

    @classmethod
    def of_bytes(cls, data: bytes, name: str) -> HFileReader:
        """A reader of an HFile that is in memory, such as the content of a log block."""
        return cls(lambda offset, length: data[offset : offset + length], len(data), name)

    @property
    def schema(self) -> str:
        """The Avro schema of the values, as JSON."""
        if "schema" not in self.info:
            raise CorruptTable(f"{self._name}: no 'schema' in its file info; Hudi cannot have written this file.")
        return ByteCursor(self.info["schema"], f"{self._name}, file info 'schema'").text(len(self.info["schema"]))

    @property
    def entry_count(self) -> int:
        """How many entries the file says it has; `scan` checks it."""
        return self._trailer.entries

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        """All keys and values, in key order."""
        count = 0
        for content in self._contents(range(len(self._blocks))):
            for entry in content:
                count += 1
                yield entry
        if count != self.entry_count:
            raise damaged(self._name, self._size, f"{count} entries where the trailer announces {self.entry_count}")

    def lookup(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are there; reads the blocks that can hold them and no others."""
        wanted = set(keys)
        numbers = sorted({bisect_right(self._first_keys, key) - 1 for key in wanted} - {-1})
        found: dict[bytes, bytes] = {}
        for content in self._contents(numbers):
            found.update(entry for entry in content if entry[0] in wanted)
        return found

    def scan_prefixes(self, prefixes: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Keys and values, in key order, of all keys that begin with one of the prefixes."""
        wanted = _without_covered(prefixes)
        numbers: set[int] = set()
        for prefix in wanted:
            numbers.update(self._numbers_of_prefix(prefix))
        for content in self._contents(sorted(numbers)):
            for key, value in content:
                nearest = bisect_right(wanted, key) - 1
                if nearest >= 0 and key.startswith(wanted[nearest]):
                    yield key, value

    def _numbers_of_prefix(self, prefix: bytes) -> range:
        first = max(0, bisect_right(self._first_keys, prefix) - 1)
        end = bisect_left(self._first_keys, True, lo=first, key=lambda key: key[: len(prefix)] > prefix)
        return range(first, end)

    def _contents(self, numbers: Iterable[int]) -> Iterator[Iterator[tuple[bytes, bytes]]]:
        """The entries of each of these data blocks."""
        for block, content in self._decoded([self._blocks[number] for number in numbers], DATA_MAGIC):
            yield decode_entries(content, f"{self._name}, in the data block at byte {block.offset}")

    def _decoded(self, blocks: Sequence[BlockPlace], magic: bytes) -> Iterator[tuple[BlockPlace, bytes]]:
        for run in _runs(blocks):
            start = run[0].offset
            data = self._bytes(start, run[-1].end)
            for block in run:
                raw = data[block.offset - start : block.end - start]
                cursor = ByteCursor(raw, self._name, block.offset)
                content = decode_block(cursor, magic, self._trailer.codec)
                if cursor.remaining:
                    raise cursor.damaged("a block shorter than its index says")
                yield block, content

    def _load_on_open(self) -> tuple[list[BlockPlace], Mapping[str, bytes]]:
        """The root of the data index, and the file info."""
        trailer, name = self._trailer, self._name
        start = trailer.load_on_open_offset
        cursor = ByteCursor(self._bytes(start, self._size - TRAILER_SIZE), name, start)
        index = ByteCursor(decode_block(cursor, ROOT_INDEX_MAGIC, trailer.codec), f"{name}, in its root index")
        root = decode_root_index(index, trailer.data_blocks, trailer.index_levels)
        decode_block(cursor, ROOT_INDEX_MAGIC, trailer.codec)
        if start + cursor.position != trailer.file_info_offset:
            raise cursor.damaged(f"no file info, which is announced at {trailer.file_info_offset},")
        content = decode_block(cursor, FILE_INFO_MAGIC, trailer.codec)
        inside = f"{name}, in its file info"
        info = decode_file_info(ByteCursor(content, inside), inside)
        if info.get("MAX_MEMSTORE_TS_KEY", _NO_VERSIONS) != _NO_VERSIONS:
            raise Unsupported(f"{name}: an HFile with row versions (MVCC) is unknown to pyhudi; Hudi writes none.")
        return root, MappingProxyType(info)

    def _data_blocks(self, places: list[BlockPlace]) -> list[BlockPlace]:
        """The places of all data blocks, from the root of the index through its lower levels."""
        self._check(places)
        for level in range(self._trailer.index_levels - 1, 0, -1):
            magic = LEAF_INDEX_MAGIC if level == 1 else INTERMEDIATE_INDEX_MAGIC
            lower: list[BlockPlace] = []
            for block, content in self._decoded(places, magic):
                inside = f"{self._name}, in the index block at byte {block.offset}"
                lower.extend(decode_lower_index(ByteCursor(content, inside)))
                if len(lower) * HEADER_SIZE > self._size:
                    raise damaged(self._name, block.offset, "an index of more blocks than the file can hold")
            places = lower
            self._check(places)
        return places

    def _check(self, places: Sequence[BlockPlace]) -> None:
        """Blocks lie in the file, one behind the other, in key order."""
        end = self._size - TRAILER_SIZE
        for place in places:
            if not 0 <= place.offset <= end or not HEADER_SIZE <= place.size <= min(LARGEST_BLOCK, end - place.offset):
                raise damaged(self._name, place.offset, f"an index entry that points outside ({place.size} bytes)")
        for before, after in pairwise(places):
            if before.end > after.offset or before.first_key > after.first_key:
                raise damaged(self._name, after.offset, "an index whose blocks overlap or are out of order")

    def _bytes(self, start: int, end: int) -> memoryview:
        """Bytes of the file: from the tail in memory where it has them."""
        if start >= self._tail_start:
            return self._tail[start - self._tail_start : end - self._tail_start]
        if end <= self._tail_start:
            return memoryview(self._fetched(start, end))
        head = self._fetched(start, self._tail_start)
        return memoryview(head + bytes(self._tail[: end - self._tail_start]))

    def _fetched(self, start: int, end: int) -> bytes:
        data = self._read(start, end - start)
        if len(data) != end - start:
            raise damaged(self._name, start, f"{len(data)} bytes where {end - start} must be")
        return data


def _runs(blocks: Sequence[BlockPlace]) -> Iterator[list[BlockPlace]]:
    """Blocks that stand side by side, in runs of a few megabytes: each run is one read."""
    run: list[BlockPlace] = []
    for block in blocks:
        if run and (block.offset != run[-1].end or block.end - run[0].offset > _LONGEST_READ):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def _without_covered(prefixes: Iterable[bytes]) -> list[bytes]:
    """The prefixes in order, without those that a shorter one covers."""
    kept: list[bytes] = []
    for prefix in sorted(set(prefixes)):
        if not kept or not prefix.startswith(kept[-1]):
            kept.append(prefix)
    return kept
