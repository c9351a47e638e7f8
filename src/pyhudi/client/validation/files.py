"""R1, R2, R5: every file that a query needs is there and whole, and no file is there that nobody owns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.client.validation.facts import DataFile, Facts
from pyhudi.client.validation.finding import FROM_A_COPY, Finding, error, warning
from pyhudi.file_group.reader import StorageFile
from pyhudi.format.file_names import PARQUET, BaseFileName
from pyhudi.format.instant import SOLO_INSTANT_PREFIX, Action
from pyhudi.format.metadata import read_container
from pyhudi.storage import joined
from pyhudi.table.slices import BaseFile

_LOOK_AGAIN = "look for copies of it; if there are none, rows are lost: restore the table to an earlier instant"


def needed_files_are_whole(facts: Facts) -> Iterator[Finding]:
    """R1: what queries need exists, has its recorded length and opens."""
    needed = {path for moment in facts.moments for part in facts.needed(moment) for path in part.paths}
    for path in sorted(needed):
        file, recorded = facts.files.get(path), facts.recorded[path]
        if file is None:
            yield error("R1", facts.at(path), f"{recorded.instant} wrote it and it is not there", _LOOK_AGAIN)
        elif file.size != recorded.stat.file_size:
            sizes = f"{file.size} bytes long, {recorded.stat.file_size} by {recorded.instant}"
            yield error("R1", facts.at(path), sizes, FROM_A_COPY)
    opened = {part.base.path for part in facts.slices if part.base is not None}
    for path in sorted(opened):
        base = facts.base_file(path)
        if base is not None and base.name.extension == PARQUET:
            yield from _opens(facts, base)


def savepoints_are_whole(facts: Facts) -> Iterator[Finding]:
    """R1, for what savepoints keep."""
    timeline = facts.table.timeline
    for savepoint in timeline.completed(Action.SAVEPOINT):
        path = timeline.path(savepoint)
        kept = read_container(facts.storage.read(path), path).get("partitionMetadata") or {}
        for partition, entry in sorted(kept.items()):
            for name in entry.get("savepointDataFile") or ():
                file = joined(partition, name)
                if file not in facts.files:
                    yield error(
                        "R1", facts.at(file), f"savepoint {savepoint} keeps it and it is not there", _LOOK_AGAIN
                    )


def every_file_has_an_owner(facts: Facts) -> Iterator[Finding]:
    """R2: a data file belongs to a completed or a pending instant, or to one that is being undone."""
    if facts.table.timeline.pending(Action.RESTORE):
        return
    pending = {each.requested_time for each in facts.table.timeline.pending()}
    for path, file in sorted(facts.files.items()):
        if path in facts.recorded or file.name.instant in pending or file.name.instant in facts.undone:
            continue
        yield from _without_owner(facts, file)


def names_are_unique(facts: Facts) -> Iterator[Finding]:
    """R5: one base file per file group and instant, one log file per version."""
    committed = [
        file
        for path, file in sorted(facts.files.items())
        if path in facts.recorded or facts.is_before_the_timeline(file.name.instant)
    ]
    for group in _same(committed):
        yield error(
            "R5",
            facts.at(group[0].path),
            f"{len(group)} committed files where one may be: {', '.join(str(file.name) for file in group)}",
            "find out which of them holds the rows of its commit; readers take any",
        )


def _opens(facts: Facts, base: BaseFile) -> Iterator[Finding]:
    try:
        rows = pq.ParquetFile(StorageFile(facts.storage, base.path, base.size)).metadata.num_rows
    except (pa.ArrowException, OSError) as problem:
        yield error("R1", facts.at(base.path), f"it is no readable Parquet file ({problem})", FROM_A_COPY)
        return
    recorded = facts.recorded.get(base.path)
    if recorded is not None and rows != recorded.stat.writes:
        what = f"it holds {rows} rows, {recorded.instant} wrote {recorded.stat.writes}"
        yield error("R1", facts.at(base.path), what, FROM_A_COPY)


def _without_owner(facts: Facts, file: DataFile) -> Iterator[Finding]:
    time, where = file.name.instant, facts.at(file.path)
    if facts.is_before_the_timeline(time):
        if time not in facts.table.timeline.history():
            what = f"no instant {time} ever completed, yet readers take the file for archived and read it"
            yield error("R2", where, what, "remove the file")
    elif not facts.is_known(time):
        yield warning(
            "R2",
            where,
            f"there is no instant {time}: a failed write left the file",
            "remove the file; once older instants are archived readers will take it for committed",
        )
    elif not file.is_change_data and not time.startswith(SOLO_INSTANT_PREFIX):
        what = f"{time} completed without it, yet readers take the file for its: a task that was thought dead wrote it"
        yield error("R2", where, what, "remove the file")


def _same(files: Iterable[DataFile]) -> Iterator[list[DataFile]]:
    groups: dict[Hashable, list[DataFile]] = defaultdict(list)
    for file in files:
        name = file.name
        version = () if isinstance(name, BaseFileName) else (name.version, name.suffix)
        groups[file.partition_path, name.file_id, name.instant, version].append(file)
    yield from (group for group in groups.values() if len(group) > 1)
