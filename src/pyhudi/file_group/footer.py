"""The footers that Hudi's indexes and readers need in a base file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.format.bloom import BloomFilter, BloomParameters

AVRO_SCHEMA = "parquet.avro.schema"
WRITER_MODEL = "writer.model.name"
BLOOM_FILTER = "org.apache.hudi.bloomfilter"
BLOOM_TYPE = "hoodie_bloom_filter_type_code"
MIN_KEY = "hoodie_min_record_key"
MAX_KEY = "hoodie_max_record_key"

_FIRST_BYTE_OF_SURROGATES = 0xF0
_FEWEST_ENTRIES = 64
"""A filter is sized for the keys there are: at the configured size a file of ten rows would carry 430 KB of zeros."""


def footers(keys: pa.ChunkedArray, avro_text: str, bloom: BloomParameters | None) -> dict[str, str]:
    """Footer entries for a file with these record keys."""
    entries = {AVRO_SCHEMA: avro_text, WRITER_MODEL: "avro"}
    if len(keys) == 0:
        return entries
    low, high = key_bounds(keys)
    entries |= {MIN_KEY: low, MAX_KEY: high}
    if bloom is not None:
        offsets, data = utf8_buffers(keys)
        fitting = replace(bloom, entries=min(bloom.entries, max(len(keys), _FEWEST_ENTRIES)))
        entries |= {BLOOM_FILTER: BloomFilter.build(offsets, data, fitting).text(), BLOOM_TYPE: bloom.kind}
    return entries


def key_bounds(keys: pa.ChunkedArray) -> tuple[str, str]:
    """Smallest and largest key in the order of Java strings, by which Java prunes with them."""
    _, data = utf8_buffers(keys)
    if bool((data >= _FIRST_BYTE_OF_SURROGATES).any()):
        order: Callable[[str], bytes] = lambda key: key.encode("utf-16-be", "surrogatepass")  # noqa: E731
        texts: list[str] = keys.to_pylist()
        return min(texts, key=order), max(texts, key=order)
    extremes = pc.min_max(keys)
    return extremes["min"].as_py(), extremes["max"].as_py()


def utf8_buffers(keys: pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Keys without nulls as one run of UTF-8 bytes with offsets."""
    array = keys.combine_chunks().cast(pa.large_string())
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
    content = array.buffers()[2]
    data = np.frombuffer(content, np.uint8) if content is not None else np.empty(0, np.uint8)
    return offsets - offsets[0], data[offsets[0] : offsets[-1]]
