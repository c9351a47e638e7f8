"""Which pairs of actions may both commit: action x action -> a ruling, with the reason in words."""

from __future__ import annotations

from pyhudi.format.instant import Action, Instant
from pyhudi.format.metadata import CommitMetadata

_LOG_APPENDS_STAND_BESIDE = frozenset({(Action.DELTA_COMMIT, Action.COMMIT), (Action.COMMIT, Action.DELTA_COMMIT)})
"""A delta commit and a compaction: completion times decide which slice a log file belongs to."""


def conflict_between(ours: CommitMetadata, own: Instant, theirs: CommitMetadata, other: Instant) -> str | None:
    """Why ours must not commit after theirs did, begun while ours was under way; None when both may stand."""
    replaced = {(path, file_id) for path, ids in theirs.replaced.items() for file_id in ids}
    touched = {(stat.partition_path, stat.file_id) for stat in ours.stats}
    gone = sorted(touched & replaced)
    if gone:
        return f"{other} replaced file group {gone[0][1]} of partition {gone[0][0]!r} meanwhile"
    pair = (own.action.completed_as, other.action.completed_as)
    if pair in _LOG_APPENDS_STAND_BESIDE and (ours.compacted or theirs.compacted):
        return None
    shared = sorted(touched & {(stat.partition_path, stat.file_id) for stat in theirs.stats})
    if shared:
        return f"{other} wrote file group {shared[0][1]} of partition {shared[0][0]!r} meanwhile"
    return None
