"""Soundness of a table at rest, after every failure has been mended."""

from pyhudi.client.table_client import TableClient
from pyhudi.format.file_names import PARTITION_METADATA, parse_data_file
from pyhudi.format.instant import SOLO_INSTANT_PREFIX
from pyhudi.storage import joined
from pyhudi.table.table import listed_partitions


def problems_of(client: TableClient) -> list[str]:
    """What is wrong, in words; nothing may be pending."""
    table = client.table()
    pending = [f"pending: {each}" for each in table.timeline.pending()]
    pending += [f"pending on the metadata table: {each}" for each in table.metadata.timeline.pending()]
    return pending + _files(client) + _leftovers(client)


def _files(client: TableClient) -> list[str]:
    """Files by the metadata table = files on storage = files of the commits; none of an instant that did not commit."""
    table = client.table()
    listed = table.metadata.files(table.partitions())
    found = []
    committed = {}
    for instant in table.timeline.completed_writes():
        for stat in table.timeline.commit_metadata(instant).stats:
            committed[stat.path] = stat.file_size
    stored = {}
    for path in listed_partitions(client.storage):
        for info in client.storage.list(path).files:
            if info.name != PARTITION_METADATA:
                stored[info.path] = info.size
    told = {joined(path, name): size for path, sizes in listed.items() for name, size in sizes.items()}
    found += [f"orphan: {path}" for path in sorted(stored.keys() - committed.keys())]
    found += [f"gone: {path}" for path in sorted(committed.keys() - stored.keys())]
    found += [
        f"size of {path}: {stored[path]} != {committed[path]}"
        for path in stored.keys() & committed.keys()
        if stored[path] != committed[path]
    ]
    found += [f"metadata table and storage differ: {each}" for each in sorted(set(told.items()) ^ set(stored.items()))]
    return found + _metadata_files(client)


def _metadata_files(client: TableClient) -> list[str]:
    metadata = client.table().metadata
    committed = {
        stat.path
        for instant in metadata.timeline.completed_writes()
        for stat in metadata.timeline.commit_metadata(instant).stats
    }
    stored = set()
    for path in listed_partitions(metadata.storage):
        for info in metadata.storage.list(path).files:
            name = parse_data_file(info.name)
            if name is not None and not name.instant.startswith(SOLO_INSTANT_PREFIX):
                stored.add(info.path)
    made = {path for path in committed if SOLO_INSTANT_PREFIX not in path}
    found = [f"orphan in the metadata table: {path}" for path in sorted(stored - made)]
    return found + [f"gone from the metadata table: {path}" for path in sorted(made - stored)]


def _leftovers(client: TableClient) -> list[str]:
    """A lock. (A claim on one may stay behind two crashes; it is swept a day later.)"""
    return [f"left: {info.path}" for info in client.storage.list(".hoodie").files if info.name == "lock"]
