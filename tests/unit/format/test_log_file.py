"""Log blocks: real ones read and written again byte for byte, torn and damaged ones named."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.errors import CorruptTable, InternalError, Unsupported
from pyhudi.format.hfile import HFileReader
from pyhudi.format.log_file import (
    BlockKind,
    Header,
    LogBlock,
    frame_records,
    read_blocks,
    record_frames,
    write_block,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "bytes" / "log"
POSITIONS = {
    Header.INSTANT_TIME,
    Header.SCHEMA,
    Header.RECORD_POSITIONS,
    Header.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS,
}
KINDS = {
    "v6_rollback_command.log": BlockKind.COMMAND,
    "v9_avro.log": BlockKind.AVRO_DATA,
    "v9_cdc.log": BlockKind.CDC_DATA,
    "v9_delete.log": BlockKind.DELETE,
    "v9_metadata_hfile.log": BlockKind.HFILE_DATA,
    "v9_parquet.log": BlockKind.PARQUET_DATA,
    "v9_partial.log": BlockKind.AVRO_DATA,
}


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def only_block(name: str) -> LogBlock:
    (block,) = read_blocks(golden(name), name)
    return block


def three_blocks() -> bytes:
    return golden("v9_avro.log") + golden("v9_delete.log") + golden("v6_rollback_command.log")


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_a_block_by_java_has_its_kind_and_fills_its_file(name: str, kind: BlockKind) -> None:
    block = only_block(name)
    assert (block.kind, block.offset, block.length) == (kind, 0, len(golden(name)))


@pytest.mark.parametrize("name", KINDS)
def test_a_block_written_again_is_the_same_block(name: str) -> None:
    block = only_block(name)
    ours = write_block(block.kind, block.headers, bytes(block.content))
    (again,) = read_blocks(ours, name)
    assert again == block


def test_the_rollback_block_is_written_byte_for_byte_as_java_did_up_to_the_order_of_headers() -> None:
    block = only_block("v6_rollback_command.log")
    assert block.headers[Header.COMMAND_BLOCK_TYPE] == "0"
    assert set(block.headers) == {Header.INSTANT_TIME, Header.TARGET_INSTANT_TIME, Header.COMMAND_BLOCK_TYPE}
    ours = write_block(block.kind, block.headers, b"")
    assert sorted(ours) == sorted(golden("v6_rollback_command.log"))
    assert ours[:26] == golden("v6_rollback_command.log")[:26]


def test_headers_of_positions_and_partial_records() -> None:
    assert set(only_block("v9_avro.log").headers) == POSITIONS
    assert set(only_block("v9_delete.log").headers) == POSITIONS
    partial = only_block("v9_partial.log").headers
    assert partial[Header.IS_PARTIAL] == "true"


def test_record_frames_of_a_real_block() -> None:
    content = only_block("v9_avro.log").content
    count, frames = record_frames(content)
    lengths, position = [], 0
    while position < len(frames):
        lengths.append(int.from_bytes(frames[position : position + 4], "big"))
        position += 4 + lengths[-1]
    assert len(lengths) == count == 2
    assert position == len(frames)
    assert frame_records(count, bytes(frames)) == content


def test_an_hfile_in_a_log_block_reads_in_place() -> None:
    reader = HFileReader.of_bytes(bytes(only_block("v9_metadata_hfile.log").content), "log")
    assert len(list(reader.scan())) == reader.entry_count > 0


def test_blocks_come_in_file_order() -> None:
    blocks = list(read_blocks(three_blocks(), "f"))
    assert [block.kind for block in blocks] == [BlockKind.AVRO_DATA, BlockKind.DELETE, BlockKind.COMMAND]
    assert [block.offset for block in blocks] == [0, 1188, 1188 + 960]


def test_an_empty_file_has_no_blocks() -> None:
    assert list(read_blocks(b"", "f")) == []


def test_a_file_cut_anywhere_keeps_its_whole_blocks_and_names_the_torn_one() -> None:
    data = three_blocks()
    whole = list(read_blocks(data, "f"))
    ends = {block.offset + block.length for block in whole}
    for end in range(1, len(data)):
        blocks = list(read_blocks(data[:end], "f"))
        kept = [block for block in whole if block.offset + block.length <= end]
        assert blocks[: len(kept)] == kept
        torn = blocks[len(kept) :]
        assert bool(torn) is (end not in ends)
        assert {block.kind for block in torn} <= {BlockKind.CORRUPT}
        assert sum(block.length for block in blocks) == end


def test_blocks_after_a_torn_block_are_found_again() -> None:
    data = golden("v9_avro.log")[:700] + golden("v9_delete.log")
    torn, delete = read_blocks(data, "f")
    assert (torn.kind, torn.offset, torn.length, len(torn.content)) == (BlockKind.CORRUPT, 0, 700, 0)
    assert (delete.kind, delete.offset) == (BlockKind.DELETE, 700)


def test_bytes_that_are_no_block_do_not_take_the_whole_block_before_them() -> None:
    blocks = list(read_blocks(golden("v9_delete.log") + bytes(20) + golden("v9_avro.log"), "f"))
    assert [block.kind for block in blocks] == [BlockKind.DELETE, BlockKind.CORRUPT, BlockKind.AVRO_DATA]


def test_the_magic_inside_a_payload_is_payload() -> None:
    content = b"#HUDI#" + golden("v9_avro.log") + b"#HUDI#"
    data = write_block(BlockKind.AVRO_DATA, {Header.INSTANT_TIME: "#HUDI#"}, content) * 2
    assert [bytes(block.content) for block in read_blocks(data, "f")] == [content, content]


@pytest.mark.parametrize("mask", [0x01, 0xFF])
def test_a_flipped_byte_never_escapes_and_never_moves_the_other_blocks(mask: int) -> None:
    data = three_blocks()
    first, _, last = read_blocks(data, "f")
    named = 0
    for place in range(first.length, last.offset):
        flipped = bytearray(data)
        flipped[place] ^= mask
        try:
            blocks = list(read_blocks(bytes(flipped), "f"))
        except Unsupported:
            named += 1
            continue
        assert sum(block.length for block in blocks) == len(data)
        assert blocks[0] == first
        assert blocks[-1] == last
        named += any(block.kind is BlockKind.CORRUPT for block in blocks)
    assert named > 40


def with_int(data: bytes, place: int, value: int) -> bytes:
    return data[:place] + value.to_bytes(4, "big") + data[place + 4 :]


@pytest.mark.parametrize(
    ("place", "value", "shown"),
    [(14, 2, "version 2"), (14, 0, "version 0"), (18, 7, "kind 7"), (18, 2, "kind 2"), (26, 9, "header 9")],
)
def test_what_is_unknown_is_refused_by_name(place: int, value: int, shown: str) -> None:
    with pytest.raises(Unsupported, match=f"new.log: .*{shown}"):
        list(read_blocks(with_int(golden("v9_avro.log"), place, value), "new.log"))


def test_footers_are_refused_by_name() -> None:
    data = golden("v9_avro.log")
    with pytest.raises(Unsupported, match="footers"):
        list(read_blocks(with_int(data, len(data) - 12, 1), "f"))


@pytest.mark.parametrize("place", [22, 30, 40])
def test_a_block_whose_inside_contradicts_its_length_is_corrupt(place: int) -> None:
    (block,) = read_blocks(with_int(golden("v9_avro.log"), place, 0x7FFFFFFF), "f")
    assert (block.kind, block.length) == (BlockKind.CORRUPT, 1188)


@given(
    st.sampled_from([kind for kind in BlockKind if kind is not BlockKind.CORRUPT]),
    st.dictionaries(st.sampled_from(list(Header)), st.text(max_size=30)),
    st.binary(max_size=300),
)
@settings(max_examples=100, deadline=None)
def test_any_block_survives(kind: BlockKind, headers: dict[Header, str], content: bytes) -> None:
    (block,) = read_blocks(write_block(kind, headers, content), "f")
    assert (block.kind, block.headers, bytes(block.content)) == (kind, headers, content)


def test_a_corrupt_block_is_never_written() -> None:
    with pytest.raises(InternalError):
        write_block(BlockKind.CORRUPT, {}, b"")


def test_record_frames_refuse_other_versions_and_impossible_counts() -> None:
    assert record_frames(frame_records(0, b"")) == (0, memoryview(b""))
    with pytest.raises(Unsupported, match="version 4"):
        record_frames(b"\x00\x00\x00\x04" + bytes(4), "f")
    with pytest.raises(CorruptTable, match="5 records"):
        record_frames(frame_records(5, bytes(19)), "f")
    with pytest.raises(CorruptTable):
        record_frames(b"\x00\x00\x00\x03", "f")
