"""The engine door: four verbs, behind which rows stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

import pyarrow as pa

from pyhudi.file_group.reader import Projection
from pyhudi.file_group.spec import TableSpec
from pyhudi.file_group.tasks import Attempt, GroupWrite, KeyScan, Target
from pyhudi.file_group.writer import WrittenFile
from pyhudi.format.file_names import FileId
from pyhudi.format.keys import KeySpec
from pyhudi.format.predicate import Predicate
from pyhudi.table.slices import FileSlice

R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")

GroupKey: TypeAlias = tuple[str, FileId | None]
"""Partition path and file id; None for rows whose key is new."""


class Task(Protocol[R_co]):
    """A unit of work that pickles and returns a small result."""

    def run(self, attempt: Attempt) -> R_co:
        """Do it; may be called again elsewhere when a try failed."""
        ...


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """Rows on their way in: what the user handed over, and how rows get keys."""

    source: Any
    table: TableSpec
    keys: KeySpec
    deleting: bool
    combine: bool


class Located(Protocol):
    """Keyed rows that know their file group, and how many there are of each."""

    @property
    def profile(self) -> Mapping[GroupKey, int]:
        """Number of rows per file group; new keys count under file id None."""
        ...


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a query reads, and what helps an engine that is asked for less of it later.

    `is_plain`: a slice is one base file with exactly the table's columns, so that any Parquet reader gives its rows.
    `narrow`: which of the slices may hold rows that match a predicate.
    """

    table: TableSpec
    projection: Projection
    slices: tuple[FileSlice, ...]
    is_plain: Callable[[FileSlice], bool]
    narrow: Callable[[Predicate], Sequence[FileSlice]]


Lookup: TypeAlias = Callable[[Sequence[str]], Sequence[KeyScan]]
"""From partition paths to the scans that find their keys."""


class Engine(Protocol):
    """Carries out tasks. A fifth verb needs a decision note."""

    def run(self, tasks: Sequence[Task[R]]) -> list[R]:
        """Results in the order of the tasks."""
        ...

    def locate(self, incoming: Incoming, lookup: Lookup | None) -> Located:
        """Give every row its key, partition path and file group; without a lookup all keys are taken as new."""
        ...

    def shuffle(
        self, located: Any, targets: Mapping[GroupKey, Sequence[Target]], write: GroupWrite
    ) -> list[WrittenFile]:
        """Bring the rows of each target together and write them, each target once; takes what `locate` returned."""
        ...

    def frame(self, reading: Reading) -> Any:
        """The rows of a reading, in the form the engine's user works with."""
        ...


def table_of(tables: Sequence[pa.Table], schema: pa.Schema) -> pa.Table:
    """Tables of one schema put together, also when there are none."""
    return pa.concat_tables(tables) if tables else schema.empty_table()
