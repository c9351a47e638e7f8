"""The kernel against a model that replays Hudi's rules one record at a time."""

import itertools
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.errors import SchemaMismatch
from pyhudi.format.merge_properties import MergeMode
from pyhudi.merge import kernel
from pyhudi.merge.deletes import Deletes, decode_deletes, encode_deletes
from pyhudi.merge.kernel import Changes, latest_per_key
from pyhudi.merge.modes import MergeRule

KEY = "_hoodie_record_key"
EVENT = MergeRule(mode=MergeMode.EVENT_TIME_ORDERING, ordering_fields=("ts",))
COMMIT = MergeRule(mode=MergeMode.COMMIT_TIME_ORDERING, ordering_fields=("ts",))


# ---------------------------------------------------------------- the model


@dataclass(frozen=True)
class Change:
    """One row or one entry of a delete block; `ts` None is no ordering value."""

    key: str
    ts: int | None
    name: int
    is_row: bool = True
    deleted: bool = False


@dataclass(frozen=True)
class Model:
    rule: MergeRule
    zero_is_default: bool

    @property
    def by_event_time(self) -> bool:
        return self.rule.mode is MergeMode.EVENT_TIME_ORDERING

    def is_delete(self, change: Change) -> bool:
        return change.deleted or not change.is_row

    def is_final_delete(self, change: Change) -> bool:
        default = change.ts is None or (change.ts == 0 and self.zero_is_default)
        return self.is_delete(change) and default

    def replaces(self, new: Change, old: Change | None) -> bool:
        """Hudi's deltaMerge for a row and for a delete entry."""
        if old is None or not self.by_event_time:
            return True
        if not new.is_row:
            if self.is_final_delete(old):
                return False
            return self.is_final_delete(new) or not (old.ts or 0) > (new.ts or 0)
        if self.is_final_delete(new) or self.is_final_delete(old):
            return True
        return (new.ts or 0) >= (old.ts or 0)

    def fold(self, changes: list[Change]) -> dict[str, Change]:
        state: dict[str, Change] = {}
        for change in changes:
            if self.replaces(change, state.get(change.key)):
                state[change.key] = change
        return state

    def stays(self, base: Change, change: Change) -> bool:
        """Hudi's finalMerge: whether the base row stays."""
        if not self.by_event_time or self.is_final_delete(change):
            return False
        return (change.ts or 0) < (base.ts or 0)

    def read(self, base: list[Change], changes: list[Change]) -> tuple[list[int], set[int]]:
        """Names of the rows that base rows became, in order, and of the inserted ones."""
        state = self.fold(changes)
        merged = []
        for row in base:
            change = state.get(row.key)
            if change is None or self.stays(row, change):
                merged.append(row.name)
            elif not self.is_delete(change):
                merged.append(change.name)
        keys = {row.key for row in base}
        return merged, {c.name for c in state.values() if c.key not in keys and not self.is_delete(c)}


# ---------------------------------------------------------------- from the model to Arrow


def identity(value: int) -> Any:
    return value


ORDERINGS: dict[str, tuple[pa.DataType, Any, bool]] = {
    "int": (pa.int32(), identity, True),
    "long": (pa.int64(), identity, False),
    "double": (pa.float64(), float, False),
    "date": (pa.date32(), identity, True),
    "timestamp": (pa.timestamp("us", "UTC"), identity, False),
    "local timestamp": (pa.timestamp("us"), identity, False),
    "decimal": (pa.decimal128(12, 3), Decimal, False),
    "string": (pa.string(), lambda value: chr(ord("d") + value) if value else "", False),
}


def schema_of(kind: str) -> pa.Schema:
    return pa.schema(
        [(KEY, pa.string()), ("name", pa.int64()), ("ts", ORDERINGS[kind][0]), ("_hoodie_is_deleted", pa.bool_())]
    )


def ordering_array(changes: list[Change], kind: str) -> pa.Array:
    arrow, value_of, _ = ORDERINGS[kind]
    return pa.array([None if c.ts is None else value_of(c.ts) for c in changes], arrow)


def rows_of(changes: list[Change], kind: str) -> pa.Table:
    columns = [
        pa.array([c.key for c in changes], pa.string()),
        pa.array([c.name for c in changes], pa.int64()),
        ordering_array(changes, kind),
        pa.array([c.deleted for c in changes], pa.bool_()),
    ]
    return pa.table(columns, schema=schema_of(kind))


def item_of(changes: list[Change], kind: str) -> pa.Table | Deletes:
    """Rows, or delete entries as they come back from a block's bytes."""
    if changes[0].is_row:
        return rows_of(changes, kind)
    keys = pa.array([c.key for c in changes])
    return decode_deletes(encode_deletes(keys, "p", ordering_array(changes, kind)), "a.log")


def items_of(changes: list[Change], kind: str) -> list[pa.Table | Deletes]:
    return [item_of(list(group), kind) for _, group in itertools.groupby(changes, key=lambda c: c.is_row)]


def read(
    base: list[Change], changes: list[Change], rule: MergeRule, kind: str, batch: int = 1000
) -> tuple[list[int], set[int]]:
    folded = Changes.fold(items_of(changes, kind), rule, schema_of(kind))
    merged: list[int] = []
    for start in range(0, len(base), batch):
        before = base[start : start + batch]
        outcome = folded.merge(rows_of(before, kind))
        names = outcome.rows["name"].to_pylist()
        assert outcome.deleted == len(before) - len(names)
        assert outcome.changed.tolist() == [name not in {row.name for row in before} for name in names]
        assert outcome.updated == int(outcome.changed.sum())
        assert outcome.rows.schema == schema_of(kind)
        merged += names
    inserted = folded.remaining()
    assert inserted.schema == schema_of(kind)
    return merged, set(inserted["name"].to_pylist())


def change_of(draw: st.DrawFn, kind: str, names: "itertools.count[int]") -> Change:
    smallest = 0 if kind == "string" else -2
    ts = draw(st.one_of(st.none(), st.integers(smallest, 2)))
    key = draw(st.sampled_from("abcd"))
    if draw(st.booleans()):
        return Change(key, ts, next(names), deleted=draw(st.booleans()))
    # the int 0 of an entry is "no ordering value" whatever the column
    return Change(key, None if ts == 0 and ORDERINGS[kind][2] else ts, next(names), is_row=False)


@st.composite
def histories(draw: st.DrawFn) -> tuple[str, list[Change], list[Change]]:
    kind = draw(st.sampled_from(sorted(ORDERINGS)))
    names = itertools.count()
    base = [
        Change(key, draw(st.one_of(st.none(), st.integers(0, 2))), next(names))
        for key in draw(st.lists(st.sampled_from("abcdef"), unique=True))
    ]
    return kind, base, [change_of(draw, kind, names) for _ in range(draw(st.integers(0, 12)))]


# ---------------------------------------------------------------- tests


@pytest.mark.parametrize("rule", [EVENT, COMMIT], ids=["event time", "commit time"])
@settings(deadline=None, max_examples=300)
@given(history=histories(), batch=st.integers(1, 4))
def test_any_history_reads_as_the_model_says(
    rule: MergeRule, history: tuple[str, list[Change], list[Change]], batch: int
) -> None:
    kind, base, changes = history
    model = Model(rule, zero_is_default=ORDERINGS[kind][2])
    assert read(base, changes, rule, kind, batch) == model.read(base, changes)


@settings(deadline=None, max_examples=100)
@given(history=histories())
def test_dropping_superseded_changes_early_changes_nothing(history: tuple[str, list[Change], list[Change]]) -> None:
    kind, base, changes = history
    expected = read(base, changes, EVENT, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_SETTLE_ROWS", 0)
        assert read(base, changes, EVENT, kind) == expected


LESS, EQUAL, MORE = 1, 2, 3
PLACES = ["base", "log", "log+base"]


@pytest.mark.parametrize("rule", [EVENT, COMMIT], ids=["event time", "commit time"])
@pytest.mark.parametrize("kind", sorted(ORDERINGS))
def test_all_orders_of_insert_update_delete_with_all_orderings_in_all_places(rule: MergeRule, kind: str) -> None:
    """S39: every case is a key of its own, so all of them merge in one go."""
    model = Model(rule, zero_is_default=ORDERINGS[kind][2])
    base: list[Change] = []
    steps: list[list[Change]] = [[], [], []]
    names = itertools.count()
    sequences = list(itertools.permutations(["insert", "update", "delete"]))
    sequences += [("insert", "soft", "update"), ("soft", "insert", "delete"), ("insert", "delete", "soft")]
    orderings = itertools.product([LESS, EQUAL, MORE, None, 0], repeat=3)
    for sequence, stamps, place in itertools.product(sequences, orderings, PLACES):
        key = "-".join([*sequence, *map(str, stamps), place])
        rows = [
            Change(key, ts, next(names), is_row=what != "delete", deleted=what == "soft")
            for what, ts in zip(sequence, stamps, strict=True)
        ]
        if place == "log+base":
            base.append(Change(key, EQUAL, next(names)))
        if place == "base" and rows[0].is_row and not rows[0].deleted:
            base.append(rows[0])
            rows = rows[1:]
        for step, row in zip(steps, rows, strict=False):
            step.append(row)
    changes = [change for step in steps for change in sorted(step, key=lambda c: c.is_row)]
    assert len(base) > 1000
    assert read(base, changes, rule, kind) == model.read(base, changes)


@pytest.mark.parametrize("ts", [0, -3, None])
def test_a_row_inserted_again_after_a_delete_is_present(ts: int | None) -> None:
    """S40: the ordering value 0 is data."""
    for kind in ("int", "long"):
        changes = [Change("k", ts, 1), Change("k", None, 2, is_row=False), Change("k", ts, 3)]
        assert read([], changes, EVENT, kind) == ([], {3})
        assert read([Change("k", ts, 0)], changes, EVENT, kind) == ([3], set())


def test_base_order_is_kept_and_numbers_add_up() -> None:
    base = [Change(f"k{i}", 5, i) for i in range(6)]
    changes = [
        Change("k1", 6, 11),
        Change("k2", 4, 12),
        Change("k3", 4, 13, is_row=False),
        Change("k4", 5, 14, is_row=False),
        Change("k5", None, 15, is_row=False),
        Change("k9", 1, 19),
        Change("k8", 1, 18, is_row=False),
    ]
    folded = Changes.fold(items_of(changes, "long"), EVENT, schema_of("long"))
    outcome = folded.merge(rows_of(base, "long").to_batches()[0])
    assert outcome.rows["name"].to_pylist() == [0, 11, 2, 3]
    assert outcome.changed.tolist() == [False, True, False, False]
    assert (outcome.updated, outcome.deleted, folded.ignored) == (1, 2, 2)
    assert folded.remaining()["name"].to_pylist() == [19]


def test_without_changes_a_batch_passes_through() -> None:
    base = rows_of([Change("a", 1, 1)], "long")
    folded = Changes.fold([], EVENT, base.schema)
    assert folded.merge(base).rows.equals(base)
    assert folded.remaining().num_rows == 0


def test_blocks_and_base_of_older_schemas_are_brought_to_the_tables() -> None:
    schema = pa.schema([(KEY, pa.string()), ("ts", pa.int64()), ("added", pa.string())])
    old = pa.table({KEY: ["a", "b"], "ts": pa.array([5, 5], pa.int32()), "dropped": [1, 2]})
    new = pa.table({KEY: ["a"], "ts": [6], "added": ["x"]})
    keys = pa.array(["b"])
    older_delete = decode_deletes(encode_deletes(keys, "", pa.array([4], pa.int32())), "a.log")
    folded = Changes.fold([new, older_delete], EVENT, schema)
    assert folded.merge(old).rows.to_pylist() == [
        {KEY: "a", "ts": 6, "added": "x"},
        {KEY: "b", "ts": 5, "added": None},
    ]


def test_a_row_that_says_delete_need_not_have_its_column_in_the_tables_schema() -> None:
    schema = pa.schema([(KEY, pa.string()), ("ts", pa.int64())])
    rows = pa.table({KEY: ["a"], "ts": [1], "_hoodie_operation": ["D"]})
    assert Changes.fold([rows], EVENT, schema).remaining().num_rows == 0


def test_rows_without_keys_are_refused() -> None:
    schema = pa.schema([(KEY, pa.string()), ("ts", pa.int64())])
    with pytest.raises(SchemaMismatch, match=KEY):
        Changes.fold([pa.table({KEY: pa.array([None], pa.string()), "ts": [1]})], EVENT, schema)
    with pytest.raises(SchemaMismatch, match=KEY):
        Changes.fold([], EVENT, pa.schema([("ts", pa.int64())]))


@settings(deadline=None, max_examples=150)
@given(history=histories())
@pytest.mark.parametrize("rule", [EVENT, COMMIT], ids=["event time", "commit time"])
def test_a_batch_is_combined_as_the_model_folds_it(
    rule: MergeRule, history: tuple[str, list[Change], list[Change]]
) -> None:
    kind, _, changes = history
    rows = [c for c in changes if c.is_row]
    model = Model(rule, zero_is_default=ORDERINGS[kind][2])
    combined = latest_per_key(rows_of(rows, kind), rule)
    assert combined["name"].to_pylist() == sorted(c.name for c in model.fold(rows).values())


def test_combining_keeps_rows_that_say_delete() -> None:
    rows = rows_of([Change("a", 2, 1, deleted=True), Change("a", 1, 2), Change("b", 1, 3)], "long")
    assert latest_per_key(rows, EVENT)["name"].to_pylist() == [1, 3]


def test_long_keys_in_many_chunks_merge_as_one() -> None:
    count = 30_000
    keys = [f"{'ключ' * 20}-{i:08d}" for i in range(count)]
    base = pa.table({KEY: keys, "ts": np.zeros(count, np.int64)})
    log = base.filter(pa.array(np.arange(count) % 3 == 0)).set_column(1, "ts", pa.array(np.ones(10_000, np.int64)))
    chunked = pa.concat_tables([log.slice(start, 999) for start in range(0, log.num_rows, 999)])
    folded = Changes.fold([chunked], EVENT, base.schema)
    outcome = folded.merge(pa.concat_tables([base.slice(0, 777), base.slice(777)]))
    assert outcome.rows["ts"].to_pylist() == [int(i % 3 == 0) for i in range(count)]
    assert outcome.rows[KEY].to_pylist() == keys
    assert folded.remaining().num_rows == 0
