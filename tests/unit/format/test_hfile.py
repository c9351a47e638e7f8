"""HFiles: real ones read, written ones read back, damaged ones refused."""

import contextlib
import gzip
import hashlib
import json
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from isal import isal_zlib

from pyhudi.errors import CorruptTable, InternalError, Unsupported
from pyhudi.format.bloom import DYNAMIC, BloomFilter
from pyhudi.format.cursor import ByteCursor
from pyhudi.format.hfile import HFileReader, write_hfile
from pyhudi.format.hfile.block import DATA_MAGIC, META_MAGIC, Codec, decode_block, encode_block
from pyhudi.format.hfile.wire import read_hadoop_int, read_varint, write_hadoop_int, write_varint

GOLDEN = Path(__file__).parents[2] / "golden" / "bytes" / "hfile"
SCHEMA = '{"type":"string"}'
THOUSANDS = [(b"key%05d" % number, b"value%d" % number) for number in range(20000)]

Entries = list[tuple[bytes, bytes]]


def golden(name: str) -> bytes:
    data = (GOLDEN / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


def opened(name: str) -> HFileReader:
    return HFileReader.of_bytes(golden(name), name)


def written(entries: Entries, *, block_size: int = 65536, compress: bool = True, bloom: bool = False) -> bytes:
    return write_hfile(entries, SCHEMA, created_ms=7, block_size=block_size, compress=compress, bloom=bloom)


class CountedReads:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.calls: list[tuple[int, int]] = []

    def __call__(self, offset: int, length: int) -> bytes:
        self.calls.append((offset, length))
        return self.data[offset : offset + length]


@pytest.mark.parametrize(
    ("name", "entries", "digest"),
    [
        ("hudi_1_2_files.hfile", 1, "c995a659"),
        ("hudi_1_2_column_stats.hfile", 30, "f5f35e38"),
        ("hudi_0_15_files.hfile", 1, "5b7827f3"),
        ("hudi_1_2_plain.hfile", 5, "12e1d3b6"),
        ("hbase_empty.hfile", 0, "e3b0c442"),
        ("hbase_three_levels.hfile.gz", 10000, "d66633ef"),
        ("hbase_fake_first_keys.hfile.gz", 20000, "b117dec8"),
    ],
)
def test_a_file_by_java_reads_as_java_reads_it(name: str, entries: int, digest: str) -> None:
    reader = opened(name)
    rows = list(reader.scan())
    assert len(rows) == reader.entry_count == entries
    assert [key for key, _ in rows] == sorted({key for key, _ in rows})
    assert hashlib.sha256(b"".join(value for _, value in rows)).hexdigest()[:8] == digest


@pytest.mark.parametrize(
    "name", ["hudi_1_2_column_stats.hfile", "hbase_three_levels.hfile.gz", "hbase_fake_first_keys.hfile.gz"]
)
def test_lookup_finds_what_a_scan_finds_and_nothing_else(name: str) -> None:
    reader = opened(name)
    rows = dict(reader.scan())
    some = [*list(rows)[:: max(1, len(rows) // 50)], list(rows)[-1]]
    assert reader.lookup(some) == {key: rows[key] for key in some}
    assert reader.lookup([b"", b"\xff" * 9, *(key + b"\x00" for key in some)]) == {}


@pytest.mark.parametrize("name", ["hudi_1_2_column_stats.hfile", "hbase_fake_first_keys.hfile.gz"])
def test_a_prefix_scan_equals_a_filtered_scan(name: str) -> None:
    reader = opened(name)
    rows = list(reader.scan())
    prefixes = {rows[0][0][:14], rows[len(rows) // 2][0][:16], rows[-1][0], rows[0][0][:15], b"nothing"}
    expected = [row for row in rows if row[0].startswith(tuple(prefixes))]
    assert list(reader.scan_prefixes(prefixes)) == expected
    assert list(reader.scan_prefixes([b""])) == rows
    assert list(reader.scan_prefixes([])) == []


def test_the_metadata_of_a_file_by_java() -> None:
    reader = opened("hudi_1_2_files.hfile")
    assert json.loads(reader.schema)["name"] == "HoodieMetadataRecord"
    assert reader.info["minRecordKey"] == reader.info["maxRecordKey"] == b"__all_partitions__"
    assert reader.info["bloomFilterTypeCode"] == b"DYNAMIC_V0"


def test_we_write_the_very_entries_that_java_wrote() -> None:
    java = golden("hudi_1_2_column_stats.hfile")
    entries = list(HFileReader.of_bytes(java, "java").scan())
    ours = written(entries)
    blocks = [decode_block(ByteCursor(data, "f"), DATA_MAGIC, Codec.GZ) for data in (java, ours)]
    assert blocks[0] == blocks[1]


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("bloom", [True, False])
@pytest.mark.parametrize("entries", [[], [(b"k", b"")], THOUSANDS, [(b"a", b"x" * 300_000), (b"b", b"y")]])
def test_what_is_written_reads_back(entries: Entries, bloom: bool, compress: bool) -> None:
    reader = HFileReader.of_bytes(written(entries, bloom=bloom, compress=compress), "f")
    assert list(reader.scan()) == entries
    assert reader.schema == SCHEMA
    assert ("bloomFilterTypeCode" in reader.info) is bloom
    assert reader.info["hfile.CREATE_TIME_TS"] == (7).to_bytes(8, "big")


def test_index_and_last_key_stand_in_the_full_form_that_every_reader_takes() -> None:
    suffix = b"\x00\x7f\xff\xff\xff\xff\xff\xff\xff\x04"
    data = written([(b"first", b"1"), (b"last", b"2")], compress=False)
    assert data.count(b"\x00\x05first" + suffix) == 2  # the entry, the index
    assert HFileReader.of_bytes(data, "f").info["hfile.LASTKEY"] == b"\x00\x04last" + suffix
    assert data.endswith(b"\x03\x00\x00\x03")
    assert "hfile.LASTKEY" not in HFileReader.of_bytes(written([]), "f").info


def test_the_bloom_filter_of_a_base_file_holds_its_keys() -> None:
    data = written([(b"k1", b""), (b"k2", b"")], bloom=True, compress=False)
    cursor = ByteCursor(data, "f")
    cursor.view(data.index(META_MAGIC))
    text = decode_block(cursor, META_MAGIC, Codec.NONE)
    bloom = BloomFilter.parse(text, DYNAMIC)
    assert bloom.entries == 10000
    assert bloom.in_last_row == 2


@given(
    st.dictionaries(st.binary(max_size=12), st.binary(max_size=200), max_size=60), st.integers(1, 300), st.booleans()
)
@settings(max_examples=60, deadline=None)
def test_any_keys_and_values_survive(rows: dict[bytes, bytes], block_size: int, compress: bool) -> None:
    entries = sorted(rows.items())
    reader = HFileReader.of_bytes(written(entries, block_size=block_size, compress=compress), "f")
    assert list(reader.scan()) == entries
    assert reader.lookup(rows) == rows
    for prefix in {key[:1] for key in rows}:
        assert list(reader.scan_prefixes([prefix])) == [row for row in entries if row[0].startswith(prefix)]


@pytest.mark.parametrize("keys", [[b"b", b"a"], [b"a", b"a"], [b"\xc3", b"z"]])
def test_keys_that_do_not_ascend_are_refused(keys: list[bytes]) -> None:
    with pytest.raises(InternalError, match="ascend"):
        written([(key, b"") for key in keys])


def test_blocks_that_java_would_read_short_are_refused() -> None:
    with pytest.raises(InternalError, match="block size"):
        written([], block_size=1 << 20)


def test_a_small_file_is_one_read() -> None:
    reads = CountedReads(golden("hudi_1_2_column_stats.hfile"))
    reader = HFileReader(reads, len(reads.data), "f")
    assert len(list(reader.scan())) == reader.entry_count
    assert reads.calls == [(0, len(reads.data))]


def test_a_large_file_is_read_at_its_tail_and_where_the_keys_are() -> None:
    reads = CountedReads(written(THOUSANDS, block_size=8192, compress=False))
    reader = HFileReader(reads, len(reads.data), "f")
    assert len(reads.calls) == 1
    reads.calls.clear()
    assert reader.lookup([b"key00001", b"key00002", b"key09000"]) == dict(THOUSANDS[1:3] + THOUSANDS[9000:9001])
    assert len(reads.calls) == 2
    assert all(length < 8300 for _, length in reads.calls)
    reads.calls.clear()
    assert list(reader.scan_prefixes([b"key01"])) == THOUSANDS[1000:2000]
    assert len(reads.calls) == 1
    reads.calls.clear()
    assert len(list(reader.scan())) == len(THOUSANDS)
    assert len(reads.calls) == 1


def test_a_key_before_the_first_block_needs_no_read() -> None:
    reads = CountedReads(written(THOUSANDS, compress=False))
    reader = HFileReader(reads, len(reads.data), "f")
    reads.calls.clear()
    assert reader.lookup([b"a"]) == {}
    assert reads.calls == []


def test_a_read_that_comes_back_short_is_an_error() -> None:
    data = golden("hudi_1_2_plain.hfile")
    with pytest.raises(CorruptTable, match="bytes where"):
        HFileReader(lambda offset, length: data[offset : offset + length - 1], len(data), "f")


@pytest.mark.parametrize("name", ["hudi_1_2_column_stats.hfile", "hudi_0_15_files.hfile", "hudi_1_2_plain.hfile"])
def test_a_file_cut_anywhere_is_refused_by_name(name: str) -> None:
    data = golden(name)
    for end in range(0, len(data), 29):
        with pytest.raises(CorruptTable, match=r"cut\.hfile"):
            HFileReader.of_bytes(data[:end], "cut.hfile")


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
@pytest.mark.parametrize("name", ["hudi_1_2_column_stats.hfile", "hudi_0_15_files.hfile", "hbase_empty.hfile"])
def test_a_flipped_byte_of_a_compressed_file_is_refused_or_harmless(name: str, mask: int) -> None:
    data = golden(name)
    right = list(HFileReader.of_bytes(data, name).scan())
    refused = []
    for place in range(0, len(data), 11):
        flipped = bytearray(data)
        flipped[place] ^= mask
        try:
            reader = HFileReader.of_bytes(bytes(flipped), name)
            assert list(reader.scan()) == right, f"byte {place}"
            assert reader.lookup([key for key, _ in right]) == dict(right), f"byte {place}"
        except (CorruptTable, Unsupported) as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert all(name in message for message in refused)


def test_a_flipped_byte_of_a_plain_file_never_escapes_as_another_error() -> None:
    data = golden("hudi_1_2_plain.hfile")
    for place in [*range(600), *range(600, len(data), 7), *range(len(data) - 4, len(data))]:
        flipped = bytearray(data)
        flipped[place] ^= 0xFF
        with contextlib.suppress(CorruptTable, Unsupported):
            assert len(list(HFileReader.of_bytes(bytes(flipped), "f").scan())) == 5


def test_a_block_that_unpacks_to_more_than_it_declares_is_stopped() -> None:
    block = bytearray(encode_block(DATA_MAGIC, bytes(50_000_000), Codec.GZ))
    block[12:16] = (100).to_bytes(4, "big")
    with pytest.raises(CorruptTable, match="unpack"):
        decode_block(ByteCursor(bytes(block), "f"), DATA_MAGIC, Codec.GZ)


def test_a_block_that_declares_more_than_the_limit_is_not_unpacked() -> None:
    block = bytearray(encode_block(DATA_MAGIC, b"x", Codec.GZ))
    block[12:16] = (0x7FFFFFFF).to_bytes(4, "big")
    with pytest.raises(CorruptTable, match="impossible"):
        decode_block(ByteCursor(bytes(block), "f"), DATA_MAGIC, Codec.GZ)


def test_compressed_blocks_are_gzip_members_that_zlib_takes() -> None:
    block = encode_block(DATA_MAGIC, b"content" * 99, Codec.GZ)
    assert zlib.decompress(block[33:-4], 31) == b"content" * 99
    assert isal_zlib.decompress(block[33:-4], 31) == b"content" * 99


@pytest.mark.parametrize(("codec", "shown"), [(0, "LZO"), (6, "ZSTD"), (9, "9")])
def test_another_compression_is_refused_by_name(codec: int, shown: str) -> None:
    data = bytearray(written([(b"k", b"v")]))
    place = data.index(b"HoodieHBaseKVComparator") + len(b"HoodieHBaseKVComparator")
    assert data[place : place + 2] == b"\x60\x01"
    data[place + 1] = codec
    with pytest.raises(Unsupported, match=shown):
        HFileReader.of_bytes(bytes(data), "f")


@given(st.integers(0, 2**63 - 1))
def test_numbers_survive_both_encodings(number: int) -> None:
    assert read_varint(ByteCursor(write_varint(number), "n")) == number
    assert read_hadoop_int(ByteCursor(write_hadoop_int(number), "n")) == number


def test_numbers_are_encoded_as_java_does() -> None:
    assert write_varint(300) == b"\xac\x02"
    assert write_varint(-1) == b"\xff" * 9 + b"\x01"
    assert [write_hadoop_int(number) for number in (127, 128, 32779)] == [b"\x7f", b"\x8f\x80", b"\x8e\x80\x0b"]
    with pytest.raises(CorruptTable):
        read_hadoop_int(ByteCursor(b"\xff", "n"))
    with pytest.raises(CorruptTable):
        read_varint(ByteCursor(b"\xff" * 11, "n"))
