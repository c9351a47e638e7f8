"""Where Java Hudi 1.2.0 itself loses rows of tables that it wrote alone: why some questions are asked in another way.

Each case is asked of a table by Java and of the same rows by pyhudi. What a writer can prevent, pyhudi's files prevent.
"""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest

import pyhudi
from tests.interop.oracle import JavaHudi, OracleError

pytestmark = pytest.mark.interop

NAN = float("nan")
ROWS = pa.table(
    {
        "id": [f"k{number:02d}" for number in range(40)],
        "part": [f"p{number % 2}" for number in range(40)],
        "nan": [NAN, NAN, -2.5, -2.5] * 10,
        "zero": pa.array([-0.0, -0.0, 1.5, 1.5] * 10, pa.float32()),
        "long": ["x" * 2048, "x" * 2048, "x" * 2047 + "y", "x" * 2047 + "y"] * 10,
        "prefixed": ["Grüße"] * 40,
        "raw": [b"\x00", b"\x00", b"\x01", b"\x01"] * 10,
        "gap": [datetime.date(1582, 10, 10)] * 40,
    }
)
JAVA = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "part",
}


@pytest.fixture(scope="module")
def tables(java: JavaHudi, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same rows, written by Java alone and by pyhudi alone."""
    folder = tmp_path_factory.mktemp("faults")
    java.create(folder / "java", ROWS, options=JAVA, operation="insert")
    ours = pyhudi.create_table(str(folder / "ours"), ROWS.schema, name="t", record_key=["id"], partition_by=["part"])
    ours.insert(ROWS)
    return {"Java": folder / "java", "pyhudi": folder / "ours"}


def counted(java: JavaHudi, path: Path, where: str, *, skipping: bool) -> int:
    return len(java.read(path, where=where, data_skipping=skipping, columns=["id"]))


@pytest.mark.parametrize(("where", "rows"), [("nan < -1e0", 20), ("nan > 0e0", 20), ("nan != 0e0", 40)])
def test_its_ranges_of_a_file_with_nan_are_zero(java: JavaHudi, tables: dict[str, Path], where: str, rows: int) -> None:
    assert counted(java, tables["Java"], where, skipping=False) == rows
    assert counted(java, tables["Java"], where, skipping=True) < rows
    assert counted(java, tables["pyhudi"], where, skipping=True) == rows


def test_negative_zero_hides_in_the_dictionaries_of_its_files(java: JavaHudi, tables: dict[str, Path]) -> None:
    assert counted(java, tables["Java"], "zero = 0e0", skipping=False) < 20
    assert counted(java, tables["pyhudi"], "zero = 0e0", skipping=False) == 20
    assert counted(java, tables["pyhudi"], "zero = 0e0", skipping=True) == 20


def test_it_takes_long_strings_of_its_files_for_nulls(java: JavaHudi, tables: dict[str, Path]) -> None:
    where = f"long = '{'x' * 2047}y'"
    assert counted(java, tables["Java"], where, skipping=False) == 20
    assert counted(java, tables["Java"], where, skipping=True) == 0
    assert counted(java, tables["pyhudi"], where, skipping=True) == 20


@pytest.mark.parametrize("writer", ["Java", "pyhudi"])
def test_it_skips_files_where_every_value_is_longer_than_the_prefix(
    java: JavaHudi, tables: dict[str, Path], writer: str
) -> None:
    assert counted(java, tables[writer], "prefixed LIKE 'Gr%'", skipping=False) == 40
    assert counted(java, tables[writer], "prefixed LIKE 'Gr%'", skipping=True) == 0


@pytest.mark.parametrize("writer", ["Java", "pyhudi"])
def test_it_cannot_compare_binary_ranges_of_partitions(java: JavaHudi, tables: dict[str, Path], writer: str) -> None:
    assert counted(java, tables[writer], "raw = X'00'", skipping=False) == 20
    with pytest.raises(OracleError, match="HeapByteBuffer cannot be cast"):
        counted(java, tables[writer], "raw = X'00'", skipping=True)


@pytest.mark.parametrize("writer", ["Java", "pyhudi"])
def test_spark_moves_dates_that_the_julian_calendar_lacks(java: JavaHudi, tables: dict[str, Path], writer: str) -> None:
    assert counted(java, tables[writer], "gap = DATE '1582-10-10'", skipping=False) == 0


@pytest.mark.parametrize("writer", ["Java", "pyhudi"])
def test_it_finds_no_nan_by_name_when_it_skips(java: JavaHudi, tables: dict[str, Path], writer: str) -> None:
    assert counted(java, tables[writer], "nan = double('NaN')", skipping=False) == 20
    assert counted(java, tables[writer], "nan = double('NaN')", skipping=True) == 0
