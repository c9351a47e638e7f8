"""The rows of the interop campaign, and a dict that says what a table must hold after each step."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa

Row: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, ...]

UTC = datetime.UTC
NAN, INFINITY = float("nan"), float("inf")

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "flag": (pa.bool_(), [True, False, None]),
    "small": (pa.int32(), [-(2**31), 0, 7, None, 2**31 - 1]),
    "large": (pa.int64(), [2**63 - 1, None, -(2**63), 5, 2**53 + 1]),
    "single": (pa.float32(), [1.5, NAN, -0.0, 0.0, -INFINITY, None, 3.4028234663852886e38]),
    "double": (pa.float64(), [NAN, -0.0, 0.0, 5e-324, None, INFINITY, -2.5]),
    "price": (pa.decimal128(10, 2), [Decimal("-99999999.99"), Decimal("0.00"), None, Decimal("12.34")]),
    "wide": (pa.decimal128(38, 18), [Decimal("1E-18"), None, Decimal("-" + "9" * 20 + "." + "9" * 18)]),
    "text": (pa.string(), ["", "x" * 2048, None, "Grüße, 世界 🦆", "a", "A%_", "x" * 2047 + "y", "\x00\n"]),
    "raw": (pa.binary(), [b"", bytes(range(256)), None, b"\xff" * 2048, b"\x00"]),
    "day": (pa.date32(), [datetime.date(1970, 1, 1), None, datetime.date(9999, 12, 31), datetime.date(1582, 10, 10)]),
    "at": (
        pa.timestamp("us", "UTC"),
        [
            datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
            None,
            datetime.datetime(9999, 12, 31, 23, 59, 59, 999999, UTC),
            datetime.datetime(1, 1, 1, tzinfo=UTC),
        ],
    ),
}
"""Every flat type that all judges read, with its extremes; number and version of a row choose among them."""

_REGIONS = ["eu", "us west", "日本"]
_DAYS = [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a table of the campaign is partitioned and ordered."""

    name: str
    partition_by: tuple[str, ...]
    ordering: str | None
    hive_style: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def schema(self) -> pa.Schema:
        fields = [("id", pa.string()), ("region", pa.string()), ("on", pa.date32()), ("ts", pa.int64())]
        return pa.schema([*fields, *((name, kind) for name, (kind, _) in VALUES.items())])

    def table(self, rows: Iterable[Row]) -> pa.Table:
        return pa.Table.from_pylist(list(rows), schema=self.schema)


SIMPLE = Layout(name="simple", partition_by=("region",), ordering="ts")
PLAIN = Layout(name="plain", partition_by=(), ordering=None)
COMPLEX = Layout(name="complex", partition_by=("region", "on"), ordering="ts", hive_style=True)
LAYOUTS = (SIMPLE, PLAIN, COMPLEX)


def row(number: int, version: int, ts: int) -> Row:
    """The number decides key and partition, number and version the values."""
    made: Row = {
        "id": f"k{number:03d}",
        "region": _REGIONS[number % len(_REGIONS)],
        "on": _DAYS[number // len(_REGIONS) % len(_DAYS)],
        "ts": ts,
    }
    for place, (name, (_, choices)) in enumerate(VALUES.items()):
        made[name] = choices[(number * 5 + version * 3 + place) % len(choices)]
    return made


@dataclass
class Model:
    """What a table holds: the newest row of every key, and, where updates go to logs, what its base files hold."""

    layout: Layout
    merge_on_read: bool
    rows: dict[Key, Row] = field(default_factory=dict)
    base: dict[Key, Row] = field(default_factory=dict)

    def key(self, one: Mapping[str, Any]) -> Key:
        return (*(str(one[name]) for name in self.layout.partition_by), one["id"])

    def upsert(self, rows: Iterable[Row]) -> None:
        """With event time an older row loses, and of equal ones the later wins. Base files take keys they lack at once;
        a key that was deleted in a log file only is not lacking.
        """
        for one in rows:
            key = self.key(one)
            known = self.rows.get(key)
            if known is None or self.layout.ordering is None or one["ts"] >= known["ts"]:
                self.rows[key] = one
            if key not in self.base or not self.merge_on_read:
                self.base[key] = self.rows[key]

    def delete(self, rows: Iterable[Row]) -> None:
        for one in rows:
            self.rows.pop(self.key(one), None)
            if not self.merge_on_read:
                self.base.pop(self.key(one), None)

    def compact(self) -> None:
        self.base = dict(self.rows)


def exact(rows: pa.Table, names: Iterable[str]) -> list[str]:
    """Rows as sorted text: NaN equals itself, -0.0 differs from 0.0 and 1 from 1.0."""
    return sorted(repr(list(one.values())) for one in rows.select(list(names)).to_pylist())
