"""Merging: the last state per record key out of many changes, and base rows under those changes.

The rules are Hudi 1.2.0's. Among changes the higher ordering value wins and the later one of equals; a delete
without an ordering value wins over all that came before it and yields to the next row. A base row stays only if its
ordering value is above that of the change. Without an ordering column the later change wins and every base row yields.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import SchemaMismatch
from pyhudi.format.schema import RECORD_KEY
from pyhudi.merge.arrow_schema import conform
from pyhudi.merge.deletes import Deletes
from pyhudi.merge.modes import MergeRule, soft_deletes
from pyhudi.merge.ordering import comparable, greater, is_default, ranks

_SETTLE_ROWS = 1_000_000
"""Changes that may pile up before the superseded ones among them are dropped."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MergeOutcome:
    """One batch of base rows after the changes, in the base's order."""

    rows: pa.Table
    updated: int
    deleted: int
    changed: npt.NDArray[np.bool_]
    """per row: whether it came from the changes"""


class Changes:
    """The incoming side of one file group: the last state of every key that changed.

    Hand every batch of the base to `merge`, then take what no base row had from `remaining`.
    """

    def __init__(self, events: _Events, schema: pa.Schema, ordering: pa.Field | None) -> None:
        self._events = events
        self._schema = schema
        self._ordering = ordering
        self._seen = np.zeros(len(events.keys), np.bool_)
        self._lost = np.zeros(len(events.keys), np.bool_)

    @classmethod
    def fold(cls, items: Iterable[pa.Table | pa.RecordBatch | Deletes], rule: MergeRule, schema: pa.Schema) -> Changes:
        """Replay rows and deletes in their order; all rows are brought to `schema`."""
        ordering = rule.ordering_field(schema)
        settled = _no_events(schema, ordering)
        pending, waiting = [settled], 0
        for item in items:
            events = _deletes(item, schema, ordering) if isinstance(item, Deletes) else _rows(item, rule, schema)
            pending.append(events)
            waiting += len(events.keys)
            if waiting > _SETTLE_ROWS + len(settled.keys):
                settled = _settle(pending)
                pending, waiting = [settled], 0
        return cls(_settle(pending), schema, ordering)

    @property
    def ignored(self) -> int:
        """How many keys kept a newer base row so far."""
        return int(self._lost.sum())

    def merge(self, base: pa.RecordBatch | pa.Table) -> MergeOutcome:
        """The batch with its rows replaced in place or dropped as the changes say."""
        table = conform(base, self._schema)
        target = self._matches(table)
        hits = np.flatnonzero(target >= 0)
        if not hits.size:
            return MergeOutcome(rows=table, updated=0, deleted=0, changed=np.zeros(table.num_rows, np.bool_))
        self._seen[target[hits]] = True
        hits = self._yielding(table, hits, target)
        gone = self._events.is_delete[target[hits]]
        fresh = hits[~gone]
        changed = np.zeros(table.num_rows, np.bool_)
        changed[fresh] = True
        rows = self._replaced(table, fresh, target[fresh])
        if gone.any():
            kept = np.ones(table.num_rows, np.bool_)
            kept[hits[gone]] = False
            rows, changed = rows.filter(pa.array(kept)), changed[kept]
        return MergeOutcome(rows=rows, updated=int(fresh.size), deleted=int(gone.sum()), changed=changed)

    def remaining(self) -> pa.Table:
        """The rows to insert: keys that no base row had, deletes left out."""
        return self._events.rows_of(np.flatnonzero(~self._seen & ~self._events.is_delete))

    def _matches(self, table: pa.Table) -> npt.NDArray[np.int64]:
        """For each row the change with its key, or -1."""
        found = pc.index_in(_single(table.column(RECORD_KEY)), value_set=self._events.keys)
        return np.asarray(found.fill_null(-1), dtype=np.int64)

    def _yielding(
        self, table: pa.Table, hits: npt.NDArray[np.int64], target: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Those of the hit base rows that are not newer than their change."""
        if self._ordering is None or self._events.ordering is None:
            return hits
        changes = target[hits]
        base = comparable(_single(table.column(self._ordering.name)).take(pa.array(hits)), self._ordering)
        newer = greater(base, self._events.ordering.take(pa.array(changes))) & ~self._events.is_final[changes]
        self._lost[changes[newer]] = True
        return hits[~newer]

    def _replaced(self, table: pa.Table, where: npt.NDArray[np.int64], changes: npt.NDArray[np.int64]) -> pa.Table:
        if not where.size:
            return table
        index = np.arange(table.num_rows)
        index[where] = table.num_rows + np.arange(where.size)
        return pa.concat_tables([table, self._events.rows_of(changes)]).take(pa.array(index))


def latest_per_key(rows: pa.Table, rule: MergeRule) -> pa.Table:
    """Of the rows with one key the one that wins, in the order of the rows; rows that say delete stay among them."""
    events = _rows(rows, rule, rows.schema)
    winners = _winners(events)
    return rows if winners.size == rows.num_rows else rows.take(pa.array(winners))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Events:
    """Changes in their order of arrival, as columns side by side."""

    keys: pa.Array
    is_delete: npt.NDArray[np.bool_]
    is_final: npt.NDArray[np.bool_]
    """a delete without an ordering value"""
    ordering: pa.Array | None
    row: npt.NDArray[np.int64]
    """place in `rows`; -1 for an entry of a delete block"""
    rows: pa.Table

    def rows_of(self, events: npt.NDArray[np.int64]) -> pa.Table:
        return self.rows.take(pa.array(self.row[events]))


def _no_events(schema: pa.Schema, ordering: pa.Field | None) -> _Events:
    if RECORD_KEY not in schema.names:
        raise SchemaMismatch(f"rows without the column {RECORD_KEY!r} cannot be merged by key")
    nothing = Deletes(keys=pa.array([], pa.string()), ordering=pa.nulls(0), is_default=np.zeros(0, np.bool_))
    return _deletes(nothing, schema, ordering)


def _deletes(entries: Deletes, schema: pa.Schema, ordering: pa.Field | None) -> _Events:
    count = len(entries.keys)
    return _Events(
        keys=entries.keys,
        is_delete=np.ones(count, np.bool_),
        is_final=entries.is_default,
        ordering=None if ordering is None else comparable(entries.ordering, ordering),
        row=np.full(count, -1, np.int64),
        rows=schema.empty_table(),
    )


def _rows(item: pa.Table | pa.RecordBatch, rule: MergeRule, schema: pa.Schema) -> _Events:
    table = conform(item, schema)
    keys = _single(table.column(RECORD_KEY))
    if keys.null_count:
        raise SchemaMismatch(f"{keys.null_count} rows have no {RECORD_KEY!r}; rows are merged by it")
    is_delete = soft_deletes(item, rule)
    field = rule.ordering_field(schema)
    values = None if field is None else _single(table.column(field.name))
    return _Events(
        keys=keys,
        is_delete=is_delete,
        is_final=is_delete if values is None else is_delete & is_default(values),
        ordering=None if values is None else comparable(values, field),
        row=np.arange(table.num_rows),
        rows=table,
    )


def _settle(pending: list[_Events]) -> _Events:
    """One event per key out of those that arrived one after another."""
    events = _concatenated(pending)
    winners = _winners(events)
    row = events.row[winners]
    kept = row[row >= 0]
    is_all = kept.size == events.rows.num_rows
    row[row >= 0] = np.arange(kept.size)
    which = pa.array(winners)
    return _Events(
        keys=events.keys.take(which),
        is_delete=events.is_delete[winners],
        is_final=events.is_final[winners],
        ordering=None if events.ordering is None else events.ordering.take(which),
        row=row,
        rows=events.rows if is_all else events.rows.take(pa.array(kept)),
    )


def _concatenated(parts: list[_Events]) -> _Events:
    shifts = np.cumsum([0, *(part.rows.num_rows for part in parts)])
    orderings = [part.ordering for part in parts if part.ordering is not None]
    return _Events(
        keys=pa.concat_arrays([part.keys for part in parts]),
        is_delete=np.concatenate([part.is_delete for part in parts]),
        is_final=np.concatenate([part.is_final for part in parts]),
        ordering=pa.concat_arrays(orderings) if orderings else None,
        row=np.concatenate(
            [np.where(part.row < 0, -1, part.row + shift) for part, shift in zip(parts, shifts, strict=False)]
        ),
        rows=pa.concat_tables([part.rows for part in parts]).combine_chunks(),
    )


def _winners(events: _Events) -> npt.NDArray[np.int64]:
    """For each key the event that is left after all, ascending."""
    encoded = events.keys.dictionary_encode()
    key = np.asarray(encoded.indices, dtype=np.int64)
    count = len(encoded.dictionary)
    if count == key.size:
        return np.arange(key.size)
    if events.ordering is None:
        return np.sort(_last(np.arange(key.size), key, count))
    return np.sort(_ordered_winners(events, key, count))


def _ordered_winners(events: _Events, key: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    arrival = np.arange(key.size)
    winner = _last(np.flatnonzero(events.is_final), key, count)
    final = winner[key]
    # a final delete forgets what came before it, and ignores further delete entries until a row comes
    revived = np.full(count, key.size)
    data = np.flatnonzero((events.row >= 0) & (arrival > final))[::-1]
    revived[key[data]] = data
    alive = np.flatnonzero((final < 0) | (arrival >= revived[key]))
    rank = ranks(events.ordering)
    best = np.full(count, np.iinfo(np.int64).min)
    np.maximum.at(best, key[alive], rank[alive])
    top = alive[rank[alive] == best[key[alive]]]
    winner[key[top]] = top
    return winner


def _last(events: npt.NDArray[np.int64], key: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Per key the last of these ascending events, -1 where it has none."""
    last = np.full(count, -1, np.int64)
    last[key[events]] = events
    return last


def _single(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The column as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
