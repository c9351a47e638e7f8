"""The names and manifests of the timeline's history."""

from pathlib import Path

import pytest

from pyhudi.errors import CorruptTable
from pyhudi.format.lsm_timeline import (
    LsmFileName,
    ManifestFile,
    manifest_name,
    parse_file_name,
    parse_manifest,
    parse_manifest_name,
    parse_version,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "bytes" / "history"


def test_a_manifest_by_java_lists_its_files_in_order() -> None:
    files = parse_manifest((GOLDEN / "manifest_3").read_bytes(), "manifest_3")
    assert files == (
        ManifestFile(name="20261118230443365_20261118230445831_0.parquet", size=3231),
        ManifestFile(name="20261118230447029_20261118230449171_0.parquet", size=4866),
        ManifestFile(name="20261118230450455_20261118230452874_0.parquet", size=4893),
    )


def test_the_version_file_by_java_names_a_manifest() -> None:
    assert parse_version((GOLDEN / "_version_").read_bytes()) == 4
    assert manifest_name(4) == "manifest_4"
    assert parse_manifest_name("manifest_4") == 4


def test_a_file_name_tells_range_and_level() -> None:
    assert parse_file_name("20261118230443365_20261118230445831_0.parquet") == LsmFileName(
        minimum="20261118230443365", maximum="20261118230445831", level=0
    )


@pytest.mark.parametrize(
    "name",
    [
        "1_2_0.parquet.1d2e6f0a-1111-4222-8333-444455556666",
        "1_2_0.parquet.tmp",
        ".1_2_0.parquet.crc",
        "1_2_10.parquet",
        "1_2.parquet",
        "x_2_0.parquet",
        "\u0661_2_0.parquet",
        "1_2_0.parquet\n",
    ],
)
def test_a_foreign_or_temporary_file_name_is_passed_over(name: str) -> None:
    assert parse_file_name(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "manifest_114.1d2e6f0a-1111-4222-8333-444455556666",
        "manifest_3.tmp",
        "manifest_",
        "_version_",
        ".manifest_3.crc",
    ],
)
def test_a_leftover_of_a_crashed_java_writer_is_no_manifest(name: str) -> None:
    assert parse_manifest_name(name) is None


@pytest.mark.parametrize("text", [b"", b"x", b"-1", b"3.5", b"\xff", b"12345678901234567890"])
def test_a_torn_version_file_is_an_error_that_names_the_way_out(text: bytes) -> None:
    with pytest.raises(CorruptTable, match="highest manifest"):
        parse_version(text)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        b"[]",
        b"7",
        b'{"files": null}',
        b'{"files": [1]}',
        b'{"files": [{"fileName": "1_2_0.parquet"}]}',
        b'{"files": [{"fileName": "1_2_0.parquet", "fileLen": -1}]}',
        b'{"files": [{"fileName": "1_2_0.parquet", "fileLen": true}]}',
        b'{"files": [{"fileName": "../1_2_0.parquet", "fileLen": 1}]}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_manifest_is_an_error_that_names_it(text: bytes) -> None:
    with pytest.raises(CorruptTable, match="manifest_9"):
        parse_manifest(text, "manifest_9")


def test_a_manifest_cut_anywhere_is_an_error() -> None:
    text = (GOLDEN / "manifest_3").read_bytes()
    for end in range(len(text) - 1):
        with pytest.raises(CorruptTable):
            parse_manifest(text[:end], "manifest_3")


def test_fields_of_later_releases_are_passed_over() -> None:
    text = b'{"files": [{"fileName": "1_2_0.parquet", "fileLen": 5, "new": 1}], "also": {}}'
    assert parse_manifest(text, "m") == (ManifestFile(name="1_2_0.parquet", size=5),)
