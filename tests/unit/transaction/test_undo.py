from __future__ import annotations

import pytest

from pyhudi.errors import CorruptTable, InvalidRequest
from pyhudi.format.instant import Action, Instant, RequestedTime, State
from pyhudi.storage.local import LocalStorage
from pyhudi.transaction.undo import plan_undo, relative_to

T = RequestedTime("20260101000000000")
FAILED = Instant(requested_time=T, action=Action.COMMIT, state=State.INFLIGHT)


@pytest.mark.parametrize("prefix", ["", "file:", "file://", "file:///"])
def test_absolute_paths_of_plans_are_found_below_the_table(prefix: str) -> None:
    storage = LocalStorage("/data/table")
    path = "data/table/p/x.parquet" if prefix.endswith("///") else "/data/table/p/x.parquet"
    assert relative_to(storage, prefix + path) == "p/x.parquet"


@pytest.mark.parametrize("path", ["/data/other/x.parquet", "/data/tablespoon/x", "x.parquet", "s3://data/table/x"])
def test_paths_that_lead_elsewhere_are_refused(path: str) -> None:
    with pytest.raises(CorruptTable, match="does not lie in"):
        relative_to(LocalStorage("/data/table"), path)


@pytest.mark.parametrize("path", ["/data/table/../x", "/data/table//x", "/data/table/"])
def test_paths_that_climb_are_refused(path: str) -> None:
    with pytest.raises(InvalidRequest):
        relative_to(LocalStorage("/data/table"), path)


def test_only_files_of_the_failed_instant_are_deleted() -> None:
    storage = LocalStorage("/data/table")
    plan = plan_undo(storage, FAILED, [f"p/f-0_0-0-0_{T}.parquet", f"q/.f-0_{T}.log.1_0-0-0"])
    assert [request.partition_path for request in plan.requests] == ["p", "q"]
    with pytest.raises(CorruptTable, match="no file of that instant"):
        plan_undo(storage, FAILED, ["p/f-0_0-0-0_20260101000000001.parquet"])
