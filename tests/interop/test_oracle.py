"""The oracle itself: what it writes it reads back exactly, and what it refuses it says."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from tests.interop.oracle import HudiRs, JavaHudi, OracleError

pytestmark = pytest.mark.interop

UTC = datetime.UTC
NAN, INFINITY = float("nan"), float("inf")

COLUMNS: dict[str, tuple[pa.DataType, list[object]]] = {
    "boolean": (pa.bool_(), [True, False, False]),
    "int": (pa.int32(), [-(2**31), 2**31 - 1, 0]),
    "long": (pa.int64(), [-(2**63), 2**63 - 1, 0]),
    "float": (pa.float32(), [-INFINITY, 3.4028234663852886e38, NAN]),
    "double": (pa.float64(), [NAN, 1.7976931348623157e308, 5e-324]),
    "small_decimal": (pa.decimal128(9, 2), [Decimal("-9999999.99"), Decimal("9999999.99"), Decimal("0.01")]),
    "large_decimal": (pa.decimal128(38, 18), [Decimal("-" + "9" * 20 + "." + "9" * 18), Decimal("1E-18"), Decimal(0)]),
    "string": (pa.string(), ["", "Grüße, 世界 🦆\x00\n", "x" * 10_000]),
    "binary": (pa.binary(), [b"", bytes(range(256)), b"\xff"]),
    "date": (pa.date32(), [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(1582, 10, 10)]),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        [
            datetime.datetime(1, 1, 1, tzinfo=UTC),
            datetime.datetime(9999, 12, 31, 23, 59, 59, 999999, UTC),
            datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
        ],
    ),
    "local_timestamp": (
        pa.timestamp("us"),
        [
            datetime.datetime(1, 1, 1),
            datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
            datetime.datetime(1970, 1, 1),
        ],
    ),
}


def every_flat_type() -> pa.Table:
    """Three rows of extremes and one of nulls."""
    columns = {"id": pa.array(["a", "b", "c", "d"]), "ts": pa.array([1, 1, 1, 1])}
    columns |= {name: pa.array([*values, None], kind) for name, (kind, values) in COLUMNS.items()}
    return pa.table(columns)


def options(kind: str) -> dict[str, str]:
    return {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.datasource.write.hive_style_partitioning": "true",
    }


def exact(rows: pa.Table) -> list[str]:
    """Rows by key as text: NaN equals itself and 1 differs from 1.0."""
    return sorted(repr(row) for row in rows.to_pylist())


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_flat_type_comes_back_as_it_was_written(java: JavaHudi, kind: str, tmp_path: Path) -> None:
    rows = every_flat_type()
    java.create(tmp_path, rows, options=options(kind), operation="insert")
    found = java.read(tmp_path, columns=rows.column_names)
    assert exact(found) == exact(rows)
    assert found.schema.types == rows.schema.types


def test_values_do_not_depend_on_the_time_zone_of_the_jvm(
    java: JavaHudi, java_hudi: Callable[..., JavaHudi], tmp_path: Path
) -> None:
    rows = every_flat_type()
    java_hudi(timezone="Asia/Seoul").create(tmp_path, rows, options=options("MERGE_ON_READ"), operation="upsert")
    assert exact(java.read(tmp_path, columns=rows.column_names)) == exact(rows)
    assert exact(java_hudi(timezone="Asia/Seoul").read(tmp_path, columns=rows.column_names)) == exact(rows)


def test_upsert_delete_time_travel_and_compaction(java: JavaHudi, hudi_rs: HudiRs, kind: str, tmp_path: Path) -> None:
    def pairs(rows: pa.Table) -> set[tuple[str, int]]:
        return {(row["id"], row["v"]) for row in rows.to_pylist()}

    def agreed(**how: str) -> set[tuple[str, int]]:
        expected = pairs(java.read(tmp_path, **how))
        assert pairs(java.read(tmp_path, metadata=False, **how)) == expected
        assert pairs(hudi_rs.read(tmp_path, **how)) == expected
        return expected

    settings = options(kind) | {"hoodie.parquet.small.file.limit": "0"}
    java.create(
        tmp_path, pa.table({"id": ["a", "b", "c"], "v": [1, 2, 3], "ts": [1] * 3}), options=settings, operation="insert"
    )
    first = java.sql(f"call show_commits(table => '{java.table_name(tmp_path)}')")[0]["commit_time"]
    java.write(tmp_path, pa.table({"id": ["b"], "v": [20], "ts": [2]}), options=settings)
    java.write(tmp_path, pa.table({"id": ["a"], "v": [0], "ts": [2]}), options=settings, operation="delete")

    assert agreed() == {("b", 20), ("c", 3)}
    assert agreed(as_of=first) == {("a", 1), ("b", 2), ("c", 3)}
    assert pairs(java.read(tmp_path, where="v > 3")) == {("b", 20)}
    if kind == "MERGE_ON_READ":
        assert agreed(query="read_optimized") == {("a", 1), ("b", 2), ("c", 3)}
        due = "hoodie.compact.inline.max.delta.commits=1"
        done = java.sql(f"call run_compaction(op => 'scheduleAndExecute', path => '{tmp_path}', options => '{due}')")
        assert [row["state"] for row in done] == ["COMPLETED"]
        assert agreed(query="read_optimized") == {("b", 20), ("c", 3)}


def test_an_empty_answer_keeps_its_columns(java: JavaHudi, hudi_rs: HudiRs, tmp_path: Path) -> None:
    rows = pa.table({"id": ["a"], "v": [1], "ts": [1]})
    java.create(tmp_path, rows, options=options("COPY_ON_WRITE"), operation="insert")
    java.write(tmp_path, rows, options=options("COPY_ON_WRITE"), operation="delete")
    assert java.read(tmp_path, columns=["id", "v"]).schema == pa.schema({"id": pa.string(), "v": pa.int64()})
    assert hudi_rs.read(tmp_path, columns=["id", "v"]).num_rows == 0


def test_an_error_carries_javas_own_message_and_the_oracle_lives_on(java: JavaHudi, tmp_path: Path) -> None:
    with pytest.raises(OracleError, match=str(tmp_path / "nowhere")):
        java.read(tmp_path / "nowhere")
    with pytest.raises(OracleError, match="(?i)syntax error"):
        java.sql("call no_such_procedure()")
    assert java.sql("select 1 as one") == [{"one": 1}]


def test_a_call_that_hangs_ends_in_an_error() -> None:
    with JavaHudi(timeout_s=60) as slow:
        slow._timeout_s = 0.5
        with pytest.raises(OracleError, match="no answer"):
            slow.sql("select count(*) from range(100000) a join range(100000) b on a.id % 7 = b.id % 7")


def test_how_long_a_call_takes(java: JavaHudi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = pa.table({"id": ["a", "b"], "v": [1, 2], "ts": [1, 1]})
    seconds: dict[str, float] = {}

    def timed(name: str, call: Callable[[], object]) -> None:
        started = time.perf_counter()
        call()
        seconds[name] = round(time.perf_counter() - started, 2)

    timed("create", lambda: java.create(tmp_path, rows, options=options("MERGE_ON_READ"), operation="insert"))
    timed("upsert", lambda: java.write(tmp_path, rows, options=options("MERGE_ON_READ")))
    timed("read", lambda: java.read(tmp_path))
    timed("procedure", lambda: java.sql(f"call show_commits(table => '{java.table_name(tmp_path)}')"))
    with capsys.disabled():
        print(f"\nJava Hudi, warm, seconds: {seconds}")
    assert max(seconds.values()) < 60
