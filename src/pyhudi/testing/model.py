"""The oracle: what a table must hold, kept as dicts of key -> row, with the merge rules in a few lines."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[Any, ...]


@dataclass(kw_only=True)
class Model:
    """A table of rows with unique keys. `ordering` is None where the later change wins.

    On merge-on-read a key has a base row and the changes since, folded; an upsert that finds no base row makes one.
    """

    key: Sequence[str]
    ordering: str | None = None
    merge_on_read: bool = False
    base: dict[Key, Row] = field(default_factory=dict)
    changes: dict[Key, Row | None] = field(default_factory=dict)

    def copy(self) -> Model:
        """The same state, to go another way from here."""
        return copy.deepcopy(self)

    def write(self, operation: str, rows: Iterable[Row]) -> Model:
        """Apply an insert, upsert or delete to this model."""
        for row in rows:
            key = tuple(row[name] for name in self.key)
            self._change(key, None if operation == "delete" else row)
        return self

    def compact(self) -> Model:
        """Changes become base rows."""
        self.base, self.changes = self._merged(), {}
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
        elif key in self.base:
            known = self.changes.get(key)
            if key not in self.changes or self._wins(row, known):
                self.changes[key] = row
        elif row is not None:
            self.base[key] = row

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
        return bool(row[self.ordering] >= known[self.ordering])


def _sorted(rows: Mapping[Key, Row]) -> list[Row]:
    return [rows[key] for key in sorted(rows)]
