from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import CorruptTable
from pyhudi.format.properties import parse_properties, print_properties, table_checksum

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.dictionaries(TEXT.filter(bool), TEXT, max_size=6))
def test_whatever_is_printed_reads_back(properties: dict[str, str]) -> None:
    assert parse_properties(print_properties(properties, "made by a test"), "here") == properties


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a=1\nb : 2\nc 3\n", {"a": "1", "b": "2", "c": "3"}),
        (b"# no\n! no\n\n  a=1", {"a": "1"}),
        (b"a=1\na=2\n", {"a": "2"}),
        (b"long=one \\\n   two\n", {"long": "one two"}),
        (b"e=\\u00e9\\t\\=\\:\\x\n", {"e": "é\t=:x"}),
        (b"a\\ b=c d \n", {"a b": "c d "}),
        (b"empty=\nalone\n", {"empty": "", "alone": ""}),
        (b"t=ends\\\\\nn=1\n", {"t": "ends\\", "n": "1"}),
        (b"emoji=\\ud83d\\ude00\n", {"emoji": "\U0001f600"}),
    ],
)
def test_text_is_read_as_java_reads_it(content: bytes, expected: dict[str, str]) -> None:
    assert parse_properties(content, "here") == expected


def test_an_unfinished_escape_names_the_file() -> None:
    with pytest.raises(CorruptTable, match="somewhere"):
        parse_properties(b"a=\\u12\n", "somewhere")


@pytest.mark.parametrize(
    ("database", "table", "expected"),
    [("", "mor", "2110273562"), ("", "cow_metadata", "1229203194"), ("default", "sqlmor", "941207759")],
)
def test_the_checksum_is_javas(database: str, table: str, expected: str) -> None:
    assert table_checksum(database, table) == expected
