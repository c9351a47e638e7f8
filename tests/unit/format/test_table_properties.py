from __future__ import annotations

import pytest

from pyhudi.errors import CorruptTable, Unsupported
from pyhudi.format.keys import KeyGenerator
from pyhudi.format.merge_properties import MergeMode
from pyhudi.format.properties import table_checksum
from pyhudi.format.table_properties import TableProperties

PLAIN = {
    "hoodie.table.name": "t",
    "hoodie.table.version": "9",
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "a,b",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
    "hoodie.table.metadata.partitions": "column_stats,files",
    "hoodie.table.checksum": table_checksum("", "t"),
}


def test_a_table_of_java_is_understood() -> None:
    properties = TableProperties.of(PLAIN, "here")
    assert properties.is_merge_on_read and properties.has_metadata_table
    assert properties.keys.generator is KeyGenerator.COMPLEX
    assert properties.merge_mode is MergeMode.EVENT_TIME_ORDERING
    assert not properties.timeline_in_utc
    assert properties.refuse_to_write() is None


@pytest.mark.parametrize("version", ["5", "6", "7", "8", "10"])
def test_other_versions_are_refused_by_number(version: str) -> None:
    with pytest.raises(Unsupported, match=f"table version {version}"):
        TableProperties.of({**PLAIN, "hoodie.table.version": version}, "here")


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("hoodie.record.merge.mode", "CUSTOM", "CUSTOM"),
        ("hoodie.table.partial.update.mode", "IGNORE_DEFAULTS", "IGNORE_DEFAULTS"),
        ("hoodie.bootstrap.base.path", "/x", "bootstrap"),
        ("hoodie.table.keygenerator.type", "CUSTOM", "CUSTOM"),
        ("hoodie.table.keygenerator.class", "org.x.Mine", "org.x.Mine"),
        ("hoodie.table.base.file.format", "ORC", "base.file.format"),
        ("hoodie.populate.meta.fields", "false", "meta columns"),
    ],
)
def test_what_could_make_rows_wrong_is_refused_for_reading(key: str, value: str, named: str) -> None:
    with pytest.raises(Unsupported, match=named):
        TableProperties.of({**PLAIN, key: value}, "here")


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("hoodie.table.cdc.enabled", "true", "change data"),
        ("hoodie.table.metadata.partitions", "files,record_index", "record_index"),
        ("hoodie.table.metadata.partitions.inflight", "secondary_index_x", "secondary_index_x"),
        ("hoodie.table.recordkey.fields", "", "generated keys"),
        ("hoodie.table.ordering.fields", "ts,seq", "several ordering"),
    ],
)
def test_what_we_cannot_keep_right_is_refused_for_writing_only(key: str, value: str, named: str) -> None:
    refused = TableProperties.of({**PLAIN, key: value}, "here").refuse_to_write()
    assert refused is not None and named in refused


def test_a_wrong_checksum_is_damage() -> None:
    with pytest.raises(CorruptTable, match="checksum"):
        TableProperties.of({**PLAIN, "hoodie.table.checksum": "1"}, "here")


@pytest.mark.parametrize("key", ["hoodie.table.name", "hoodie.table.version"])
def test_a_missing_identity_is_damage(key: str) -> None:
    raw = {name: value for name, value in PLAIN.items() if name not in (key, "hoodie.table.checksum")}
    with pytest.raises(CorruptTable, match=key):
        TableProperties.of(raw, "here")
