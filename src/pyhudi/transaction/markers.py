"""Markers: which data files an unfinished instant may have made, known before the files are there.

They lie in `.hoodie/.temp/<instant>/`: pyhudi's as one empty file per data file, Java's Spark writers' also as lines of
`MARKERS<n>`. Beside them lie the scratch files of local creates, of which a crash leaves one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyhudi.clock import Clock
from pyhudi.errors import CorruptTable, FileMissing, InvalidRequest
from pyhudi.format.file_names import marker_folder
from pyhudi.storage import FileInfo, Storage, joined, safe_path
from pyhudi.storage.local import SCRATCH_FOLDER, SCRATCH_PREFIX

_SUFFIX = re.compile(r"(.+)\.marker\.(CREATE|MERGE|APPEND)")
_LINES_FILE = re.compile(r"MARKERS\d+")
_TYPE_FILE = "MARKERS.type"


def list_markers(storage: Storage, instant: str) -> frozenset[str]:
    """Paths, from the table's root, of all data files that the instant's writers may have made."""
    folder = marker_folder(instant)
    paths: set[str] = set()
    for file in _below(storage, folder):
        inside = file.path.removeprefix(f"{folder}/")
        if _LINES_FILE.fullmatch(inside):
            paths.update(_marked_in_lines(storage, file.path))
        elif inside != _TYPE_FILE:
            paths.add(_marked(inside, file.path))
    return frozenset(paths)


def delete_markers(storage: Storage, instant: str) -> None:
    """Remove all markers of the instant; the file that tells their type goes last, or Java could not read the rest."""
    files = sorted(_below(storage, marker_folder(instant)), key=lambda file: file.name == _TYPE_FILE)
    for file in files:
        storage.delete(file.path)


def sweep_scratch(storage: Storage, clock: Clock, older_than_ms: int) -> int:
    """Remove the scratch files that crashed writers left so long ago; how many there were."""
    oldest_ms = clock.now_ms() - older_than_ms
    stale = [
        file
        for file in storage.list(SCRATCH_FOLDER).files
        if file.name.startswith(SCRATCH_PREFIX) and file.modified_ms < oldest_ms
    ]
    for file in stale:
        storage.delete(file.path)
    return len(stale)


def _below(storage: Storage, folder: str) -> Iterator[FileInfo]:
    listing = storage.list(folder)
    yield from listing.files
    for directory in listing.directories:
        yield from _below(storage, joined(folder, directory))


def _marked_in_lines(storage: Storage, path: str) -> Iterator[str]:
    """The lines of one of Java's marker files. A last line without its end was never acknowledged to a task."""
    try:
        text = storage.read(path).decode()
    except FileMissing:
        return
    except UnicodeDecodeError as garbled:
        raise CorruptTable(f"marker file {path} is not text; restore it, or remove it if no writer works") from garbled
    for line in text.split("\n")[:-1]:
        yield _marked(line, path)


def _marked(marker: str, path: str) -> str:
    match = _SUFFIX.fullmatch(marker)
    try:
        if match is not None:
            return safe_path(match[1])
    except InvalidRequest as escape:
        raise CorruptTable(f"{path} marks a data file outside the table: {escape}") from escape
    raise CorruptTable(f"{path} holds {marker!r}, which is no marker; remove it if no writer is at work")
