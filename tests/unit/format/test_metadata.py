"""The bodies of timeline files, against bytes that Hudi 1.2.0 wrote (tests/golden/bytes/metadata)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi.errors import CorruptTable
from pyhudi.format.metadata import (
    CommitMetadata,
    CompactionPlan,
    RollbackMetadata,
    RollbackPlan,
    RollbackRequest,
    read_container,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "bytes" / "metadata"


def test_a_delta_commit_of_java_reads_and_prints_back_the_same() -> None:
    commit = CommitMetadata.from_bytes((GOLDEN / "deltacommit.avro").read_bytes(), "golden")
    assert commit.operation == "UPSERT" and not commit.compacted
    assert sorted(commit.stats_by_partition()) == ["p0", "p1"]
    stat = commit.stats_by_partition()["p0"][0]
    assert stat.is_log and stat.updates == 2 and stat.file_size == 2151 and stat.log_files == (stat.file_name,)
    assert '"name":"ref_record"' in commit.extra["schema"]
    assert CommitMetadata.from_bytes(commit.to_bytes(), "ours") == commit


def test_our_stats_carry_what_java_wrote() -> None:
    content = (GOLDEN / "deltacommit.avro").read_bytes()
    theirs = read_container(content, "golden")["partitionToWriteStats"]["p0"][0]
    ours = read_container(CommitMetadata.from_bytes(content, "golden").to_bytes(), "ours")
    mine = ours["partitionToWriteStats"]["p0"][0]
    assert {key for key in theirs if theirs[key] != mine[key]} <= {"runtimeStats"}


def test_equal_commits_give_equal_bytes() -> None:
    commit = CommitMetadata.from_bytes((GOLDEN / "deltacommit.avro").read_bytes(), "golden")
    assert commit.to_bytes() == commit.to_bytes()


def test_an_empty_completed_file_is_a_commit_that_wrote_nothing() -> None:
    assert CommitMetadata.from_bytes(b"", "x") == CommitMetadata(operation="UNKNOWN")


def test_replaced_file_groups_survive() -> None:
    commit = CommitMetadata(operation="INSERT_OVERWRITE", replaced={"p": ("a", "b"), "q": ()})
    assert CommitMetadata.from_bytes(commit.to_bytes(), "x").replaced == {"p": ("a", "b"), "q": ()}


def test_a_compaction_plan_of_java_reads_and_prints_back_the_same() -> None:
    plan = CompactionPlan.from_bytes((GOLDEN / "compaction.requested.avro").read_bytes(), "golden")
    assert [operation.partition_path for operation in plan.operations] == ["eu", "us"]
    assert all(len(operation.log_files) == 2 for operation in plan.operations)
    assert CompactionPlan.from_bytes(plan.to_bytes(), "ours") == plan


def test_rollback_plans_and_results_hold_what_they_are_given() -> None:
    request = RollbackRequest(partition_path="p", files=("/t/p/a.parquet",))
    plan = RollbackPlan(instant="1", action="commit", requests=(request,))
    assert RollbackPlan.from_bytes(plan.to_bytes(), "x") == plan
    done = RollbackMetadata(start="2", duration_ms=5, instant="1", action="commit", deleted={"p": request.files})
    raw = read_container(done.to_bytes(), "x")
    assert raw["totalFilesDeleted"] == 1
    assert raw["partitionMetadata"]["p"]["successDeleteFiles"] == ["/t/p/a.parquet"]


@pytest.mark.parametrize("content", [b"x", b"Obj\x01", b"Obj\x01" + b"\xff" * 40])
def test_damaged_containers_are_named(content: bytes) -> None:
    with pytest.raises(CorruptTable, match="the file"):
        read_container(content, "the file")


def test_every_truncation_of_a_commit_is_damage() -> None:
    content = (GOLDEN / "deltacommit.avro").read_bytes()
    for length in range(1, len(content), 97):
        with pytest.raises(CorruptTable):
            CommitMetadata.from_bytes(content[:length], "cut")
