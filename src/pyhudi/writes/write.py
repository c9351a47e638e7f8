"""insert, upsert and delete: locate the rows' file groups, write each group once, commit."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyhudi.clock import stopwatch
from pyhudi.configs import setting
from pyhudi.engine.base import Engine, GroupKey, Incoming, Located
from pyhudi.errors import Unsupported
from pyhudi.file_group.spec import CODECS, FileLayout, TableSpec, WriteSpec
from pyhudi.file_group.tasks import GroupWrite, KeyScan, Target
from pyhudi.file_group.writer import WrittenFile
from pyhudi.format.bloom import BloomParameters
from pyhudi.format.file_names import FileId, is_bucket
from pyhudi.format.instant import Action, Instant
from pyhudi.format.metadata import CommitMetadata
from pyhudi.format.metadata.commit import SCHEMA_KEY
from pyhudi.table.slices import FileSlice
from pyhudi.table.table import Table
from pyhudi.transaction.markers import list_markers
from pyhudi.transaction.transaction import Transaction, summary
from pyhudi.transaction.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One write operation, as users name it. `looks_up`: existing keys are found; `combines`: one row per key first."""

    name: str
    looks_up: bool
    combines: bool
    deletes: bool


OPERATIONS: Mapping[str, Operation] = {
    each.name: each
    for each in (
        Operation(name="insert", looks_up=False, combines=False, deletes=False),
        Operation(name="upsert", looks_up=True, combines=True, deletes=False),
        Operation(name="delete", looks_up=True, combines=True, deletes=True),
    )
}


def _codec(text: str) -> str:
    lowered = text.strip().lower()
    if lowered not in CODECS:
        raise ValueError(f"choose one of {', '.join(CODECS)}")
    return lowered


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How rows become files."""

    codec: str = setting("hoodie.parquet.compression.codec", "zstd", "Compression of base files.", read=_codec)
    rows_per_new_file: int = setting(
        "hoodie.copyonwrite.insert.split.size", 500_000, "Rows of new keys that go into one new file group."
    )
    bloom_filter: bool = setting("hoodie.parquet.bloom.filter.enabled", True, "Bloom filter in base file footers.")
    bloom_entries: int = setting("hoodie.index.bloom.num_entries", 60_000, "Keys a bloom filter is sized for.")
    bloom_fpp: float = setting("hoodie.index.bloom.fpp", 0.000000001, "False positive rate of bloom filters.")
    bloom_max_entries: int = setting(
        "hoodie.bloom.index.filter.dynamic.max.entries", 100_000, "Keys up to which a bloom filter grows."
    )

    def layout(self) -> FileLayout:
        """What workers need of it."""
        bloom = BloomParameters(entries=self.bloom_entries, fpp=self.bloom_fpp, max_entries=self.bloom_max_entries)
        return FileLayout(codec=self.codec, bloom=bloom if self.bloom_filter else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """What a write did. `phases`: seconds of each phase."""

    instant: Instant
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    files: tuple[str, ...]
    phases: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WriteRequest:
    """One write asked for."""

    operation: Operation
    source: Any
    spec: TableSpec
    options: WriteOptions
    extra: Mapping[str, str] = field(default_factory=dict)


def write_rows(table: Table, writer: Writer, engine: Engine, request: WriteRequest) -> WriteResult:
    """Carry out a write and commit it; the caller undoes the instant if this raises after it began."""
    marks = [stopwatch()]
    located = engine.locate(_incoming(table, request), _lookup(table, request) if request.operation.looks_up else None)
    slices = _slices_of(table, located)
    refuse_buckets(slices)
    targets = assign(located, slices, request, writer)
    marks.append(stopwatch())
    action = Action.DELTA_COMMIT if table.properties.is_merge_on_read else Action.COMMIT
    transaction = Transaction.begin(table, writer, action)
    with transaction.alive():
        transaction.start()
        written = engine.shuffle(located, targets, _group_write(table, request, transaction))
        reconcile(table, transaction, written)
        marks.append(stopwatch())
        commit = CommitMetadata(
            operation=request.operation.name.upper(),
            stats=tuple(file.stat for file in written),
            extra={**request.extra, SCHEMA_KEY: request.spec.schema_text},
        )
        instant = transaction.complete(commit, written)
    marks.append(stopwatch())
    rows = summary(commit)
    return WriteResult(
        instant=instant,
        rows_inserted=rows["inserted"],
        rows_updated=rows["updated"],
        rows_deleted=rows["deleted"],
        files=tuple(stat.path for stat in commit.stats),
        phases=dict(zip(("locate", "write", "commit"), _differences(marks), strict=True)),
    )


def assign(
    located: Located, slices: Mapping[tuple[str, FileId], FileSlice], request: WriteRequest, writer: Writer
) -> dict[GroupKey, tuple[Target, ...]]:
    """The file group of every row: its own, or new ones of limited size for new keys."""
    targets: dict[GroupKey, tuple[Target, ...]] = {}
    for (path, file_id), count in sorted(located.profile.items(), key=lambda item: (item[0][0], item[0][1] or "")):
        if file_id is not None:
            part = slices[(path, file_id)]
            targets[(path, file_id)] = (Target(partition_path=path, file_id=file_id, slice=part),)
        elif request.operation.deletes:
            targets[(path, None)] = ()
        else:
            groups = -(-count // request.options.rows_per_new_file)
            fresh = [FileId(f"{writer.machine.ids.uuid()}-0") for _ in range(groups)]
            targets[(path, None)] = tuple(Target(partition_path=path, file_id=each, slice=None) for each in fresh)
    return targets


def reconcile(table: Table, transaction: Transaction, written: Sequence[WrittenFile]) -> None:
    """Delete the files of attempts that are not the ones whose results arrived."""
    kept = {file.stat.path for file in written}
    for path in sorted(list_markers(table.storage, transaction.time) - kept):
        table.storage.delete(path)


def _incoming(table: Table, request: WriteRequest) -> Incoming:
    return Incoming(
        source=request.source,
        table=request.spec,
        keys=table.properties.keys,
        deleting=request.operation.deletes,
        combine=request.operation.combines,
    )


def _lookup(table: Table, request: WriteRequest) -> Any:
    def scans(partition_paths: Sequence[str]) -> list[KeyScan]:
        known = set(table.partitions())
        present = [path for path in partition_paths if path in known]
        return [KeyScan(table=request.spec, slice=part) for part in table.slices(present)]

    return scans


def _slices_of(table: Table, located: Located) -> dict[tuple[str, FileId], FileSlice]:
    known = set(table.partitions())
    paths = {path for path, _ in located.profile if path in known}
    return {(part.partition_path, part.file_id): part for part in table.slices(paths)} if paths else {}


def refuse_buckets(slices: Mapping[tuple[str, FileId], FileSlice]) -> None:
    """A partition made of buckets finds its keys by hash; rows put anywhere else would be lost to its other writers."""
    by_partition: dict[str, list[str]] = {}
    for path, file_id in slices:
        by_partition.setdefault(path, []).append(file_id)
    for path, file_ids in by_partition.items():
        if all(is_bucket(file_id) for file_id in file_ids):
            raise Unsupported(
                f"partition {path!r} is made of buckets ({file_ids[0]}): the bucket index is not built yet. "
                "Nothing was written"
            )


def _group_write(table: Table, request: WriteRequest, transaction: Transaction) -> GroupWrite:
    return GroupWrite(
        spec=WriteSpec(
            table=request.spec,
            instant=transaction.time,
            indexed_columns=table.indexed_columns,
            layout=request.options.layout(),
            salt=transaction.writer.salt(),
        ),
        to_log=table.properties.is_merge_on_read,
        deleting=request.operation.deletes,
    )


def _differences(marks: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in itertools.pairwise(marks)]
