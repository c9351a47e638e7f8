"""Validation: is the table, as it lies on storage, what its readers and writers rest on? It only reads.

The rules bear the numbers of their design; each is a function from facts to findings. Where a file cannot be read, that
is the finding, and the other rules go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from pyhudi.client.validation.facts import Facts
from pyhudi.client.validation.files import (
    every_file_has_an_owner,
    names_are_unique,
    needed_files_are_whole,
    savepoints_are_whole,
)
from pyhudi.client.validation.finding import Finding, Severity, error, guarded
from pyhudi.client.validation.folding import base_files_fold_what_came_before
from pyhudi.client.validation.listing import metadata_lists_the_files, metadata_moves_with_the_table
from pyhudi.client.validation.logs import log_files_are_sound
from pyhudi.client.validation.paths import (
    partition_paths_can_be_read_back,
    partitions_are_marked,
    paths_stay_inside,
)
from pyhudi.client.validation.properties import (
    metadata_table_fits,
    properties_are_whole,
    properties_fit_the_schema,
)
from pyhudi.client.validation.rows import rows_tell_the_truth
from pyhudi.client.validation.timeline import nothing_is_unfinished, timeline_is_consistent
from pyhudi.errors import CorruptTable
from pyhudi.file_group.spec import TableSpec
from pyhudi.storage import Storage
from pyhudi.table.metadata_table import METADATA_FOLDER
from pyhudi.table.table import PROPERTIES_PATH, Table

__all__ = ["Finding", "Severity", "validate"]

Rule: TypeAlias = Callable[[Facts], Iterator[Finding]]
RowRule: TypeAlias = Callable[[Facts, TableSpec], Iterator[Finding]]

_OF_ANY_TABLE: tuple[tuple[str, Rule], ...] = (
    ("R3", timeline_is_consistent),
    ("R11", properties_are_whole),
    ("R18", paths_stay_inside),
    ("R1", needed_files_are_whole),
    ("R2", every_file_has_an_owner),
    ("R5", names_are_unique),
    ("R12", log_files_are_sound),
)
_OF_THE_USERS: tuple[tuple[str, Rule], ...] = (
    ("R3", nothing_is_unfinished),
    ("R11", metadata_table_fits),
    ("R11", properties_fit_the_schema),
    ("R18", partitions_are_marked),
    ("R18", partition_paths_can_be_read_back),
    ("R1", savepoints_are_whole),
    ("R8", metadata_lists_the_files),
    ("R8", metadata_moves_with_the_table),
)
_OF_ROWS: tuple[tuple[str, RowRule], ...] = (
    ("R7", rows_tell_the_truth),
    ("R13", base_files_fold_what_came_before),
)


def validate(
    storage: Storage, spec_of: Callable[[Table], TableSpec], *, now_ms: int, deep: bool = False
) -> list[Finding]:
    """What is unsound, the same thing told once; normally reads the latest slices, with `deep` every file."""
    told: dict[tuple[str, str], Finding] = {}
    for finding in _findings(storage, spec_of, now_ms, deep):
        told.setdefault((finding.where, finding.what), finding)
    return list(told.values())


def _findings(storage: Storage, spec_of: Callable[[Table], TableSpec], now_ms: int, deep: bool) -> Iterator[Finding]:
    try:
        table = Table.load(storage)
    except CorruptTable as problem:
        yield error("R11", PROPERTIES_PATH, str(problem), "restore the file from its backup")
        return
    facts = Facts(table=table, now_ms=now_ms, deep=deep)
    yield from _checked((*_OF_ANY_TABLE, *_OF_THE_USERS), facts)
    if table.properties.has_metadata_table:
        yield from guarded("R11", METADATA_FOLDER, _of_the_metadata_table(facts))
    yield from guarded("R7", storage.uri, _of_rows(facts, spec_of))


def _of_the_metadata_table(facts: Facts) -> Iterator[Finding]:
    inner = Table.load(facts.storage.within(METADATA_FOLDER))
    yield from _checked(_OF_ANY_TABLE, Facts(table=inner, now_ms=facts.now_ms, deep=facts.deep, prefix=METADATA_FOLDER))


def _of_rows(facts: Facts, spec_of: Callable[[Table], TableSpec]) -> Iterator[Finding]:
    spec = spec_of(facts.table)
    for number, rule in _OF_ROWS:
        yield from guarded(number, facts.storage.uri, rule(facts, spec))


def _checked(rules: Iterable[tuple[str, Rule]], facts: Facts) -> Iterator[Finding]:
    for number, rule in rules:
        yield from guarded(number, facts.at("") or facts.storage.uri, rule(facts))
