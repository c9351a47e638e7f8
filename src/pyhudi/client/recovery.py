"""Before a write: what writers that died left behind is undone, and undoings that died are finished."""

from __future__ import annotations

from collections.abc import Sequence

from pyhudi.format.instant import INGESTS, Action, Instant, State
from pyhudi.format.metadata import RollbackPlan
from pyhudi.table.table import Table
from pyhudi.transaction.heartbeats import Life
from pyhudi.transaction.undo import carry_out, undo, undo_inflight_service
from pyhudi.transaction.writer import Writer


def recover(table: Table, writer: Writer) -> tuple[Table, Sequence[Instant]]:
    """The table after recovery, and the instants that were undone. Costs nothing when nothing is pending."""
    if not _candidates(table):
        return table, ()
    undone: list[Instant] = []
    with writer.lock.held("undo failed writes"):
        current = table.reload()
        for instant in _candidates(current):
            if current.timeline.find(instant.requested_time) is None:
                continue  # undone by a rollback that was finished just now
            if instant.action is Action.ROLLBACK:
                _finish(current, writer, instant)
            elif writer.verdict(current, instant).life is Life.DEAD:
                undo(current, writer, instant, writer.next_instant(current))
                undone.append(instant)
            current = current.reload()
    return current, undone


def undo_unfinished(table: Table, writer: Writer) -> None:
    """Undo what this writer began and did not complete; a table service goes back to its plan."""
    unfinished, writer.unfinished = writer.unfinished, None
    if unfinished is None:
        return
    with writer.lock.held(f"undo {unfinished}"):
        current = table.reload()
        known = current.timeline.find(unfinished.requested_time)
        if known is None or known.completed:
            return
        if known.action in INGESTS:
            undo(current, writer, known, writer.next_instant(current))
        elif known.state is State.INFLIGHT:
            undo_inflight_service(current, known)
        writer.heartbeats.stop(known.requested_time)


def _candidates(table: Table) -> list[Instant]:
    """Pending undoings first, then pending ingests; pending table services wait to be carried out."""
    pending = table.timeline.pending(Action.ROLLBACK)
    return pending + [each for each in table.timeline.pending() if each.action in INGESTS]


def _finish(table: Table, writer: Writer, rollback: Instant) -> None:
    path = table.timeline.path(rollback, State.REQUESTED)
    content = table.storage.read(path)
    if content:
        carry_out(table, writer, RollbackPlan.from_bytes(content, path), rollback.requested_time)
        return
    for state in (State.INFLIGHT, State.REQUESTED):
        table.storage.delete(table.timeline.path(rollback, state))
