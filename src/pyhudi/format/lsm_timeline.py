"""The history of layout 2 (`timeline/history/`): names and manifests, as values.

`_version_` names the current manifest, the manifest lists the live parquet files, a parquet file's name tells the
range of instants in it. Names of any other shape are foreign (a crashed Java writer leaves `manifest_7.<uuid>`):
they parse to None and are never an error.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from pyhudi.errors import CorruptTable

VERSION_FILE = "_version_"

_MANIFEST_NAME = re.compile(r"manifest_([0-9]{1,9})", re.ASCII)
_FILE_NAME = re.compile(r"([0-9]+)_([0-9]+)_([0-9])\.parquet", re.ASCII)
_VERSION_TEXT = re.compile(r"[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFile:
    """One live parquet file of the history."""

    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LsmFileName:
    """What the name of a history file tells: the smallest and largest instant time in it, and its level."""

    minimum: str
    maximum: str
    level: int


def manifest_name(version: int) -> str:
    """The file name of manifest number `version`."""
    return f"manifest_{version}"


def parse_manifest_name(name: str) -> int | None:
    """The number of a manifest, None for a foreign or temporary name."""
    match = _MANIFEST_NAME.fullmatch(name)
    return int(match[1]) if match else None


def parse_file_name(name: str) -> LsmFileName | None:
    """What a history file's name tells, None for a foreign or temporary name."""
    match = _FILE_NAME.fullmatch(name)
    return LsmFileName(minimum=match[1], maximum=match[2], level=int(match[3])) if match else None


def parse_version(text: bytes) -> int:
    """The number of the current manifest, from the content of `_version_`."""
    shown = text.decode("ascii", "replace").strip()
    if not _VERSION_TEXT.fullmatch(shown):
        raise CorruptTable(
            f"{VERSION_FILE}: {shown[:40]!r} is not a manifest number. "
            f"Take the highest manifest in the folder instead (that is what Java Hudi does)."
        )
    return int(shown)


def parse_manifest(text: bytes, name: str) -> tuple[ManifestFile, ...]:
    """The live files that manifest `name` lists, in its order.

    An empty manifest file is damage here, where Java reads it as "no history": a torn write must not hide instants.
    """
    try:
        document = json.loads(text)
        return tuple(_manifest_file(entry) for entry in document["files"])
    except (ValueError, KeyError, TypeError, RecursionError) as cause:
        raise CorruptTable(
            f"{name}: not a manifest of the timeline's history ({type(cause).__name__}: {cause}). "
            f"Restore the file, or point {VERSION_FILE} at an older manifest."
        ) from cause


def _manifest_file(entry: dict[str, object]) -> ManifestFile:
    name, size = entry["fileName"], entry["fileLen"]
    if not isinstance(name, str) or not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise ValueError(f"fileName {name!r}, fileLen {size!r}")
    if parse_file_name(name) is None:
        raise ValueError(f"{name!r} is not the name of a history file")
    return ManifestFile(name=name, size=size)
