"""What hudi-rs 0.5 refuses or gets wrong, each line with the case that shows it; Java and pyhudi agree there.

Everywhere else in the campaign hudi-rs is a judge like Java, without exceptions.
"""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest

import pyhudi
from pyhudi.errors import InstantNotFound
from tests.interop.campaign import PLACES_KNOWN, Campaign
from tests.interop.judges import Judges, same
from tests.interop.oracle import HudiRs, JavaHudi, OracleError
from tests.interop.rows import PLAIN

pytestmark = pytest.mark.interop


def test_it_does_not_read_a_table_with_a_timestamp_without_zone(
    java: JavaHudi, hudi_rs: HudiRs, tmp_path: Path
) -> None:
    rows = pa.table({"id": ["a", "b"], "wall": pa.array([datetime.datetime(2024, 2, 29, 12, 30), None])})
    table = pyhudi.create_table(str(tmp_path / "t"), rows.schema, name="t", record_key=["id"])
    table.insert(rows)
    same(java.read(tmp_path / "t"), rows, rows.column_names, "Java")
    same(table.to_arrow(), rows, rows.column_names, "pyhudi")
    with pytest.raises(BaseException, match="not yet implemented") as problem:
        hudi_rs.read(tmp_path / "t", columns=["id"])
    assert type(problem.value).__name__ == "PanicException"


def test_it_answers_with_what_is_left_where_the_files_of_a_moment_were_cleaned(
    judges: Judges, hudi_rs: HudiRs, tmp_path: Path
) -> None:
    table = Campaign(
        path=tmp_path / "t",
        layout=PLAIN,
        kind="COPY_ON_WRITE",
        judges=judges,
        settings=dict(PLACES_KNOWN),
        brief=True,
    )
    table.created_by_us()
    table.insert(table.new_rows(6))
    for _ in range(3):
        table.upsert(table.changed_rows(1))
    table.java_clean(retain=1)
    first = min(table.history)
    with pytest.raises(OracleError, match="Cleaner cleaned up the timestamp of interest"):
        judges.java.read(table.path, as_of=first)
    with pytest.raises(InstantNotFound, match="cleaned"):
        table.table.to_arrow(as_of=first)
    assert len(hudi_rs.read(table.path, as_of=first)) < len(table.history[first])
