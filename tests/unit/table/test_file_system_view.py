"""Slices on version 9: cut by completion time, pending compactions, time travel, replaced groups."""

from __future__ import annotations

from pyhudi.format.file_names import FileId
from pyhudi.format.instant import RequestedTime, parse_file_name
from pyhudi.format.version import LAYOUT_TWO
from pyhudi.table.file_system_view import FileSystemView
from pyhudi.table.slices import FileSlice
from pyhudi.table.timeline import Timeline
from pyhudi.testing.machine import SimClock
from pyhudi.testing.storage import MemoryStorage

F = FileId("f-0")


def at(second: int) -> RequestedTime:
    return RequestedTime(f"202601010000{second:02d}000")


def base(second: int) -> str:
    return f"{F}_0-0-0_{at(second)}.parquet"


def log(second: int, version: int = 1) -> str:
    return f".{F}_{at(second)}.log.{version}_0-0-0"


def view(*completed: tuple[int, int, str], pending: tuple[str, ...] = (), **rules: object) -> FileSystemView:
    names = [f"{at(begun)}_{at(done)}.{action}" for begun, done, action in completed]
    files = [file for name in (*names, *pending) if (file := parse_file_name(name))]
    line = Timeline.of(files, MemoryStorage(SimClock()), LAYOUT_TWO, dict)
    return FileSystemView(timeline=line, **rules)  # type: ignore[arg-type]


def newest(found: FileSystemView, *names: str, as_of: int | None = None) -> FileSlice | None:
    slices = found.latest_slices("p", dict.fromkeys(names, 1), None if as_of is None else at(as_of))
    return slices[0] if slices else None


def content(part: FileSlice | None) -> tuple[str | None, list[str]]:
    assert part is not None
    return (str(part.base.name) if part.base else None, [str(each.name) for each in part.logs])


def test_logs_lie_on_the_newest_base_file() -> None:
    rules = view((1, 2, "commit"), (3, 4, "deltacommit"), (5, 6, "commit"), (7, 8, "deltacommit"))
    assert content(newest(rules, base(1), log(3), base(5), log(7))) == (base(5), [log(7)])


def test_a_delta_commit_that_completed_after_a_compaction_began_belongs_to_its_slice() -> None:
    rules = view((1, 2, "commit"), (3, 6, "deltacommit"), (5, 8, "commit"))
    assert content(newest(rules, base(1), log(3), base(5))) == (base(5), [log(3)])


def test_a_delta_commit_that_completed_before_it_is_compacted_away() -> None:
    rules = view((1, 2, "commit"), (3, 4, "deltacommit"), (5, 8, "commit"))
    assert content(newest(rules, base(1), log(3), base(5))) == (base(5), [])


def test_while_a_compaction_is_pending_readers_see_both_slices_as_one() -> None:
    rules = view(
        (1, 2, "commit"),
        (3, 4, "deltacommit"),
        (6, 7, "deltacommit"),
        pending=(f"{at(5)}.compaction.requested",),
        compacting={("p", F): at(5)},
    )
    assert content(newest(rules, base(1), log(3), log(6))) == (base(1), [log(3), log(6)])


def test_the_base_file_of_a_pending_compaction_is_not_seen() -> None:
    rules = view(
        (1, 2, "commit"),
        (3, 4, "deltacommit"),
        pending=(f"{at(5)}.compaction.inflight",),
        compacting={("p", F): at(5)},
    )
    assert content(newest(rules, base(1), log(3), base(5))) == (base(1), [log(3)])


def test_uncommitted_files_are_not_seen() -> None:
    rules = view((1, 2, "commit"), pending=(f"{at(3)}.deltacommit.inflight", f"{at(4)}.inflight"))
    assert content(newest(rules, base(1), log(3), base(4))) == (base(1), [])
    assert newest(rules, log(3)) is None


def test_time_travel_sees_the_slice_of_that_time() -> None:
    rules = view((1, 2, "commit"), (3, 4, "deltacommit"), (5, 6, "commit"), (7, 8, "deltacommit"))
    files = (base(1), log(3), base(5), log(7))
    assert content(newest(rules, *files, as_of=1)) == (base(1), [])
    assert content(newest(rules, *files, as_of=4)) == (base(1), [log(3)])
    assert content(newest(rules, *files, as_of=5)) == (base(5), [])
    assert newest(rules, *files, as_of=0) is None


def test_a_replaced_group_is_hidden_from_its_replacement_on() -> None:
    rules = view((1, 2, "commit"), (3, 4, "replacecommit"), replaced={("p", F): at(3)})
    assert newest(rules, base(1)) is None
    assert content(newest(rules, base(1), as_of=2)) == (base(1), [])


def test_groups_of_logs_only_are_cut_by_their_own_instant() -> None:
    rules = view((1, 2, "deltacommit"), (3, 4, "deltacommit"))
    assert content(newest(rules, log(1), log(3))) == (None, [log(1), log(3)])


def test_archived_files_are_committed() -> None:
    rules = view((5, 6, "commit"))
    assert content(newest(rules, base(1), log(2))) == (base(1), [log(2)])


def test_foreign_and_change_data_files_are_left_out() -> None:
    rules = view((1, 2, "commit"))
    names = (base(1), ".hoodie_partition_metadata", "notes.txt", log(1) + ".cdc")
    assert content(newest(rules, *names)) == (base(1), [])
