import json
from decimal import Decimal

import pyarrow as pa
import pytest

from pyhudi.errors import SchemaMismatch, Unsupported
from pyhudi.merge.arrow_schema import META_FIELDS, arrow_of, avro_of, conform

ALL_TYPES = pa.schema(
    [
        ("id", pa.string()),
        ("b", pa.bool_()),
        ("i8", pa.int8()),
        ("i16", pa.int16()),
        ("i32", pa.int32()),
        ("i64", pa.int64()),
        ("f", pa.float32()),
        ("d", pa.float64()),
        ("dec9", pa.decimal128(9, 2)),
        ("dec18", pa.decimal128(18, 4)),
        ("dec38", pa.decimal128(38, 10)),
        ("bin", pa.binary()),
        ("dt", pa.date32()),
        ("tsv", pa.timestamp("us", "Europe/Vienna")),
        ("ntz", pa.timestamp("us")),
        pa.field("must", pa.int64(), nullable=False),
    ]
)

# extraMetadata.schema of a commit by Hudi 1.2.0; the last two fields as in its log blocks
HUDI = (
    '{"type":"record","name":"t_record","namespace":"hoodie.t","fields":['
    '{"name":"id","type":["null","string"],"default":null},'
    '{"name":"b","type":["null","boolean"],"default":null},'
    '{"name":"i8","type":["null","int"],"default":null},'
    '{"name":"i16","type":["null","int"],"default":null},'
    '{"name":"i32","type":["null","int"],"default":null},'
    '{"name":"i64","type":["null","long"],"default":null},'
    '{"name":"f","type":["null","float"],"default":null},'
    '{"name":"d","type":["null","double"],"default":null},'
    '{"name":"dec9","type":["null",{"type":"fixed","name":"fixed","namespace":"hoodie.t.t_record.dec9","size":4,'
    '"logicalType":"decimal","precision":9,"scale":2}],"default":null},'
    '{"name":"dec18","type":["null",{"type":"fixed","name":"fixed","namespace":"hoodie.t.t_record.dec18","size":8,'
    '"logicalType":"decimal","precision":18,"scale":4}],"default":null},'
    '{"name":"dec38","type":["null",{"type":"fixed","name":"fixed","namespace":"hoodie.t.t_record.dec38","size":16,'
    '"logicalType":"decimal","precision":38,"scale":10}],"default":null},'
    '{"name":"bin","type":["null","bytes"],"default":null},'
    '{"name":"dt","type":["null",{"type":"int","logicalType":"date"}],"default":null},'
    '{"name":"tsv","type":["null",{"type":"long","logicalType":"timestamp-micros"}],"default":null},'
    '{"name":"ntz","type":["null",{"type":"long","logicalType":"local-timestamp-micros"}],"default":null},'
    '{"name":"must","type":"long"}]}'
)


def test_a_schema_looks_as_hudi_on_spark_writes_it() -> None:
    assert json.dumps(avro_of(ALL_TYPES, "t_record", "hoodie.t"), separators=(",", ":")) == HUDI


def test_meta_columns_carry_the_empty_doc_of_hudi() -> None:
    first = avro_of(pa.schema(META_FIELDS), "t_record", "hoodie.t")["fields"][0]
    assert json.dumps(first, separators=(",", ":")) == (
        '{"name":"_hoodie_commit_time","type":["null","string"],"doc":"","default":null}'
    )


def test_a_schema_comes_back_in_the_stored_types() -> None:
    back = arrow_of(json.loads(HUDI))
    assert back.field("i8").type == pa.int32()
    assert back.field("tsv").type == pa.timestamp("us", "UTC")
    assert back.field("dec38").type == pa.decimal128(38, 10)
    assert (back.field("id").nullable, back.field("must").nullable) == (True, False)
    assert arrow_of(avro_of(back, "t_record", "hoodie.t")) == back


@pytest.mark.parametrize(
    ("accepted", "stored"),
    [
        (pa.uint16(), pa.int32()),
        (pa.uint32(), pa.int64()),
        (pa.large_string(), pa.string()),
        (pa.string_view(), pa.string()),
        (pa.dictionary(pa.int32(), pa.string()), pa.string()),
        (pa.timestamp("s", "UTC"), pa.timestamp("us", "UTC")),
        (pa.timestamp("ms"), pa.timestamp("ms")),
        (pa.time32("ms"), pa.time64("us")),
        (pa.decimal256(38, 3), pa.decimal128(38, 3)),
    ],
)
def test_types_that_fit_a_wider_one_are_stored_in_it(accepted: pa.DataType, stored: pa.DataType) -> None:
    rows = pa.table({"x": pa.nulls(2, accepted)})
    back = arrow_of(avro_of(rows.schema, "r", "n"))
    assert back.field("x").type == stored
    assert conform(rows, back).schema == back


@pytest.mark.parametrize(
    "refused", [pa.uint64(), pa.timestamp("ns"), pa.decimal256(50, 3), pa.list_(pa.int32()), pa.null(), pa.time64("ns")]
)
def test_types_that_would_lose_something_are_refused_with_the_columns_name(refused: pa.DataType) -> None:
    with pytest.raises(Unsupported, match="'price'"):
        avro_of(pa.schema([("price", refused)]), "r", "n")


def test_a_name_that_avro_does_not_allow_is_refused() -> None:
    with pytest.raises(Unsupported, match="unit price"):
        avro_of(pa.schema([("unit price", pa.int32())]), "r", "n")


@pytest.mark.parametrize(
    "avro",
    [
        ["null", "int", "string"],
        {"type": "array", "items": "int"},
        {"type": "string", "logicalType": "uuid"},
        {"type": "bytes", "logicalType": "decimal", "precision": 60, "scale": 2},
        {"type": "fixed", "name": "f", "size": 3, "logicalType": "decimal", "precision": 9, "scale": 2},
        {"type": "fixed", "name": "f", "size": 3},
    ],
)
def test_avro_types_beyond_the_flat_ones_are_refused(avro: object) -> None:
    with pytest.raises(Unsupported, match="'x'"):
        arrow_of({"type": "record", "name": "r", "fields": [{"name": "x", "type": avro}]})


def test_rows_of_an_older_schema_are_widened_and_filled() -> None:
    old = pa.table({"i": pa.array([1, None], pa.int32()), "f": pa.array([1.1, -0.0], pa.float32()), "gone": [1, 2]})
    new = pa.schema([("added", pa.string()), ("i", pa.int64()), ("f", pa.float64())])
    assert conform(old, new).to_pylist() == [{"added": None, "i": 1, "f": 1.1}, {"added": None, "i": None, "f": -0.0}]


def test_decimals_widen_only_where_all_digits_stay() -> None:
    rows = pa.table({"d": pa.array([Decimal("1.25")], pa.decimal128(5, 2))})
    wider = pa.schema([("d", pa.decimal128(9, 3))])
    assert conform(rows, wider)["d"].to_pylist() == [Decimal("1.250")]
    with pytest.raises(SchemaMismatch, match="'d'"):
        conform(rows, pa.schema([("d", pa.decimal128(5, 3))]))


@pytest.mark.parametrize(("source", "target"), [(pa.int64(), pa.int32()), (pa.string(), pa.int64())])
def test_narrowing_is_a_mismatch(source: pa.DataType, target: pa.DataType) -> None:
    with pytest.raises(SchemaMismatch, match="'x'"):
        conform(pa.table({"x": pa.nulls(1, source)}), pa.schema([("x", target)]))


def test_null_in_a_column_that_must_have_a_value_is_a_mismatch() -> None:
    with pytest.raises(SchemaMismatch, match="may not be null"):
        conform(pa.table({"y": [1]}), pa.schema([pa.field("x", pa.int64(), nullable=False)]))


def test_bytes_that_are_no_text_are_a_mismatch() -> None:
    with pytest.raises(SchemaMismatch, match="'x'"):
        conform(pa.table({"x": pa.array([b"\xff"])}), pa.schema([("x", pa.string())]))
