"""What it takes to un-happen one instant: rollback and restore both read it.

The order is Hudi's: the plan is requested, the files go, the metadata table rolls back first, then the instant's own
files on the timeline go, and last the rollback completes. Every step can be taken again after a crash.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pyhudi.clock import stopwatch
from pyhudi.errors import CorruptTable, FileExists
from pyhudi.format.file_names import parse_data_file
from pyhudi.format.instant import (
    Action,
    Instant,
    RequestedTime,
    State,
    completed_name,
    inflight_name,
    requested_name,
)
from pyhudi.format.metadata import RollbackMetadata, RollbackPlan, RollbackRequest
from pyhudi.storage import Storage, joined, safe_path
from pyhudi.table.metadata_table import METADATA_FOLDER
from pyhudi.table.table import Table
from pyhudi.transaction.markers import delete_markers, list_markers
from pyhudi.transaction.writer import Writer


def undo(table: Table, writer: Writer, failed: Instant, when: RequestedTime) -> RollbackMetadata:
    """Un-happen a pending instant under the rollback instant `when`; the caller holds the lock."""
    plan = plan_undo(table.storage, failed, list_markers(table.storage, failed.requested_time))
    folder = table.timeline.layout.active_folder
    table.storage.create(joined(folder, requested_name(when, Action.ROLLBACK)), plan.to_bytes())
    return carry_out(table, writer, plan, when)


def plan_undo(storage: Storage, failed: Instant, files: Iterable[str]) -> RollbackPlan:
    """The plan that deletes these files, given relative to the table."""
    by_partition: dict[str, list[str]] = defaultdict(list)
    for path in sorted(files):
        partition_path, _, name = path.rpartition("/")
        parsed = parse_data_file(name)
        if parsed is None or parsed.instant != failed.requested_time:
            raise CorruptTable(f"marker of {failed} names {path}, which is no file of that instant; remove the marker")
        by_partition[partition_path].append(joined(storage.uri, safe_path(path)))
    requests = [RollbackRequest(partition_path=path, files=tuple(names)) for path, names in by_partition.items()]
    return RollbackPlan(instant=str(failed.requested_time), action=str(failed.action), requests=tuple(requests))


def carry_out(table: Table, writer: Writer, plan: RollbackPlan, when: RequestedTime) -> RollbackMetadata:
    """Do what a requested rollback says, from wherever an earlier try left it."""
    started = stopwatch()
    storage, folder = table.storage, table.timeline.layout.active_folder
    _create_if_absent(storage, joined(folder, inflight_name(when, Action.ROLLBACK)))
    deleted = _delete_files(storage, plan)
    target = RequestedTime(plan.instant)
    if table.metadata is not None:
        undo_on_metadata_table(table, writer, target, when)
    _delete_instant(storage, folder, target, Action(plan.action))
    done = RollbackMetadata(
        start=str(when),
        duration_ms=int((stopwatch() - started) * 1000),
        instant=plan.instant,
        action=plan.action,
        deleted=deleted,
    )
    current = table.reload()
    completion = writer.next_completion(current)
    storage.create(joined(folder, completed_name(when, completion, Action.ROLLBACK)), done.to_bytes())
    delete_markers(storage, target)
    writer.heartbeats.stop(target)
    return done


def undo_inflight_service(table: Table, instant: Instant) -> None:
    """Take a pending table service back to its plan, so that it can be carried out again."""
    storage = table.storage
    plan = plan_undo(storage, instant, list_markers(storage, instant.requested_time))
    _delete_files(storage, plan)
    delete_markers(storage, instant.requested_time)
    storage.delete(table.timeline.path(instant, State.INFLIGHT))


def undo_on_metadata_table(table: Table, writer: Writer, target: RequestedTime, when: RequestedTime) -> None:
    """Roll the delta commit of a data instant back on the metadata table, if it is there."""
    storage = table.storage.within(METADATA_FOLDER)
    inner = Table.load(storage)
    folder = inner.timeline.layout.active_folder
    failed = inner.timeline.find(target)
    pending = any(each.requested_time == when for each in inner.timeline.pending(Action.ROLLBACK))
    if failed is None and not pending:
        return
    files = _listed_files(storage, inner, target)
    instant = failed or Instant(requested_time=target, action=Action.DELTA_COMMIT, state=State.INFLIGHT)
    plan = plan_undo(storage, instant, files)
    _create_if_absent(storage, joined(folder, requested_name(when, Action.ROLLBACK)), plan.to_bytes())
    _create_if_absent(storage, joined(folder, inflight_name(when, Action.ROLLBACK)))
    deleted = _delete_files(storage, plan)
    _delete_instant(storage, folder, target, Action.DELTA_COMMIT)
    done = RollbackMetadata(
        start=str(when), duration_ms=0, instant=str(target), action=str(Action.DELTA_COMMIT), deleted=deleted
    )
    completion = writer.next_completion(table.reload(), Table.load(storage))
    storage.create(joined(folder, completed_name(when, completion, Action.ROLLBACK)), done.to_bytes())


def _listed_files(storage: Storage, inner: Table, instant: RequestedTime) -> list[str]:
    """Files of an instant in the metadata table, which has few partitions and no markers."""
    found = []
    for partition in storage.list("").directories:
        if partition == inner.timeline.layout.active_folder.split("/")[0]:
            continue
        for info in storage.list(partition).files:
            name = parse_data_file(info.name)
            if name is not None and name.instant == instant:
                found.append(joined(partition, info.name))
    return found


def _delete_files(storage: Storage, plan: RollbackPlan) -> dict[str, tuple[str, ...]]:
    """Delete the plan's files; one that never came to be, or went in an earlier try, is gone all the same."""
    deleted: dict[str, tuple[str, ...]] = {}
    for request in plan.requests:
        for path in request.files:
            storage.delete(relative_to(storage, path))
        deleted[request.partition_path] = deleted.get(request.partition_path, ()) + request.files
    return deleted


def relative_to(storage: Storage, path: str) -> str:
    """A plan's absolute path as one below the table; a path that leads elsewhere is refused."""
    root = _without_scheme(storage.uri).rstrip("/") + "/"
    plain = _without_scheme(path)
    if not plain.startswith(root):
        raise CorruptTable(f"a plan names {path}, which does not lie in {storage.uri}; it is not carried out")
    return safe_path(plain[len(root) :])


def _without_scheme(path: str) -> str:
    scheme, separator, rest = path.partition(":")
    if not separator or "/" in scheme:
        return path
    return "/" + rest.lstrip("/") if scheme == "file" else path


def _delete_instant(storage: Storage, folder: str, time: RequestedTime, action: Action) -> None:
    """Delete an instant's files, the furthest state first, so that a crash never makes it look further than it is."""
    names = {info.name for info in storage.list(folder).files}
    completed = sorted(
        name for name in names if name.startswith(f"{time}_") and name.endswith(f".{action.completed_as}")
    )
    for name in (*completed, inflight_name(time, action), requested_name(time, action)):
        if name in names:
            storage.delete(joined(folder, name))


def _create_if_absent(storage: Storage, path: str, content: bytes = b"") -> None:
    try:
        storage.create(path, content)
    except FileExists:
        return
