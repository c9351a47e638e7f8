"""All that differs between table versions, one frozen record each; nobody else compares version numbers."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.errors import Unsupported


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineLayout:
    """Where the timeline lives and how its files are named."""

    number: int
    active_folder: str
    history_folder: str
    completed_name_has_completion_time: bool


LAYOUT_TWO = TimelineLayout(
    number=2,
    active_folder=".hoodie/timeline",
    history_folder=".hoodie/timeline/history",
    completed_name_has_completion_time=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableVersion:
    """One table version, as a list of its differences from the others."""

    code: int
    layout: TimelineLayout
    written_by: str
    ordering_property: str
    single_complex_key_is_prefixed: bool
    log_named_by_delta_commit: bool
    undo_deletes_log_files: bool
    stats_index_version: str


NINE = TableVersion(
    code=9,
    layout=LAYOUT_TWO,
    written_by="Hudi 1.1 and 1.2",
    ordering_property="hoodie.table.ordering.fields",
    single_complex_key_is_prefixed=True,
    log_named_by_delta_commit=True,
    undo_deletes_log_files=True,
    stats_index_version="V2",
)

VERSIONS: tuple[TableVersion, ...] = (NINE,)
CURRENT = NINE

_OLDEST_KNOWN = 6


def version_of(code: int, where: str) -> TableVersion:
    """The record of a version, or a refusal that names it."""
    for version in VERSIONS:
        if version.code == code:
            return version
    known = ", ".join(str(version.code) for version in VERSIONS)
    if code > CURRENT.code:
        reason = "it is newer than this pyhudi knows; use a newer pyhudi"
    elif code < _OLDEST_KNOWN:
        reason = "upgrade the table with Hudi 0.14 or later first"
    else:
        reason = "versions before 9 are not supported yet; upgrade the table with Hudi 1.2, or wait for their release"
    raise Unsupported(f"table version {code} at {where} (supported: {known}): {reason}")
