from __future__ import annotations

import pytest

from pyhudi.format.file_names import (
    MarkerKind,
    marker_path,
    parse_base_file,
    parse_data_file,
    parse_log_file,
    partition_depth,
    print_partition_metadata,
)

BASE = "92f7af48-944e-4759-9352-f74077f2a0fb-0_0-27-61_20261118212612103.parquet"
LOG = ".bfe68158-38b6-4679-9cec-6345b4dc9e8f-0_20261118212647897.log.1_0-225-351"


def test_a_base_file_of_java_is_taken_apart_and_printed_back() -> None:
    name = parse_base_file(BASE)
    assert name is not None
    assert (name.file_id, name.write_token, name.instant) == (
        "92f7af48-944e-4759-9352-f74077f2a0fb-0",
        "0-27-61",
        "20261118212612103",
    )
    assert str(name) == BASE


def test_a_log_file_of_java_is_taken_apart_and_printed_back() -> None:
    name = parse_log_file(LOG)
    assert name is not None
    assert (name.instant, name.version, name.write_token) == ("20261118212647897", 1, "0-225-351")
    assert str(name) == LOG


def test_change_data_files_keep_their_suffix() -> None:
    name = parse_log_file(LOG + ".cdc")
    assert name is not None and name.suffix == ".cdc" and str(name) == LOG + ".cdc"


@pytest.mark.parametrize(
    "name", ["", ".hoodie_partition_metadata", f".{BASE}.crc", "x.parquet", "a_b_c.parquet", "..log.1_0-0-0", LOG + "x"]
)
def test_other_files_are_no_data_files(name: str) -> None:
    assert parse_data_file(name) is None


def test_log_files_replay_by_instant_then_version_then_token_as_text() -> None:
    names = [
        ".f-0_20260101000000002.log.1_0-0-0",
        ".f-0_20260101000000001.log.10_0-0-0",
        ".f-0_20260101000000001.log.2_0-9-0",
        ".f-0_20260101000000001.log.2_0-10-0",
    ]
    logs = sorted((log for text in names if (log := parse_log_file(text))), key=lambda log: log.replay_order)
    assert [str(log) for log in logs] == [names[3], names[2], names[1], names[0]]


def test_partition_metadata_is_what_java_writes() -> None:
    assert print_partition_metadata("20261118212612103", 2).splitlines()[1:] == [
        b"commitTime=20261118212612103",
        b"partitionDepth=2",
    ]


def test_depth_and_markers_of_the_root_and_of_partitions() -> None:
    assert [partition_depth(path) for path in ("", "a", "a/b")] == [0, 1, 2]
    assert marker_path("T", "", BASE, MarkerKind.CREATE) == f".hoodie/.temp/T/{BASE}.marker.CREATE"
    assert marker_path("T", "a/b", BASE, MarkerKind.MERGE) == f".hoodie/.temp/T/a/b/{BASE}.marker.MERGE"
