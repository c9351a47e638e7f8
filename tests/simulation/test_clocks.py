"""Clocks that differ between machines, and a timeline in another zone than the writer's."""

import pytest

from pyhudi.testing.machine import SimClock
from tests.simulation.scenes import KINDS, Kind, Story, row, write

pytestmark = pytest.mark.simulate


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_writer_whose_clock_is_behind_shares_no_time_with_what_happened_on_the_metadata_table(kind: Kind):
    story = Story.of(kind).start()
    behind = SimClock(story.world.clock.now_ms() - 300_000)
    host = story.world.process(clock=behind)
    for number in range(12):
        story.take(write("upsert", row("a", 10 + number, 100 + number), row(f"b{number}", 1, number)), host)
    story.age()
    story.check()
