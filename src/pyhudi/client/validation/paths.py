"""R18: every path in metadata stays in the table, and folders are what the partition columns say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyhudi.client.validation.facts import Facts, is_inside
from pyhudi.client.validation.finding import Finding, error
from pyhudi.format.file_names import PARTITION_METADATA, partition_depth
from pyhudi.format.instant import Action, Instant
from pyhudi.format.keys import DEFAULT_PARTITION, KeySpec, escapes_table, partition_part, partition_values
from pyhudi.format.metadata import CommitMetadata
from pyhudi.format.properties import parse_properties
from pyhudi.format.table_properties import METAFILE_BASE_FORMAT
from pyhudi.storage import joined

_RULE = "R18"
_NOT_OURS = "do not let anybody carry it out; find out who wrote it, and restore the instant from a copy"


def paths_stay_inside(facts: Facts) -> Iterator[Finding]:
    """Paths in commits and in plans that are not yet carried out."""
    for instant, commit in facts.commits.items():
        yield from _commit_stays_inside(facts, instant, commit)
    timeline = facts.table.timeline
    for instant in timeline.pending(Action.COMPACTION):
        for operation in timeline.compaction_plan(instant).operations:
            for name in (*operation.log_files, *filter(None, (operation.data_file,))):
                if not is_inside(joined(operation.partition_path, name)):
                    what = f"its plan names {operation.partition_path}/{name}, which is outside the table's data"
                    yield error(_RULE, facts.at(timeline.path(instant)), what, _NOT_OURS)


def partitions_are_marked(facts: Facts) -> Iterator[Finding]:
    """Folders with committed files carry partition metadata of the right depth."""
    in_parquet = facts.table.properties.raw.get(METAFILE_BASE_FORMAT) == "true"
    for partition in sorted({path.rpartition("/")[0] for path in facts.recorded if path in facts.files}):
        if partition not in facts.partitions and not in_parquet:
            what = f"it holds committed files and no {PARTITION_METADATA}: readers that list folders pass it by"
            yield error(_RULE, facts.at(partition) or ".", what, "write any row into the partition with Hudi")
    for partition in sorted(facts.partitions):
        path = joined(partition, PARTITION_METADATA)
        depth = parse_properties(facts.storage.read(path), facts.at(path)).get("partitionDepth", "")
        if depth != str(partition_depth(partition)):
            what = f"partitionDepth={depth}, though the folder lies {partition_depth(partition)} deep"
            yield error(_RULE, facts.at(path), what, "set partitionDepth to the depth of the folder")


def partition_paths_can_be_read_back(facts: Facts) -> Iterator[Finding]:
    """Taking a path apart and putting it together again gives the same path."""
    keys = facts.table.properties.keys
    for partition in sorted(facts.partitions):
        values = partition_values(partition, keys)
        if values is not None and _path_of(values, keys) != partition:
            what = f"its values {values} would lie in {_path_of(values, keys)!r}"
            yield error(
                _RULE, facts.at(partition), what, "write its rows again; their partition values were not encoded"
            )


def _commit_stays_inside(facts: Facts, instant: Instant, commit: CommitMetadata) -> Iterator[Finding]:
    where = facts.at(facts.table.timeline.path(instant))
    for stat in commit.stats:
        if not is_inside(stat.path):
            yield error(_RULE, where, f"it names {stat.path!r}, which is outside the table's data", _NOT_OURS)
        elif stat.path.rpartition("/")[0] != stat.partition_path:
            yield error(_RULE, where, f"it says that {stat.path} is in partition {stat.partition_path!r}", _NOT_OURS)
    for partition in commit.replaced:
        if escapes_table(partition):
            yield error(_RULE, where, f"it replaces files in {partition!r}, outside the table's data", _NOT_OURS)


def _path_of(values: tuple[str | None, ...], keys: KeySpec) -> str:
    pairs: Mapping[str, str | None] = dict(zip(keys.partition_fields, values, strict=True))
    return "/".join(partition_part(field, value or DEFAULT_PARTITION, keys) for field, value in pairs.items())
