"""The engine that is this process: no JVM, no threads of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.engine.base import GroupKey, Incoming, Lookup, R, Reading, Task, table_of
from pyhudi.errors import InvalidRequest
from pyhudi.file_group.keying import keyed_rows
from pyhudi.file_group.reader import read_slice
from pyhudi.file_group.tasks import Attempt, GroupWrite, Target
from pyhudi.file_group.writer import WrittenFile
from pyhudi.format.schema import PARTITION_PATH, RECORD_KEY
from pyhudi.merge.kernel import latest_per_key


@dataclass(frozen=True, kw_only=True)
class LocatedRows:
    """Rows of each file group."""

    groups: Mapping[GroupKey, pa.Table]

    @property
    def profile(self) -> Mapping[GroupKey, int]:
        """Rows per file group."""
        return {group: len(rows) for group, rows in self.groups.items()}


class LocalEngine:
    """Runs tasks one after the other. Instances count nothing and keep nothing."""

    def run(self, tasks: Sequence[Task[R]]) -> list[R]:
        return [task.run(Attempt(task=number)) for number, task in enumerate(tasks)]

    def locate(self, incoming: Incoming, lookup: Lookup | None) -> LocatedRows:
        if not isinstance(incoming.source, pa.Table):
            raise InvalidRequest(
                f"rows are a {type(incoming.source).__name__}; the local engine takes a pyarrow.Table, "
                "a Spark DataFrame brings its own engine"
            )
        rows = keyed_rows(incoming.source, incoming.table, incoming.keys, deleting=incoming.deleting)
        groups: dict[GroupKey, pa.Table] = {}
        for path, members in _by_partition(rows):
            part = latest_per_key(members, incoming.table.rule) if incoming.combine else members
            for group, found in self._located(path, part, lookup):
                groups[group] = found
        return LocatedRows(groups=groups)

    def shuffle(
        self, located: LocatedRows, targets: Mapping[GroupKey, Sequence[Target]], write: GroupWrite
    ) -> list[WrittenFile]:
        written: list[WrittenFile] = []
        number = 0
        for group, rows in located.groups.items():
            chosen = targets[group]
            share = -(-len(rows) // len(chosen)) if chosen else 0
            for index, target in enumerate(chosen):
                written += write.write(target, rows.slice(index * share, share), Attempt(task=number))
                number += 1
        return written

    def frame(self, reading: Reading) -> pa.Table:
        table, projection = reading.table, reading.projection
        batches = [rows for part in reading.slices for rows in read_slice(table, part, projection)]
        return table_of(batches, projection.schema(table))

    def _located(self, partition_path: str, rows: pa.Table, lookup: Lookup | None) -> list[tuple[GroupKey, pa.Table]]:
        if lookup is None:
            return [((partition_path, None), rows)]
        scans = list(lookup([partition_path]))
        keys = rows.column(RECORD_KEY)
        is_new = np.ones(len(rows), np.bool_)
        groups: list[tuple[GroupKey, pa.Table]] = []
        for scan, held in zip(scans, self.run(scans), strict=True):
            found = pc.is_in(keys, value_set=held).to_numpy()
            is_new &= ~found
            groups.append(((partition_path, scan.slice.file_id), rows.filter(pa.array(found))))
        groups.append(((partition_path, None), rows.filter(pa.array(is_new))))
        return [(group, members) for group, members in groups if len(members)]


def _by_partition(rows: pa.Table) -> list[tuple[str, pa.Table]]:
    paths = rows.column(PARTITION_PATH)
    return [(path, rows.filter(pc.equal(paths, path))) for path in sorted(pc.unique(paths).to_pylist())]
