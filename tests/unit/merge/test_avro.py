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

from pyhudi.errors import CorruptTable, HudiError, SchemaMismatch
from pyhudi.merge.arrow_schema import arrow_of, avro_of
from pyhudi.merge.avro import decode_records, encode_records

JAVA = json.loads((Path(__file__).parents[2] / "golden" / "merge" / "java_blocks.json").read_text())

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-70, 70), st.sampled_from([-(2**63), 2**63 - 1]))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)

# Avro type -> values as fastavro takes them when the logical type is left off
PLAIN: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ("boolean", st.booleans()),
    ("int", INT32),
    ("long", INT64),
    ("float", st.floats(width=32)),
    ("double", st.floats()),
    ("string", TEXT),
    ("bytes", st.binary(max_size=40)),
    ({"type": "int", "logicalType": "date"}, INT32),
    ({"type": "long", "logicalType": "timestamp-millis"}, INT64),
    ({"type": "long", "logicalType": "timestamp-micros"}, INT64),
    ({"type": "long", "logicalType": "local-timestamp-millis"}, INT64),
    ({"type": "long", "logicalType": "local-timestamp-micros"}, INT64),
    ({"type": "long", "logicalType": "time-micros"}, st.integers(0, 86_399_999_999)),
]


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """A schema, the same without logical types, and rows."""
    columns = draw(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=6))
    fields, bare, values = [], [], {}
    for i, (avro, strategy) in enumerate(columns):
        shape = draw(st.sampled_from(["plain", "null first", "null last"]))
        basic = avro["type"] if isinstance(avro, dict) else avro
        wrap = {"plain": lambda t: t, "null first": lambda t: ["null", t], "null last": lambda t: [t, "null"]}[shape]
        fields.append({"name": f"c{i}", "type": wrap(avro)})
        bare.append({"name": f"c{i}", "type": wrap(basic)})
        values[f"c{i}"] = strategy if shape == "plain" else st.one_of(st.none(), strategy)
    rows = draw(st.lists(st.fixed_dictionaries(values), max_size=40))
    head = {"type": "record", "name": "r", "namespace": "n"}
    return {**head, "fields": fields}, {**head, "fields": bare}, rows


def framed(schema: dict[str, Any], rows: list[dict[str, Any]]) -> bytes:
    parsed, out = fastavro.parse_schema(schema), b""
    for row in rows:
        datum = io.BytesIO()
        fastavro.schemaless_writer(datum, parsed, row)
        out += struct.pack(">i", len(datum.getvalue())) + datum.getvalue()
    return out


def arrow_rows(schema: dict[str, Any], rows: list[dict[str, Any]]) -> pa.Table:
    target = arrow_of(schema)
    bare = {"int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64()}
    arrays = []
    for field, avro in zip(target, schema["fields"], strict=True):
        leaf = avro["type"] if not isinstance(avro["type"], list) else next(t for t in avro["type"] if t != "null")
        kind = bare.get(leaf["type"] if isinstance(leaf, dict) else leaf, field.type)
        arrays.append(pa.array([row[field.name] for row in rows], kind).view(field.type))
    return pa.table(arrays, schema=target)


@settings(deadline=None, max_examples=200)
@given(tables())
def test_every_flat_type_is_encoded_as_fastavro_does_and_read_back(
    case: tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]],
) -> None:
    schema, bare, rows = case
    expected = framed(bare, rows)
    table = arrow_rows(schema, rows)
    assert encode_records(table, schema) == expected
    decoded = decode_records(memoryview(expected), len(rows), schema)
    decoded.validate(full=True)
    assert decoded.schema == table.schema
    # byte equality also tells NaN and -0.0 apart, which comparing values would not
    assert encode_records(decoded, schema) == expected


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.one_of(st.none(), st.decimals(-(10**9), 10**9, places=3)), max_size=40),
    st.sampled_from(["fixed", "bytes"]),
    st.booleans(),
)
def test_decimals_survive_both_ways(values: list[Decimal | None], physical: str, widest: bool) -> None:
    precision = 38 if widest else 13
    decimal = {"type": physical, "logicalType": "decimal", "precision": precision, "scale": 3}
    if physical == "fixed":
        decimal |= {"name": "fixed", "size": 16 if widest else 6}
    schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": ["null", decimal]}]}
    rows = [{"x": value} for value in values]
    table = pa.table({"x": pa.array(values, pa.decimal128(precision, 3))})
    assert decode_records(framed(schema, rows), len(rows), schema).column("x").to_pylist() == values
    ours, at = encode_records(table, schema), 0
    for row in rows:
        (length,) = struct.unpack_from(">i", ours, at)
        datum = io.BytesIO(ours[at + 4 : at + 4 + length])
        assert fastavro.schemaless_reader(datum, fastavro.parse_schema(schema), None) == row
        at += 4 + length


def test_bytes_decimals_take_as_few_bytes_as_javas_big_integer() -> None:
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 0}
    schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": decimal}]}
    numbers = [0, -1, 127, 128, -128, -129, 10**38 - 1, -(10**38) + 1]
    table = pa.table({"x": pa.array([Decimal(n) for n in numbers], pa.decimal128(38, 0))})
    expected = b""
    for n in numbers:
        size = next(s for s in range(1, 17) if -(2 ** (8 * s - 1)) <= n < 2 ** (8 * s - 1))
        expected += struct.pack(">i", size + 1) + bytes([2 * size]) + n.to_bytes(size, "big", signed=True)
    assert encode_records(table, schema) == expected
    assert [int(v) for v in decode_records(expected, len(numbers), schema).column(0).to_pylist()] == numbers


@pytest.mark.parametrize("case", JAVA, ids=[case["type"] for case in JAVA])
def test_records_that_java_wrote_are_read_and_written_alike(case: dict[str, Any]) -> None:
    for block in case["records"]:
        content, schema = bytes.fromhex(block["content"]), json.loads(block["schema"])
        version, count = struct.unpack_from(">ii", content)
        assert version == 3
        rows = decode_records(content[8:], count, schema)
        assert rows.column("id").to_pylist() in (["2"], ["3"])
        assert (rows.column("ts").to_pylist() == [None]) == (rows.column("id").to_pylist() == ["3"])
        assert encode_records(rows, schema) == content[8:]


@pytest.mark.parametrize("case", JAVA, ids=[case["type"] for case in JAVA])
def test_the_schema_of_a_java_log_block_is_the_one_that_its_columns_give(case: dict[str, Any]) -> None:
    for block in case["records"]:
        schema = json.loads(block["schema"])
        again = avro_of(arrow_of(schema), schema["name"], schema["namespace"])
        assert json.dumps(again, separators=(",", ":")) == block["schema"]


def sample() -> tuple[dict[str, Any], bytes, int]:
    table = pa.table(
        {
            "s": ["", "abc", None, "ä" * 70],
            "i": pa.array([1, None, -(2**31), 2**31 - 1], pa.int32()),
            "d": [0.5, None, 1e300, -1.0],
            "b": [True, False, None, True],
            "x": pa.array([Decimal("1.5"), None, Decimal("-1.5"), Decimal(0)], pa.decimal128(9, 2)),
        }
    )
    schema = avro_of(table.schema, "r", "n")
    return schema, encode_records(table, schema), table.num_rows


def test_a_block_cut_anywhere_is_corrupt() -> None:
    schema, data, count = sample()
    for size in range(len(data)):
        with pytest.raises(CorruptTable, match=r"some\.log"):
            decode_records(data[:size], count, schema, "some.log")


def test_a_flipped_byte_is_an_error_of_ours_or_other_values_but_nothing_else() -> None:
    schema, data, count = sample()
    for at in range(len(data)):
        for mask in (0x01, 0x02, 0x40, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[at] ^= mask
            try:
                decode_records(bytes(damaged), count, schema).validate(full=True)
            except HudiError as problem:
                assert isinstance(problem, CorruptTable)


@pytest.mark.parametrize("count", [-1, 0, 3, 5, 2**31 - 1])
def test_a_wrong_count_is_corrupt(count: int) -> None:
    schema, data, _ = sample()
    with pytest.raises(CorruptTable):
        decode_records(data, count, schema)


def test_an_int_beyond_32_bits_is_corrupt() -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": "int"}]}
    wide = {"type": "record", "name": "r", "fields": [{"name": "x", "type": "long"}]}
    with pytest.raises(CorruptTable, match="'x'"):
        decode_records(framed(wide, [{"x": 2**31}]), 1, schema)


def test_columns_are_taken_by_name_and_widened() -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "b", "type": "long"}, {"name": "a", "type": "string"}]}
    rows = pa.table({"a": ["x"], "other": [0.5], "b": pa.array([7], pa.int8())})
    assert encode_records(rows, schema) == framed(schema, [{"b": 7, "a": "x"}])


def test_a_missing_column_is_a_mismatch() -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "b", "type": ["null", "long"]}]}
    with pytest.raises(SchemaMismatch, match="'b'"):
        encode_records(pa.table({"a": [1]}), schema)


def test_slices_and_chunks_of_a_table_encode_as_the_whole() -> None:
    count = 40_000
    rows = pa.table({"k": [f"key-{i}" for i in range(count)], "n": [i if i % 7 else None for i in range(count)]})
    schema = avro_of(rows.schema, "r", "n")
    whole = encode_records(rows, schema)
    pieces = [rows.slice(start, 12_345) for start in range(0, count, 12_345)]
    assert b"".join(encode_records(piece, schema) for piece in pieces) == whole
    assert encode_records(pa.concat_tables(pieces), schema) == whole
    assert pa.Table.from_batches([decode_records(whole, count, schema)]).equals(rows)
