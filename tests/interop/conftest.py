"""The judges of the interop campaign: each oracle is started once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest

from tests.interop.judges import Judges
from tests.interop.oracle import HudiRs, JavaHudi
from tests.spark.conftest import spark as spark


@pytest.fixture(scope="session")
def java_hudi() -> Iterator[Callable[..., JavaHudi]]:
    """The oracle of a release and time zone; each is started once."""
    with ExitStack() as running:
        yield cache(lambda **which: running.enter_context(JavaHudi(**which)))


@pytest.fixture(scope="session")
def java(java_hudi: Callable[..., JavaHudi]) -> JavaHudi:
    return java_hudi()


@pytest.fixture(scope="session")
def hudi_rs() -> HudiRs:
    return HudiRs()


@pytest.fixture
def judges(java: JavaHudi, hudi_rs: HudiRs, spark: Any) -> Judges:
    return Judges(java=java, hudi_rs=hudi_rs, spark=spark)
