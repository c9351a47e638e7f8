import datetime
import math
from decimal import Decimal

import pyarrow as pa
import pytest

from pyhudi.errors import SchemaMismatch
from pyhudi.merge.ordering import comparable, greater, is_default, ranks

UTC_US = pa.timestamp("us", "UTC")

ASCENDING = {
    pa.int32(): [-5, 0, 3],
    pa.int64(): [-(2**63), 0, 2**63 - 1],
    pa.float32(): [-math.inf, -1.5, -0.0, 0.0, 1.5, math.inf, math.nan],
    pa.float64(): [-math.inf, -1.5, -0.0, 0.0, 5e-324, math.inf, math.nan],
    pa.bool_(): [False, True],
    pa.string(): ["", "B", "a", "ab", "ä", "\U0001f600"],
    pa.binary(): [b"", b"\x01", b"\x7f", b"\x80"],
    pa.decimal128(10, 2): [Decimal("-1.50"), Decimal("0.00"), Decimal("10.25")],
    pa.date32(): [datetime.date(1960, 1, 1), datetime.date(1970, 1, 1), datetime.date(2024, 1, 1)],
    UTC_US: [datetime.datetime(1960, 1, 1), datetime.datetime(2024, 1, 1)],
    pa.time64("us"): [datetime.time(0), datetime.time(23)],
}


@pytest.mark.parametrize("kind", ASCENDING, ids=str)
def test_values_compare_as_their_java_types_do(kind: pa.DataType) -> None:
    values = comparable(pa.array(ASCENDING[kind], kind), pa.field("o", kind))
    assert values.type in (pa.int64(), kind)
    count = len(values)
    assert (ranks(values).argsort(kind="stable") == range(count)).all()
    for i in range(count):
        for j in range(count):
            assert greater(values[i : i + 1], values[j : j + 1]).tolist() == [i > j]
            assert (ranks(values)[i] > ranks(values)[j]) == (i > j)


@pytest.mark.parametrize("kind", ASCENDING, ids=str)
def test_a_null_compares_as_zero(kind: pa.DataType) -> None:
    zero = {pa.string(): "", pa.binary(): b"", pa.bool_(): False, pa.decimal128(10, 2): Decimal(0)}.get(kind, 0)
    values = comparable(pa.array([None, zero], kind), pa.field("o", kind))
    assert ranks(values)[0] == ranks(values)[1]


@pytest.mark.parametrize(
    ("kind", "zero_is_default"), [(pa.int32(), True), (pa.date32(), True), (pa.int64(), False), (pa.float64(), False)]
)
def test_zero_means_no_ordering_value_only_where_java_holds_an_int(kind: pa.DataType, zero_is_default: bool) -> None:
    assert is_default(pa.array([0, 1, None], kind)).tolist() == [zero_is_default, False, True]


@pytest.mark.parametrize(
    ("held", "column", "expected"),
    [
        (pa.array([7], pa.int32()), pa.int64(), 7),
        (pa.array([19724], pa.int32()), pa.date32(), 19724),
        (pa.array([1_704_153_600_123_456]), UTC_US, 1_704_153_600_123_456),
        (pa.array([1_704_153_600_123_456]), pa.timestamp("us"), 1_704_153_600_123_456),
        (pa.array([1_704_153_600_123]), pa.timestamp("ms", "UTC"), 1_704_153_600_123),
        (pa.array([1_704_153_600_123_456]), pa.timestamp("ms", "UTC"), 1_704_153_600_123),
        (pa.array([1_704_153_600_123_456], UTC_US), pa.timestamp("us"), 1_704_153_600_123_456),
        (pa.array([1_704_153_600_123_456], UTC_US), pa.timestamp("ms"), 1_704_153_600_123),
        (pa.array([Decimal("2.250")], pa.decimal128(30, 15)), pa.decimal128(38, 10), Decimal("2.25")),
    ],
)
def test_a_deletes_value_is_read_in_the_columns_type(held: pa.Array, column: pa.DataType, expected: object) -> None:
    assert comparable(held, pa.field("o", column)).to_pylist() == [expected]


@pytest.mark.parametrize(
    ("held", "column"),
    [
        (pa.array(["x"]), pa.int64()),
        (pa.array([1]), pa.int32()),
        (pa.array([Decimal("0.001")], pa.decimal128(30, 15)), pa.decimal128(5, 2)),
    ],
)
def test_a_deletes_value_that_does_not_compare_is_a_mismatch(held: pa.Array, column: pa.DataType) -> None:
    with pytest.raises(SchemaMismatch, match="'o'"):
        comparable(held, pa.field("o", column))
