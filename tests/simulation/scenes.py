"""The tables of the simulation, what happens to them, and what must hold afterwards whatever happened."""

import contextlib
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from pyhudi.client.create import TableDefinition
from pyhudi.errors import TableNotFound
from pyhudi.format.instant import Action, RequestedTime
from pyhudi.format.predicate import parse
from pyhudi.format.table_properties import TableType
from pyhudi.reads import Query, QueryType
from pyhudi.testing.machine import Crash, SimIds
from pyhudi.testing.model import Model
from pyhudi.testing.storage import Fault
from pyhudi.testing.world import Process, World
from tests.simulation.structure import problems_of

SCHEMA = pa.schema([("id", pa.string()), ("day", pa.string()), ("ts", pa.int64()), ("v", pa.int64())])

FULL = os.environ.get("PYHUDI_FULL") == "1"
SEED = int(os.environ.get("PYHUDI_SEED") or 1)


TALLY: dict[str, tuple[int, float]] = {}
"""What was tried -> how many cases, and how many seconds they took."""


def tally(what: str, cases: int, started: float) -> None:
    known, seconds = TALLY.get(what, (0, 0.0))
    TALLY[what] = (known + cases, seconds + time.perf_counter() - started)


def sample(cases: Sequence, most: int, at_full_size: int | None = None) -> list:
    """So many of the cases, evenly spread, the seed shifts them; at full size all, or as many as are named."""
    limit = int(os.environ.get("PYHUDI_CASES") or most)
    if FULL:
        limit = at_full_size or len(cases)
    if len(cases) <= limit:
        return list(cases)
    shift = random.Random(SEED).random()
    return [cases[int((number + shift) * len(cases) / limit)] for number in range(limit)]


@dataclass(frozen=True)
class Kind:
    """A kind of table."""

    table_type: TableType
    partitioned: bool
    by_event_time: bool

    def __str__(self) -> str:
        short = "mor" if self.merge_on_read else "cow"
        return f"{short}-{'parts' if self.partitioned else 'flat'}-{'event' if self.by_event_time else 'commit'}"

    @property
    def merge_on_read(self) -> bool:
        return self.table_type is TableType.MERGE_ON_READ

    def world(self) -> World:
        return World(
            definition=TableDefinition(
                name="sim",
                schema=SCHEMA,
                table_type=self.table_type,
                record_key=["id"],
                partition_by=["day"] if self.partitioned else [],
                ordering=["ts"] if self.by_event_time else [],
            )
        )

    def model(self) -> Model:
        key = ("id", "day") if self.partitioned else ("id",)
        return Model(key=key, ordering="ts" if self.by_event_time else None, merge_on_read=self.merge_on_read)


KINDS = [
    Kind(table_type, partitioned, by_event_time=partitioned is not swapped)
    for swapped in ((False, True) if FULL else (False,))
    for table_type in TableType
    for partitioned in (True, False)
]
"""Event time with partitions and commit time without; at full size also the other way round."""


def row(id: str, ts: int, v: int) -> dict:
    """A row; its key decides its partition."""
    return {"id": id, "day": "x" if id < "m" else "y", "ts": ts, "v": v}


@dataclass
class Story:
    """A table and its model, side by side; every step is taken by a process of its own."""

    kind: Kind
    world: World
    model: Model
    versions: dict[str, list] = field(default_factory=dict)
    """rows that each completed instant left"""

    @classmethod
    def of(cls, kind: Kind) -> "Story":
        return cls(kind, kind.world(), kind.model())

    def fork(self) -> "Story":
        """The same story up to here, on a machine of its own."""
        other = Story(self.kind, self.kind.world(), self.model.copy(), dict(self.versions))
        other.world.ids = SimIds(seed=1)
        other.world.disk.restore(self.world.disk.snapshot())
        other.world.clock.sleep_ms(self.world.clock.now_ms() - other.world.clock.now_ms())
        return other

    def take(self, step: "Step", process: Process | None = None) -> None:
        """One step to its end, on table and model."""
        result = step.act(process or self.world.process())
        step.apply(self.model)
        self.note(result)

    def note(self, result) -> None:
        if result is not None and result.instant is not None:
            self.versions.setdefault(result.instant.requested_time, self.model.snapshot())

    def crash(self, step: "Step", fault: Fault) -> Process:
        """A process dies on the step: it is done or it is not, and every reader sees the same."""
        old = rows_of(self.model) if self.versions else rows_now(self)
        victim = self.world.process(fault)
        with contextlib.suppress(Crash):
            self.note(step.act(victim))
        victim.die()
        found = rows_now(self)
        assert rows_now(self) == found, "two readings differ"
        if found == rows_after(self, step):
            step.apply(self.model)
            for instant in self.world.process().client.table().timeline.completed_writes():
                self.versions.setdefault(instant.requested_time, self.model.snapshot())
        else:
            assert found == old, "neither the state before nor the one after"
            self.note_waiting_compaction()
        if found is None:
            self.take(CREATE)
        return victim

    def note_waiting_compaction(self) -> None:
        """A compaction that was planned and not carried out shows the rows as they were when it was planned."""
        if self.versions and self.model.planned is None:
            for instant in self.world.process().client.table().timeline.pending(Action.COMPACTION):
                self.model.plan_compaction()
                self.versions[instant.requested_time] = self.model.snapshot()

    def start(self) -> "Story":
        """Created, filled, changed: two file groups of a partition, a deleted row, logs where there are logs."""
        self.take(CREATE)
        self.take(write("insert", row("a", 5, 1), row("b", 5, 2), row("c", 5, 3), row("p", 5, 4), row("q", 5, 5)))
        self.take(write("upsert", row("a", 6, 11), row("d", 5, 12), row("p", 4, 13)))
        self.take(write("delete", row("b", 0, 0)))
        return self

    def age(self) -> None:
        """Two more commits, a compaction, and so many commits that the metadata table is compacted, too."""
        self.take(write("upsert", row("a", 9, 91), row("b", 6, 92), row("r", 1, 93)))
        self.take(write("delete", row("c", 0, 0), row("r", 0, 0)))
        if self.kind.merge_on_read:
            self.take(COMPACT)
        self.take(write("upsert", row("b", 9, 94), row("c", 9, 95), row("q", 9, 96)))

    def check(self, *, read_optimized: bool = True) -> None:
        """Every query gives what the model says; the table is sound."""
        process = self.world.process()
        table, rows = process.client.table(), self.model.snapshot()
        assert process.read(Query(), table) == rows, "snapshot"
        if read_optimized:
            found = process.read(Query(kind=QueryType.READ_OPTIMIZED), table)
            assert found == self.model.read_optimized(), "read optimized"
        for predicate in ("v > 90", "v < 4", "ts = 9", "id = 'c'", "v is null"):
            found = process.read(Query(predicate=parse(predicate)), table)
            assert found == [each for each in rows if MATCHES[predicate](each)], f"where {predicate}"
        for instant, then in self.versions.items():
            assert process.read(Query(as_of=RequestedTime(instant)), table) == then, f"as of {instant}"
        assert problems_of(process.client) == []
        assert [str(finding) for finding in process.client.validate()] == []


MATCHES = {
    "v > 90": lambda each: each["v"] > 90,
    "v < 4": lambda each: each["v"] < 4,
    "ts = 9": lambda each: each["ts"] == 9,
    "id = 'c'": lambda each: each["id"] == "c",
    "v is null": lambda each: each["v"] is None,
}


@dataclass(frozen=True)
class Step:
    """Something done to a table, and to its model."""

    name: str
    act: Callable[[Process], object]
    apply: Callable[[Model], object]

    def __str__(self) -> str:
        return self.name


def write(operation: str, *rows: dict) -> Step:
    return Step(operation, lambda process: process.write(operation, rows), lambda model: model.write(operation, rows))


CREATE = Step("create", Process.create, lambda model: None)
COMPACT = Step("compaction", Process.compact, Model.compact)

STEPS = {
    "create": CREATE,
    "insert": write("insert", row("e", 7, 21), row("f", 7, 22), row("s", 7, 23)),
    "upsert": write("upsert", row("a", 8, 31), row("c", 4, 32), row("g", 7, 33), row("q", 5, 34)),
    "delete": write("delete", row("a", 0, 0), row("p", 0, 0), row("nobody", 0, 0)),
    "compaction": COMPACT,
}


def story_before(step: Step, kind: Kind) -> Story:
    story = Story.of(kind)
    return story if step is CREATE else story.start()


def rows_now(story: Story) -> list | None:
    """What a fresh reader finds; None where there is no table."""
    process = story.world.process()
    try:
        return [process.read(), process.read(Query(kind=QueryType.READ_OPTIMIZED))]
    except TableNotFound:
        return None


def rows_of(model: Model) -> list:
    """What the model says that a fresh reader finds."""
    return [model.snapshot(), model.read_optimized()]


def rows_after(story: Story, step: Step) -> list:
    """What a fresh reader will find once the step is done."""
    model = story.model.copy()
    step.apply(model)
    return rows_of(model)
