"""The archived part of a timeline in layout 2: an LSM tree of Parquet files, named by a manifest."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.errors import CorruptTable
from pyhudi.format.instant import CompletionTime, RequestedTime
from pyhudi.format.lsm_timeline import manifest_name, parse_manifest, parse_version
from pyhudi.format.version import TimelineLayout
from pyhudi.storage import Storage, joined

VERSION_FILE = "_version_"


def archived_completion_times(storage: Storage, layout: TimelineLayout) -> Mapping[RequestedTime, CompletionTime]:
    """Completion time of every archived instant; empty when nothing was archived."""
    folder = layout.history_folder
    names = {info.name for info in storage.list(folder).files}
    if VERSION_FILE not in names:
        return {}
    version = parse_version(storage.read(joined(folder, VERSION_FILE)))
    manifest = joined(folder, manifest_name(version))
    times: dict[RequestedTime, CompletionTime] = {}
    for file in parse_manifest(storage.read(manifest), manifest):
        path = joined(folder, file.name)
        if file.name not in names:
            raise CorruptTable(f"{manifest} names {file.name}, which is not there; restore it")
        times.update(_completion_times(storage.read(path), path))
    return times


def _completion_times(content: bytes, path: str) -> Mapping[RequestedTime, CompletionTime]:
    try:
        rows = pq.ParquetFile(io.BytesIO(content)).read(columns=["instantTime", "completionTime"], use_threads=False)
    except (pa.ArrowInvalid, OSError) as problem:
        raise CorruptTable(f"{path} is no readable Parquet file ({problem}); restore it") from problem
    requested, completed = rows.column("instantTime").to_pylist(), rows.column("completionTime").to_pylist()
    return dict(zip(requested, completed, strict=True))
