"""The archived part of a timeline in layout 2: an LSM tree of Parquet files, named by a manifest."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.errors import CorruptTable
from pyhudi.format.instant import WRITES, CompletionTime, RequestedTime
from pyhudi.format.lsm_timeline import VERSION_FILE, manifest_name, parse_file_name, parse_manifest, parse_version
from pyhudi.format.metadata import CommitMetadata
from pyhudi.format.version import TimelineLayout
from pyhudi.storage import Storage, joined


def archived_completion_times(storage: Storage, layout: TimelineLayout) -> Mapping[RequestedTime, CompletionTime]:
    """Completion time of every archived instant; empty when nothing was archived."""
    times: dict[RequestedTime, CompletionTime] = {}
    for path in _live_files(storage, layout):
        rows = _columns(storage.read(path), path, ["instantTime", "completionTime"])
        times.update(zip(rows["instantTime"], rows["completionTime"], strict=True))
    return times


class ArchivedCommits:
    """What archived writes say; a history file is read when an instant in its range is first asked for."""

    def __init__(self, storage: Storage, layout: TimelineLayout) -> None:
        self._storage = storage
        self._paths: list[str] | None = None
        self._layout = layout
        self._rows: dict[str, dict[str, bytes]] = {}

    def commit(self, instant: RequestedTime) -> CommitMetadata | None:
        """The metadata of a write; None when no file that may hold it does."""
        if self._paths is None:
            self._paths = _live_files(self._storage, self._layout)
        for path in self._paths:
            name = parse_file_name(path.rsplit("/", 1)[-1])
            if name is None or not min(name.minimum, name.maximum) <= instant <= max(name.minimum, name.maximum):
                continue
            content = self._writes_in(path).get(instant)
            if content:
                return CommitMetadata.from_bytes(content, f"{path}, instant {instant}")
        return None

    def _writes_in(self, path: str) -> dict[str, bytes]:
        if path not in self._rows:
            rows = _columns(self._storage.read(path), path, ["instantTime", "action", "metadata"])
            each = zip(rows["instantTime"], rows["action"], rows["metadata"], strict=True)
            self._rows[path] = {time: content for time, action, content in each if action in WRITES}
        return self._rows[path]


def _live_files(storage: Storage, layout: TimelineLayout) -> list[str]:
    """Files that the newest manifest names."""
    folder = layout.history_folder
    names = {info.name for info in storage.list(folder).files}
    if VERSION_FILE not in names:
        return []
    version = parse_version(storage.read(joined(folder, VERSION_FILE)))
    manifest = joined(folder, manifest_name(version))
    found = []
    for file in parse_manifest(storage.read(manifest), manifest):
        if file.name not in names:
            raise CorruptTable(f"{manifest} names {file.name}, which is not there; restore it")
        found.append(joined(folder, file.name))
    return found


def _columns(content: bytes, path: str, names: list[str]) -> dict[str, list[Any]]:
    try:
        rows = pq.ParquetFile(io.BytesIO(content)).read(columns=names, use_threads=False)
    except (pa.ArrowInvalid, OSError) as problem:
        raise CorruptTable(f"{path} is no readable Parquet file ({problem}); restore it") from problem
    return {name: rows.column(name).to_pylist() for name in names}
