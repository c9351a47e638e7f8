from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.format.keys import (
    KeyGenerator,
    KeySpec,
    escape_partition_value,
    escapes_table,
    generator_for,
    partition_part,
    partition_values,
    unescape_partition_value,
)


def spec(*fields: str, hive_style: bool = False, url_encoded: bool = False) -> KeySpec:
    return KeySpec(
        generator=generator_for(1, len(fields)),
        key_fields=("id",),
        partition_fields=fields,
        hive_style=hive_style,
        url_encoded=url_encoded,
        prefix_single_key=True,
    )


@pytest.mark.parametrize(
    ("keys", "partitions", "expected"),
    [
        (1, 0, KeyGenerator.NON_PARTITION),
        (2, 0, KeyGenerator.NON_PARTITION),
        (1, 1, KeyGenerator.SIMPLE),
        (1, 2, KeyGenerator.COMPLEX),
        (2, 1, KeyGenerator.COMPLEX),
    ],
)
def test_the_generator_is_the_one_that_hudi_infers(keys: int, partitions: int, expected: KeyGenerator) -> None:
    assert generator_for(keys, partitions) is expected


def test_a_single_key_is_prefixed_only_by_the_complex_generator() -> None:
    assert spec("a", "b").key_is_prefixed
    assert not spec("a").key_is_prefixed
    assert not spec().key_is_prefixed


def test_values_are_escaped_as_java_escapes_them() -> None:
    assert escape_partition_value("us/ca ny") == "us%2Fca ny"
    assert escape_partition_value("a=b:c%d é,}") == "a%3Db%3Ac%25d é,}"


@given(st.text(max_size=30))
def test_escaping_can_be_undone(value: str) -> None:
    assert unescape_partition_value(escape_partition_value(value)) == value


@given(st.lists(st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=8), min_size=1, max_size=3))
def test_encoded_paths_give_their_values_back(values: list[str]) -> None:
    fields = tuple("abc"[: len(values)])
    keys = spec(*fields, hive_style=True, url_encoded=True)
    path = "/".join(partition_part(field, value, keys) for field, value in zip(fields, values, strict=True))
    expected = tuple(None if value == "__HIVE_DEFAULT_PARTITION__" else value for value in values)
    assert partition_values(path, keys) == expected


def test_null_and_empty_values_share_the_default_partition() -> None:
    assert partition_part("a", None, spec("a")) == "__HIVE_DEFAULT_PARTITION__"
    assert partition_part("a", "", spec("a", hive_style=True)) == "a=__HIVE_DEFAULT_PARTITION__"
    assert partition_values("__HIVE_DEFAULT_PARTITION__", spec("a")) == (None,)


def test_a_path_of_another_shape_has_no_values() -> None:
    assert partition_values("x/y", spec("a")) is None
    assert partition_values("x", spec("a", hive_style=True)) is None


@pytest.mark.parametrize("path", ["..", ".", "a/../b", "/etc", "a//b", ".hoodie", ".hoodie/metadata", "a\0b", "a\\b"])
def test_paths_that_leave_the_table_are_found(path: str) -> None:
    assert escapes_table(path)


@pytest.mark.parametrize("path", ["", "a", "a/b", "day=2024-01-01", "..a", "a.b/c"])
def test_honest_paths_are_not(path: str) -> None:
    assert not escapes_table(path)
