"""R8: the metadata table lists what storage holds, and has moved on with the table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pyhudi.client.validation.facts import Facts
from pyhudi.client.validation.finding import Finding, error
from pyhudi.format.file_names import parse_data_file
from pyhudi.format.instant import SOLO_INSTANT_PREFIX, Action
from pyhudi.table.metadata_table import METADATA_FOLDER

_RULE = "R8"
_REBUILD = "drop the metadata table and let Hudi build it anew"


def metadata_lists_the_files(facts: Facts) -> Iterator[Finding]:
    """Partitions, files and sizes, restricted to what is committed."""
    metadata = facts.table.metadata
    if metadata is None:
        return
    stored = _committed(facts)
    listed = {path: _of_now(facts, files) for path, files in metadata.files(metadata.partitions()).items()}
    for partition in sorted(stored.keys() - listed.keys()):
        yield error(_RULE, partition or ".", "the metadata table does not list this partition", _REBUILD)
    for partition, files in sorted(listed.items()):
        if files and partition not in facts.folders:
            yield error(
                _RULE, partition or ".", "the metadata table lists this partition, which is not there", _REBUILD
            )
        else:
            yield from _compare(partition, files, stored.get(partition, {}))


def metadata_moves_with_the_table(facts: Facts) -> Iterator[Finding]:
    """No delta commit of the metadata table without its instant on the table, but for its own beginnings."""
    metadata = facts.table.metadata
    if metadata is None:
        return
    for instant in metadata.timeline.completed(Action.DELTA_COMMIT):
        time = instant.requested_time
        own = time.startswith(SOLO_INSTANT_PREFIX) or time in metadata.timeline.table_service_times
        if own or facts.is_later(time) or facts.is_before_the_timeline(time):
            continue
        if not any(each.requested_time == time for each in facts.table.timeline.instants):
            where = f"{METADATA_FOLDER}: {instant}"
            yield error(_RULE, where, "the table has no instant of this time, yet its files are listed", _REBUILD)


def _committed(facts: Facts) -> Mapping[str, Mapping[str, int]]:
    """Files that the metadata table must list: those of commits on the timeline, and of archived ones."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for path, file in facts.files.items():
        time = file.name.instant
        unnamed = file.is_change_data or facts.is_before_the_timeline(time)
        if path in facts.recorded or (unnamed and facts.is_known(time)):
            found[file.partition_path][str(file.name)] = file.size
    return found


def _of_now(facts: Facts, files: Mapping[str, int]) -> dict[str, int]:
    """Without the files of writers that began after the table was read."""
    names = {name: parse_data_file(name) for name in files}
    return {name: files[name] for name, parsed in names.items() if parsed is None or not facts.is_later(parsed.instant)}


def _compare(partition: str, listed: Mapping[str, int], stored: Mapping[str, int]) -> Iterator[Finding]:
    for name in sorted(listed.keys() | stored.keys()):
        where = f"{partition}/{name}" if partition else name
        if name not in stored:
            yield error(_RULE, where, "the metadata table lists this file, which is not there", _REBUILD)
        elif name not in listed:
            yield error(_RULE, where, "the metadata table does not list this file", _REBUILD)
        elif listed[name] != stored[name]:
            what = f"{stored[name]} bytes long, {listed[name]} by the metadata table"
            yield error(_RULE, where, what, _REBUILD)
