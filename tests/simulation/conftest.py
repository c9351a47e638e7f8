import contextlib
import functools

import pytest

from pyhudi.table.table import Table

pytest.register_assert_rewrite("tests.simulation.scenes")


@pytest.fixture(autouse=True, scope="session")
def _no_lock_across_actors():
    """Python 3.11 holds a lock per cached property for all instances; an actor that waits for its turn within one
    would stop all the others."""
    for each in vars(Table).values():
        if isinstance(each, functools.cached_property) and hasattr(each, "lock"):
            each.lock = contextlib.nullcontext()
