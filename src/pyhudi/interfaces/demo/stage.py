"""Where the demo plays: its folder, its table, what it tells, and what it promises while telling."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pyarrow.compute as pc

from pyhudi.clock import stopwatch
from pyhudi.errors import InternalError
from pyhudi.interfaces.console import Console
from pyhudi.interfaces.dataframe import HudiTable, table

Outcome = TypeVar("Outcome")


class Stage:
    """One playing of the demo. Every claim that a chapter prints goes through `promise`."""

    def __init__(self, console: Console, folder: Path) -> None:
        self.console = console
        self.path = str(folder / "trips")
        self.totals: dict[str, tuple[int, float]] = {}
        """rows and fares of the snapshot after each write, by instant"""
        self.facts: dict[str, Any] = {}

    @property
    def table(self) -> HudiTable:
        """The demo's table."""
        return table(self.path)

    def tell(self, text: str) -> None:
        """A line of the story, or several."""
        for line in text.splitlines():
            self.console.say(f"    {line}".rstrip())

    def call(self, call: str, work: Callable[[], Outcome], outcome: Callable[[Outcome], str]) -> Outcome:
        """Show a call as a user would type it, make it, and tell what came of it."""
        self.console.say(f"  >>> {call}")
        started = stopwatch()
        with self.console.progress(call):
            result = work()
        told = outcome(result)
        self.tell(told if "\n" in told else f"{told}  ({stopwatch() - started:.2f} s)")
        return result

    def promise(self, holds: bool, claim: str) -> None:
        """Break off if what the story claims is not so."""
        if not holds:
            raise InternalError(f"the demo broke off: {claim} does not hold; please report it")

    def snapshot(self, as_of: str | None = None, query: str = "snapshot") -> tuple[int, float]:
        """Rows, and the sum of their fares."""
        fares = self.table.to_arrow(columns=["fare"], as_of=as_of, query=query).column("fare")
        return len(fares), round(pc.sum(fares).as_py() or 0.0, 2)

    def remember(self, instant: str) -> None:
        """Keep what the table holds after a write, for time travel."""
        self.totals[instant] = self.snapshot()


def in_words(totals: tuple[int, float]) -> str:
    """Totals as the story tells them."""
    return f"{totals[0]:,} trips, {totals[1]:,.2f} in fares"
