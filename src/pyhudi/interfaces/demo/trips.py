"""The demo's rows: taxi trips over four days, the same every time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

DAYS = ("2024-12-28", "2024-12-29", "2024-12-30", "2024-12-31")

SCHEMA = pa.schema(
    [
        pa.field("trip", pa.string()),
        pa.field("day", pa.string()),
        pa.field("rider", pa.string()),
        pa.field("fare", pa.float64()),
        pa.field("updated", pa.int64()),
    ]
)


def trips(first: int, count: int, *, updated: int, surcharge: float = 0.0) -> pa.Table:
    """Trips number `first` and following, as they were at a time."""
    numbers = np.arange(first, first + count)
    return pa.table(
        {
            "trip": [f"trip-{number:07d}" for number in numbers],
            "day": [DAYS[number % len(DAYS)] for number in numbers],
            "rider": [f"rider-{number * 7919 % 997:03d}" for number in numbers],
            "fare": 5 + (numbers * 104_729 % 4_000) / 100 + surcharge,
            "updated": np.full(count, updated),
        },
        schema=SCHEMA,
    )
