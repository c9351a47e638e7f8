from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from pyhudi.errors import InvalidRequest, Unsupported
from pyhudi.file_group.keying import partition_paths, record_keys
from pyhudi.format.keys import KeyGenerator, KeySpec, generator_for


def spec(keys: str, partitions: str = "", **style: bool) -> KeySpec:
    key_fields, partition_fields = tuple(keys.split()), tuple(partitions.split())
    return KeySpec(
        generator=generator_for(len(key_fields), len(partition_fields)),
        key_fields=key_fields,
        partition_fields=partition_fields,
        hive_style=style.get("hive_style", False),
        url_encoded=style.get("url_encoded", False),
        prefix_single_key=True,
    )


ROWS = pa.table(
    {
        "id": ["k1", "k2"],
        "n": pa.array([1, -2], pa.int64()),
        "day": [datetime.date(2024, 1, 31), datetime.date(1969, 12, 31)],
        "flag": [True, False],
        "at": pa.array([0, 1_500_000], pa.timestamp("us", "UTC")),
        "place": ["us/ca ny", None],
        "hole": pa.array([None, ""], pa.string()),
    }
)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("id", ["k1", "k2"]),
        ("n", ["1", "-2"]),
        ("day", ["2024-01-31", "1969-12-31"]),
        ("flag", ["true", "false"]),
        ("at", ["0", "1500000"]),
    ],
)
def test_keys_are_the_text_that_java_makes_of_the_value(field: str, expected: list[str]) -> None:
    assert record_keys(ROWS, spec(field)).to_pylist() == expected


def test_several_key_fields_are_joined_with_their_names() -> None:
    assert record_keys(ROWS, spec("id n", "day")).to_pylist() == ["id:k1,n:1", "id:k2,n:-2"]


def test_the_complex_generator_names_a_single_key_too() -> None:
    keys = spec("id", "day flag")
    assert keys.generator is KeyGenerator.COMPLEX
    assert record_keys(ROWS, keys).to_pylist() == ["id:k1", "id:k2"]


def test_null_and_empty_parts_of_a_key_have_their_words() -> None:
    assert record_keys(ROWS, spec("id hole")).to_pylist() == ["id:k1,hole:__null__", "id:k2,hole:__empty__"]


def test_a_single_key_may_not_be_null_or_empty() -> None:
    with pytest.raises(InvalidRequest, match="'hole'"):
        record_keys(ROWS, spec("hole"))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (spec("id"), ["", ""]),
        (spec("id", "day"), ["2024-01-31", "1969-12-31"]),
        (spec("id", "day", hive_style=True), ["day=2024-01-31", "day=1969-12-31"]),
        (spec("id", "flag n"), ["true/1", "false/-2"]),
        (
            spec("id", "place", url_encoded=True, hive_style=True),
            ["place=us%2Fca ny", "place=__HIVE_DEFAULT_PARTITION__"],
        ),
    ],
)
def test_partition_paths_are_those_of_java(keys: KeySpec, expected: list[str]) -> None:
    assert partition_paths(ROWS, keys).to_pylist() == expected


@pytest.mark.parametrize("value", ["..", "../x", ".hoodie", "/etc"])
def test_partition_values_that_leave_the_table_are_refused(value: str) -> None:
    with pytest.raises(InvalidRequest, match="leave the table"):
        partition_paths(pa.table({"p": [value]}), spec("id", "p"))


def test_types_that_java_prints_its_own_way_are_refused_as_keys() -> None:
    with pytest.raises(Unsupported, match="double"):
        record_keys(pa.table({"x": [1.5]}), spec("x"))
