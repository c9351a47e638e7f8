import datetime
import io
import json
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.errors import CorruptTable, HudiError, Unsupported
from pyhudi.merge.deletes import decode_deletes, encode_deletes

GOLDEN = Path(__file__).parents[2] / "golden" / "merge"
JAVA = {case["type"]: case for case in json.loads((GOLDEN / "java_blocks.json").read_text())}
SCHEMA = fastavro.parse_schema(json.loads((GOLDEN / "HoodieDeleteRecordList.avsc").read_text()))

# the ordering value of the second delete in each golden block, as a column of the table would hold it
STEP_2 = {
    "int": pa.array([8], pa.int32()),
    "smallint": pa.array([8], pa.int32()),
    "bigint": pa.array([8], pa.int64()),
    "float": pa.array([2.5], pa.float32()),
    "double": pa.array([2.5], pa.float64()),
    "boolean": pa.array([True]),
    "string": pa.array(["b"]),
    "binary": pa.array([b"b"]),
    "decimal_10_2": pa.array([Decimal("2.25")], pa.decimal128(10, 2)),
    "decimal_38_10": pa.array([Decimal("2.25")], pa.decimal128(38, 10)),
    "timestamp": pa.array([datetime.datetime(2024, 1, 2, 0, 0, 0, 123456)], pa.timestamp("us", "UTC")),
    "timestamp_ntz": pa.array([datetime.datetime(2024, 1, 2)], pa.timestamp("us")),
}


@pytest.mark.parametrize("kind", STEP_2)
def test_delete_blocks_that_java_wrote_are_written_alike_and_read(kind: str) -> None:
    plain, ordered = (bytes.fromhex(text) for text in JAVA[kind]["deletes"])
    assert encode_deletes(pa.array(["0"]), "", None) == plain
    assert encode_deletes(pa.array(["1"]), "", STEP_2[kind]) == ordered
    first, second = decode_deletes(plain, "a"), decode_deletes(ordered, "b")
    assert (first.keys.to_pylist(), first.is_default.tolist()) == (["0"], [True])
    assert (second.keys.to_pylist(), second.is_default.tolist()) == (["1"], [False])
    held = second.ordering
    if pa.types.is_timestamp(STEP_2[kind].type):
        assert held.type == pa.int64()
        held = held.cast(STEP_2[kind].type)
    assert held.to_pylist() == STEP_2[kind].to_pylist()


def test_the_block_of_hudi_0_15_in_the_fact_sheet_is_read() -> None:
    content = bytes.fromhex("00000003 0000000c 0202046b32 02047030 040000".replace(" ", ""))
    assert decode_deletes(content, "x").keys.to_pylist() == ["k2"]
    assert encode_deletes(pa.array(["k2"]), "p0", None) == content


def test_dates_travel_as_ints_because_that_is_what_hudi_compares_them_with() -> None:
    content = encode_deletes(pa.array(["k"]), "", pa.array([19724], pa.date32()))
    assert entries(content)[0]["orderingVal"] == {"value": 19724}
    assert decode_deletes(content, "x").ordering.to_pylist() == [19724]


ORDERINGS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int32(), st.integers(-(2**31), 2**31 - 1).filter(bool)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.string(), st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
    (pa.binary(), st.binary(max_size=20)),
    (pa.bool_(), st.booleans()),
    (pa.decimal128(30, 15), st.decimals(-(10**14), 10**14, places=15)),
]


@settings(deadline=None, max_examples=150)
@given(st.data(), st.sampled_from(ORDERINGS), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_every_ordering_type_with_and_without_values_comes_back_and_is_what_avro_reads(
    data: st.DataObject, case: tuple[pa.DataType, st.SearchStrategy[Any]], path: str
) -> None:
    kind, strategy = case
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=90)
    rows = data.draw(st.lists(st.tuples(text, st.one_of(st.none(), strategy)), max_size=30))
    keys, values = [key for key, _ in rows], [value for _, value in rows]
    content = encode_deletes(pa.array(keys, pa.string()), path, pa.array(values, kind))
    back = decode_deletes(content, "x")
    assert back.keys.to_pylist() == keys
    assert back.is_default.tolist() == [value is None for value in values]
    if any(value is not None for value in values):
        assert back.ordering.type == kind
    assert back.ordering.to_pylist() == values
    read = entries(content)
    assert [(e["recordKey"], e["partitionPath"]) for e in read] == [(key, path) for key in keys]
    assert [e["orderingVal"]["value"] for e in read] == [0 if value is None else value for value in values]


def entries(content: bytes) -> list[dict[str, Any]]:
    read: Any = fastavro.schemaless_reader(io.BytesIO(content[8:]), SCHEMA, None)
    return list(read["deleteRecordList"])


def written(*entries: tuple[str, Any]) -> bytes:
    """What Avro writes for entries of mixed kinds; an ordering value is (wrapper, value) or None."""
    items = [
        {
            "recordKey": key,
            "partitionPath": None,
            "orderingVal": None if held is None else (f"org.apache.hudi.avro.model.{held[0]}", {"value": held[1]}),
        }
        for key, held in entries
    ]
    payload = io.BytesIO()
    fastavro.schemaless_writer(payload, SCHEMA, {"deleteRecordList": items})
    return struct.pack(">ii", 3, len(payload.getvalue())) + payload.getvalue()


def test_entries_of_several_kinds_keep_their_order() -> None:
    content = written(("a", ("IntWrapper", 0)), ("b", ("LongWrapper", -5)), ("c", None), ("d", ("LongWrapper", 0)))
    back = decode_deletes(content, "x")
    assert back.keys.to_pylist() == ["a", "b", "c", "d"]
    assert back.ordering.type == pa.int64()
    assert back.ordering.to_pylist() == [None, -5, None, 0]
    assert back.is_default.tolist() == [True, False, True, False]


def test_ints_among_longs_are_widened() -> None:
    back = decode_deletes(written(("a", ("IntWrapper", 7)), ("b", ("LongWrapper", 2**40))), "x")
    assert back.ordering.to_pylist() == [7, 2**40]


@pytest.mark.parametrize(
    ("wrapper", "value", "kind"),
    [
        ("DateWrapper", 5, pa.date32()),
        ("TimestampMicrosWrapper", 5, pa.timestamp("us", "UTC")),
        ("TimeMicrosWrapper", 5, pa.time64("us")),
    ],
)
def test_wrappers_named_after_times_are_read_too(wrapper: str, value: int, kind: pa.DataType) -> None:
    back = decode_deletes(written(("a", (wrapper, value))), "x")
    assert back.ordering.type == kind
    assert back.ordering.cast(pa.int32() if kind == pa.date32() else pa.int64()).to_pylist() == [value]


def test_kinds_that_do_not_compare_are_refused() -> None:
    with pytest.raises(Unsupported, match="string"):
        decode_deletes(written(("a", ("StringWrapper", "x")), ("b", ("LongWrapper", 1))), "some.log")


def test_several_ordering_fields_are_refused_by_name() -> None:
    item = {"recordKey": "a", "partitionPath": "", "orderingVal": {"wrappedValues": None}}
    payload = io.BytesIO()
    fastavro.schemaless_writer(payload, SCHEMA, {"deleteRecordList": [item]})
    with pytest.raises(Unsupported, match="several ordering fields"):
        decode_deletes(struct.pack(">ii", 3, len(payload.getvalue())) + payload.getvalue(), "some.log")


@pytest.mark.parametrize("version", [1, 2, 4])
def test_other_versions_are_refused(version: int) -> None:
    with pytest.raises(Unsupported, match=f"version {version}"):
        decode_deletes(struct.pack(">ii", version, 0), "some.log")


def test_an_entry_without_a_key_is_corrupt() -> None:
    with pytest.raises(CorruptTable, match="no record key"):
        decode_deletes(struct.pack(">ii", 3, 5) + bytes([2, 0, 0, 0, 0]), "some.log")


def test_a_decimal_beyond_the_blocks_digits_is_refused() -> None:
    with pytest.raises(Unsupported, match="decimal128"):
        encode_deletes(pa.array(["a"]), "", pa.array([Decimal(10**20)], pa.decimal128(38, 0)))


def test_a_damaged_block_is_an_error_of_ours_or_other_values_but_nothing_else() -> None:
    content = encode_deletes(pa.array(["key-1", "key-2", "ä" * 70]), "p=1", pa.array([1, None, 2**40]))
    for size in range(len(content)):
        with pytest.raises(CorruptTable, match=r"some\.log"):
            decode_deletes(content[:size], "some.log")
    for at in range(len(content)):
        for mask in (0x01, 0x02, 0x40, 0x80, 0xFF):
            damaged = bytearray(content)
            damaged[at] ^= mask
            try:
                decode_deletes(bytes(damaged), "some.log")
            except HudiError as problem:
                assert isinstance(problem, CorruptTable | Unsupported)
