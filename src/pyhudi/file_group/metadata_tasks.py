"""Compaction of a file group of the metadata table: its records, merged, as the next HFile."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from pyhudi.file_group.tasks import Attempt
from pyhudi.format.file_names import HFILE, BaseFileName
from pyhudi.format.hfile import HFileReader, write_hfile
from pyhudi.format.instant import RequestedTime
from pyhudi.format.metadata import WriteStat
from pyhudi.format.metadata_records import (
    MetadataRecord,
    decode_record,
    encode_record,
    metadata_schema_text,
    without_tombstones,
)
from pyhudi.storage import Storage, joined
from pyhudi.table.metadata_table import apply_record, log_records
from pyhudi.table.slices import FileSlice


@dataclass(frozen=True, kw_only=True)
class CompactMetadataSlice:
    """One file group; `storage` is rooted at the metadata table."""

    storage: Storage
    instant: RequestedTime
    slice: FileSlice
    created_ms: int
    salt: int

    def run(self, attempt: Attempt) -> WriteStat:
        """Write the HFile and say what was written."""
        records = merged_records(self.storage, self.slice)
        name = BaseFileName(
            file_id=self.slice.file_id, write_token=attempt.token(self.salt), instant=self.instant, extension=HFILE
        )
        content = metadata_hfile(records, created_ms=self.created_ms, bloom=True)
        path = joined(self.slice.partition_path, str(name))
        self.storage.create(path, content)
        return WriteStat(
            file_id=self.slice.file_id,
            path=path,
            partition_path=self.slice.partition_path,
            previous_commit=str(self.slice.base_instant),
            writes=len(records),
            bytes_written=len(content),
            file_size=len(content),
            previous_base_file=str(self.slice.base.name) if self.slice.base else None,
            log_files_compacted=len(self.slice.logs),
            log_bytes_compacted=sum(log.size for log in self.slice.logs),
        )


def merged_records(storage: Storage, part: FileSlice) -> dict[str, MetadataRecord]:
    """All records of a slice as a base file keeps them."""
    records: dict[str, MetadataRecord] = {}
    if part.base is not None:
        path = part.base.path
        reader = HFileReader(functools.partial(storage.read_range, path), part.base.size, path)
        for key, datum in reader.scan():
            record = decode_record(datum, reader.schema, path)
            if record is not None:
                records[key.decode()] = record
    for log in part.logs:
        for name, change in log_records(storage.read(log.path), log.path):
            apply_record(records, name, change)
    kept = {key: without_tombstones(record) for key, record in records.items()}
    return {key: record for key, record in kept.items() if record is not None}


def metadata_hfile(records: dict[str, MetadataRecord], *, created_ms: int, bloom: bool) -> bytes:
    """Records as an HFile, in key order; base files carry a bloom filter, log blocks none."""
    entries = sorted((key.encode(), encode_record(record)) for key, record in records.items())
    return write_hfile(entries, metadata_schema_text(), created_ms=created_ms, bloom=bloom)
