"""A pyhudi writer that is killed at a chosen point of its write: victim.py TABLE ROWS OPERATION POINT.

It runs in a process of its own and dies by SIGKILL between two storage calls, without a chance to tidy up.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable

import pyarrow.parquet as pq

from pyhudi.client.table_client import TableClient
from pyhudi.clock import system_machine
from pyhudi.interfaces.dataframe import HudiTable
from pyhudi.storage.local import open_storage
from pyhudi.testing.storage import Call, FaultPlan, FaultyStorage

_TIMELINE = re.compile(r"\.hoodie/timeline/\d+(_\d+)?\.(delta)?commit(\.requested)?")
_METADATA_COMPLETED = re.compile(r"\.hoodie/metadata/\.hoodie/timeline/\d+_\d+\.deltacommit")


def _creates(call: Call, what: Callable[[str], object]) -> bool:
    return call.verb == "create" and bool(what(call.path))


def _requested(path: str) -> bool:
    return bool(_TIMELINE.fullmatch(path)) and path.endswith(".requested")


def _completed(path: str) -> bool:
    return bool(_TIMELINE.fullmatch(path)) and not path.endswith(".requested")


def _data_file(path: str) -> bool:
    return not path.startswith(".hoodie/") and not path.endswith(".hoodie_partition_metadata")


POINTS: dict[str, Callable[[Call, Call], bool]] = {
    "after the request": lambda last, now: _creates(last, _requested),
    "after the first data file": lambda last, now: _creates(last, _data_file),
    "before the metadata commit": lambda last, now: _creates(now, _METADATA_COMPLETED.fullmatch),
    "between the two commits": lambda last, now: _creates(now, _completed),
    "before the clean-up": lambda last, now: _creates(last, _completed),
}
"""Point -> whether the writer dies between the last call and the one to come. The last three hold the table's lock."""


def killed_at(point: str) -> Callable[[Call], None]:
    """A look at every storage call that ends the process at the point."""
    last = [Call("", "")]

    def look(call: Call) -> None:
        if POINTS[point](last[0], call):
            os.kill(os.getpid(), signal.SIGKILL)
        last[0] = call

    return look


def main(path: str, rows: str, operation: str, point: str) -> None:
    """Write, and die."""
    storage = FaultyStorage(open_storage(path), FaultPlan(before_call=killed_at(point)))
    getattr(HudiTable(TableClient(storage, system_machine(), {})), operation)(pq.read_table(rows))
    sys.exit(f"the write ended without passing the point {point!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
