"""The oracle: what a table must hold, kept as dicts of key -> row, with the merge rules in a few lines."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[Any, ...]


@dataclass(kw_only=True)
class Model:
    """A table of rows with unique keys. `ordering` is None where the later change wins.

    On merge-on-read a key has a base row and the changes since, folded; an upsert that finds no row makes a base row.
    """

    key: Sequence[str]
    ordering: str | None = None
    merge_on_read: bool = False
    base: dict[Key, Row] = field(default_factory=dict)
    changes: dict[Key, Row | None] = field(default_factory=dict)
    planned: dict[Key, Row] | None = None
    """base rows as a compaction that waits to be carried out will leave them"""
    since: dict[Key, Row | None] = field(default_factory=dict)
    """changes since that plan, folded"""

    def copy(self) -> Model:
        """The same state, to go another way from here."""
        return copy.deepcopy(self)

    def write(self, operation: str, rows: Iterable[Row]) -> Model:
        """Apply an insert, upsert or delete to this model."""
        for row in rows:
            key = tuple(row[name] for name in self.key)
            self._change(key, None if operation == "delete" else row)
        return self

    def plan_compaction(self) -> Model:
        """From now on changes are beside what `compact` will do."""
        self.planned, self.since = self._merged(), {}
        return self

    def compact(self) -> Model:
        """Changes become base rows, those since the plan if there is one excepted."""
        base = self._merged() if self.planned is None else self.planned
        self.base, self.changes, self.planned, self.since = base, self.since, None, {}
        return self

    def snapshot(self) -> list[Row]:
        """All rows, sorted by key."""
        return _sorted(self._merged())

    def read_optimized(self) -> list[Row]:
        """The base rows, sorted by key."""
        return _sorted(self.base)

    def _change(self, key: Key, row: Row | None) -> None:
        if not self.merge_on_read:
            self.changes = {key: row}
            self.compact()
        elif key in self.base or self.changes.get(key) is not None:
            _fold(self.changes, key, row, self._wins)
            if self.planned is not None:
                _fold(self.since, key, row, self._wins)
        elif row is not None:
            for base in (self.base, self.planned):
                if base is not None:
                    base[key] = row

    def _merged(self) -> dict[Key, Row]:
        merged = dict(self.base)
        for key, row in self.changes.items():
            if row is None:
                merged.pop(key, None)
            elif self._wins(row, merged.get(key)):
                merged[key] = row
        return merged

    def _wins(self, row: Row | None, known: Row | None) -> bool:
        """Deletes by key carry no ordering value: they win, and yield to whatever comes next."""
        if row is None or known is None or self.ordering is None:
            return True
        return bool((row[self.ordering] or 0) >= (known[self.ordering] or 0))


def _fold(
    changes: dict[Key, Row | None], key: Key, row: Row | None, wins: Callable[[Row | None, Row | None], bool]
) -> None:
    if wins(row, changes.get(key)):
        changes[key] = row


def _sorted(rows: Mapping[Key, Row]) -> list[Row]:
    return [rows[key] for key in sorted(rows)]
