import contextlib
import functools

import pytest

from pyhudi.table.table import Table

pytest.register_assert_rewrite("tests.simulation.scenes")

from tests.simulation.scenes import FULL, SEED, TALLY  # noqa: E402 - rewritten, so only now


@pytest.fixture(autouse=True, scope="session")
def _no_lock_across_actors():
    """Python 3.11 holds a lock per cached property for all instances; an actor that waits for its turn within one
    would stop all the others."""
    for each in vars(Table).values():
        if isinstance(each, functools.cached_property) and hasattr(each, "lock"):
            each.lock = contextlib.nullcontext()


def pytest_terminal_summary(terminalreporter):
    size = "full size" if FULL else f"sampled, seed {SEED}"
    for what, (cases, seconds) in TALLY.items():
        each = 1000 * seconds / cases
        terminalreporter.write_line(f"simulation, {size}: {cases} {what} in {seconds:.1f} s ({each:.0f} ms each)")
