"""Bloom filters: the bytes that Java makes of the same keys, and never a key denied that was added."""

import base64
import contextlib
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.errors import CorruptTable, InternalError, Unsupported
from pyhudi.format.bloom import DYNAMIC, SIMPLE, BloomFilter, BloomParameters, Bytes, Offsets

GOLDEN = Path(__file__).parents[2] / "golden" / "bytes" / "bloom"
FOOTERS: list[dict[str, Any]] = json.loads(gzip.decompress((GOLDEN / "footers.json.gz").read_bytes()))
SMALL: list[dict[str, Any]] = json.loads((GOLDEN / "java_small.json").read_bytes())


def column(keys: list[str]) -> tuple[Offsets, Bytes]:
    raw = [key.encode() for key in keys]
    offsets = np.zeros(len(raw) + 1, dtype=np.int32)
    np.cumsum([len(key) for key in raw], out=offsets[1:])
    return offsets, np.frombuffer(b"".join(raw), dtype=np.uint8)


def java_key(number: int) -> str:
    ends = ["", "é", "日本", f"🦊{number}", f"ÿ{number}ß"]
    return f"k{number}{ends[number % 5]}"


@pytest.mark.parametrize("footer", FOOTERS, ids=lambda footer: footer["table"])
def test_the_footer_of_a_real_base_file_is_rebuilt_byte_for_byte(footer: dict[str, Any]) -> None:
    theirs = BloomFilter.parse(footer["text"], footer["type_code"])
    ours = BloomFilter.build(*column(footer["keys"]), BloomParameters(entries=theirs.entries))
    assert ours.text() == footer["text"]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case['kind']}-{case['keys']}-of-{case['max_entries']}")
def test_rows_grow_and_then_take_turns_as_in_java(case: dict[str, Any]) -> None:
    parameters = BloomParameters(entries=case["entries"], fpp=1e-3, max_entries=case["max_entries"], kind=case["kind"])
    keys = column([java_key(number) for number in range(case["keys"])])
    ours = BloomFilter.build(*keys, parameters)
    assert ours.text() == case["text"]
    assert ours.might_contain(*keys).all()


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case['kind']}-{case['keys']}-of-{case['max_entries']}")
def test_a_parsed_filter_prints_the_same_and_answers_the_same(case: dict[str, Any]) -> None:
    parsed = BloomFilter.parse(case["text"], case["kind"])
    assert parsed.text() == case["text"]
    assert parsed.might_contain(*column([java_key(number) for number in range(case["keys"])])).all()


def test_a_full_filter_of_default_size_has_the_bytes_of_java() -> None:
    keys = column([java_key(number) for number in range(120007)])
    text = BloomFilter.build(*keys, BloomParameters()).text()
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "6990e2109672caf3e20976919ac427ae91798e0d3c305ca70b3fdd3661930462"
    )


def test_the_default_size_is_the_one_of_hudi() -> None:
    assert (BloomParameters().bits, BloomParameters().hashes) == (2587966, 30)
    assert BloomParameters(entries=10000).bits == 431328


def test_keys_that_were_not_added_are_denied() -> None:
    parameters = BloomParameters(entries=1000)
    bloom = BloomFilter.build(*column([f"in{number}" for number in range(1000)]), parameters)
    assert not bloom.might_contain(*column([f"out{number}" for number in range(20000)])).any()
    assert not bloom.might_contain(*column(["", "x"])).any()


@given(st.lists(st.text(min_size=1, max_size=9), max_size=40), st.sampled_from([DYNAMIC, SIMPLE]))
@settings(max_examples=60, deadline=None)
def test_no_key_is_denied_that_was_added(keys: list[str], kind: str) -> None:
    bloom = BloomFilter.build(*column(keys), BloomParameters(entries=10, max_entries=20, kind=kind))
    again = BloomFilter.parse(bloom.text().encode(), kind)
    assert again.might_contain(*column(keys)).all()


def test_a_slice_of_a_column_counts_from_its_own_offsets() -> None:
    offsets, data = column(["aa", "bbb", "c", "dd"])
    ours = BloomFilter.build(offsets[1:4].astype(np.int64), data, BloomParameters(entries=10))
    assert ours.text() == BloomFilter.build(*column(["bbb", "c"]), BloomParameters(entries=10)).text()


def test_a_footer_without_type_code_is_simple() -> None:
    simple = next(case for case in SMALL if case["kind"] == SIMPLE)
    assert BloomFilter.parse(simple["text"], None).kind == SIMPLE


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(InternalError, match="empty key"):
        BloomFilter.build(*column(["a", ""]), BloomParameters(entries=10))


def test_unknown_types_and_the_old_hash_are_refused_by_name() -> None:
    with pytest.raises(Unsupported, match=r"f\.parquet: .*RIBBON"):
        BloomFilter.parse("", "RIBBON", "f.parquet")
    old = base64.b64encode(bytes.fromhex("0000001e 00000000 00 00000010 0000"))
    with pytest.raises(Unsupported, match="version 30"):
        BloomFilter.parse(old, SIMPLE)


@pytest.mark.parametrize("kind", [DYNAMIC, SIMPLE])
def test_a_damaged_filter_is_refused_or_reads(kind: str) -> None:
    raw = base64.b64decode(next(case["text"] for case in SMALL if case["kind"] == kind and case["keys"] == 34))
    for end in range(len(raw)):
        with pytest.raises(CorruptTable, match=r"f\.parquet"):
            BloomFilter.parse(base64.b64encode(raw[:end]), kind, "f.parquet")
    for place in range(len(raw)):
        for mask in (0x01, 0x80, 0xFF):
            flipped = bytearray(raw)
            flipped[place] ^= mask
            with contextlib.suppress(CorruptTable, Unsupported):
                BloomFilter.parse(base64.b64encode(flipped), kind, "f.parquet")
    with pytest.raises(CorruptTable, match="base64"):
        BloomFilter.parse("not base64!", kind)
    with pytest.raises(CorruptTable, match="base64"):
        BloomFilter.parse("日本", kind)
