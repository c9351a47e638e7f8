"""Which slices a query needs: partitions by path, then by their column ranges, then slices by their files' ranges.

Everything here may only leave out what provably holds no matching row; what it cannot judge it keeps.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyhudi.format.instant import RequestedTime
from pyhudi.format.keys import DEFAULT_PARTITION, KeySpec, partition_values
from pyhudi.format.metadata_records import (
    COLUMN_STATS,
    PARTITION_STATS,
    ColumnRange,
    StatValue,
    ValueType,
)
from pyhudi.format.predicate import Bounds, Domain, Predicate, columns, domains_of, may_match, typed
from pyhudi.table.metadata_table import MetadataTable
from pyhudi.table.slices import BaseFile, FileSlice, LogFile
from pyhudi.table.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The slices to read, and how many there were to choose from."""

    slices: tuple[FileSlice, ...]
    partitions_total: int
    partitions_read: int
    slices_total: int
    """visible slices of the partitions read"""


def plan_scan(
    table: Table, predicate: Predicate | None, *, as_of: RequestedTime | None = None, read_optimized: bool = False
) -> Scan:
    """The slices that may hold rows matching the predicate, as of an instant, or as the table stands.

    `read_optimized` takes base files alone. A part of the predicate that does not fit the table rules nothing out here;
    whoever filters the rows refuses it.
    """
    partitions = table.partitions()
    pruning = _Pruning.of(table, predicate) if predicate is not None else None
    kept: Sequence[str] = partitions
    if pruning is not None:
        kept = pruning.partitions(kept, present=as_of is None)
    slices = table.slices(kept, as_of)
    if read_optimized:
        slices = [replace(each, logs=()) for each in slices if each.base is not None]
    return Scan(
        slices=tuple(slices if pruning is None else pruning.slices(slices)),
        partitions_total=len(partitions),
        partitions_read=len(kept),
        slices_total=len(slices),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pruning:
    """One predicate against one table."""

    predicate: Predicate
    domains: Mapping[str, Domain | None]
    keys: KeySpec
    metadata: MetadataTable | None
    metadata_partitions: frozenset[str]
    ranged: tuple[str, ...]
    """columns of the predicate whose ranges the metadata table keeps"""

    @classmethod
    def of(cls, table: Table, predicate: Predicate) -> _Pruning:
        domains = domains_of(table.schema)
        wanted = typed(predicate, domains, lenient=True)
        return cls(
            predicate=wanted,
            domains=domains,
            keys=table.properties.keys,
            metadata=table.metadata,
            metadata_partitions=table.properties.metadata_partitions,
            ranged=tuple(sorted(columns(wanted) & set(table.indexed_columns))),
        )

    def partitions(self, paths: Sequence[str], *, present: bool) -> list[str]:
        """Partitions left; their ranges tell of the present only, so time travel does without."""
        named = columns(self.predicate).intersection(self.keys.partition_fields)
        kept = [path for path in paths if not named or self._path_may_match(path)]
        if not present or not self.ranged or self.metadata is None or PARTITION_STATS not in self.metadata_partitions:
            return kept
        ranges = self.metadata.partition_ranges(self.ranged, kept)
        return [path for path in kept if may_match(self.predicate, self._known_of_partition(path, ranges))]

    def slices(self, slices: Sequence[FileSlice]) -> list[FileSlice]:
        """Slices left: merging picks one of a key's rows whole, so no file may match means no row does."""
        if not self.ranged or self.metadata is None or COLUMN_STATS not in self.metadata_partitions:
            return list(slices)
        names: dict[str, list[str]] = {}
        for each in slices:
            names.setdefault(each.partition_path, []).extend(str(file.name) for file in _files(each))
        ranges = self.metadata.column_ranges(self.ranged, names)
        return [each for each in slices if any(self._file_may_match(file, ranges) for file in _files(each))]

    def _path_may_match(self, path: str) -> bool:
        values = partition_values(path, self.keys)
        if values is None:
            return True
        told = [
            [(field, bounds) for bounds in _told_by_path(text, self.domains.get(field))]
            for field, text in zip(self.keys.partition_fields, values, strict=True)
        ]
        choices = itertools.product(*(each for each in told if each))
        return any(may_match(self.predicate, dict(choice)) for choice in choices)

    def _known_of_partition(self, path: str, ranges: Mapping[tuple[str, str], ColumnRange]) -> dict[str, Bounds]:
        """A partition's range leaves out files that lack the column, so its count of nulls proves nothing."""
        known = self._known((column, ranges.get((path, column))) for column in self.ranged)
        return {column: replace(bounds, may_be_null=True) for column, bounds in known.items()}

    def _file_may_match(self, file: BaseFile | LogFile, ranges: Mapping[tuple[str, str], ColumnRange]) -> bool:
        name = str(file.name)
        return may_match(self.predicate, self._known((column, ranges.get((name, column))) for column in self.ranged))

    def _known(self, ranges: Iterable[tuple[str, ColumnRange | None]]) -> dict[str, Bounds]:
        found = {}
        for column, stored in ranges:
            domain = self.domains[column]
            if stored is not None and domain is not None:
                found[column] = trusted_bounds(stored, domain)
        return found


def trusted_bounds(stored: ColumnRange, domain: Domain) -> Bounds:
    """What a stored range proves, no matter which writer stored it.

    Hudi up to 1.2.0 stores 0.0 as both bounds of a row group with a NaN, and takes strings too long for Parquet's
    statistics for nulls (apache/hudi#18754, #18755); it also joins string bounds in the order of UTF-16 units.
    pyhudi stores NaN as infinity.
    """
    if stored.value_type is ValueType.NULL and stored.value_count == 0 and stored.minimum is None:
        holds_rows = domain.kind is ValueType.DECIMAL  # older writers skip large decimals without a word
        return Bounds(may_be_null=holds_rows, may_be_value=holds_rows)
    decimal_type = (domain.precision, domain.scale) if domain.kind is ValueType.DECIMAL else None
    if stored.value_type is not domain.kind or stored.decimal_type != decimal_type:
        return Bounds()
    if stored.null_count == stored.value_count and domain.kind is not ValueType.STRING:
        return Bounds(may_be_value=False)
    may_be_null = stored.null_count != 0
    low, high = stored.minimum, stored.maximum
    if isinstance(low, float) and isinstance(high, float):
        if not (low > 0.0 or high < 0.0):
            low = high = None
        elif high == math.inf:
            high = None
    if domain.kind is ValueType.STRING:
        low, high = (None if may_be_null or _sorts_two_ways(end) else end for end in (low, high))
    return Bounds(minimum=low, maximum=high, may_be_null=may_be_null)


def _sorts_two_ways(end: StatValue | None) -> bool:
    """True where the order of UTF-16 units and that of UTF-8 bytes may differ."""
    return isinstance(end, str) and any(char >= "\ud800" for char in end)


def _files(each: FileSlice) -> Iterator[BaseFile | LogFile]:
    if each.base is not None:
        yield each.base
    yield from each.logs


def _told_by_path(text: str | None, domain: Domain | None) -> list[Bounds]:
    """The values that a partition column may have behind its text in the path, as alternatives; none if unknown.

    The default partition holds nulls, and where the column is a string also empty ones and the name itself.
    """
    kind = domain.kind if domain is not None else None
    if text is None:
        null = [Bounds(may_be_value=False)]
        return null + [_exactly(value) for value in ("", DEFAULT_PARTITION)] if kind is ValueType.STRING else null
    if kind is ValueType.STRING:
        return [_exactly(text)]
    try:
        if kind in (ValueType.INT, ValueType.LONG) and str(int(text)) == text:
            return [_exactly(int(text))]
        if kind is ValueType.DATE and (date := datetime.date.fromisoformat(text)).isoformat() == text:
            return [_exactly(date.toordinal() - _EPOCH)]
    except ValueError:
        return []
    return []


_EPOCH = datetime.date(1970, 1, 1).toordinal()


def _exactly(value: StatValue) -> Bounds:
    return Bounds(minimum=value, maximum=value, may_be_null=False)
