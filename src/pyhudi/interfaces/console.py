"""One command's way to its user: results on stdout, errors and progress on stderr, an exit code at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from pyhudi.clock import Background, stopwatch
from pyhudi.errors import HudiError
from pyhudi.interfaces.printing import json_text
from pyhudi.services import printable

OK, REFUSED, INTERRUPTED = 0, 1, 130


class Console:
    """Text for people, or exactly one JSON document; progress only where somebody watches a terminal."""

    def __init__(self, *, as_json: bool = False, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.as_json = as_json
        self._out = out or sys.stdout
        self._err = err or sys.stderr

    def say(self, text: str = "") -> None:
        """A line for people; nothing when a machine reads."""
        if not self.as_json:
            self.write(text)

    def document(self, content: Any) -> None:
        """The JSON document; nothing when people read."""
        if self.as_json:
            self.write(json_text(content))

    def write(self, text: str) -> None:
        """Text that is a result in itself."""
        self._out.write(f"{text}\n")
        self._out.flush()

    def complain(self, problem: HudiError) -> None:
        """An error as one line, and as the document where one is expected."""
        line = printable(" ".join(str(problem).split()))
        self.document({"error": type(problem).__name__, "message": line})
        self._err.write(f"error: {line}\n")

    @contextmanager
    def progress(self, doing: str) -> Iterator[None]:
        """While the block runs, what it does and for how long, on a terminal only."""
        if not self._err.isatty():
            yield
            return
        started = stopwatch()

        def show() -> None:
            self._err.write(f"\r{doing} … {stopwatch() - started:.0f} s")
            self._err.flush()

        show()
        ticking = Background(1_000, show)
        try:
            yield
        finally:
            ticking.stop()
            self._err.write("\r\x1b[K")
            self._err.flush()

    def exit_code(self, work: Callable[[], int]) -> int:
        """Do the work; what pyhudi refuses is one line and an exit code, no traceback."""
        try:
            return work()
        except HudiError as problem:
            self.complain(problem)
            return REFUSED
        except KeyboardInterrupt:
            self._err.write("interrupted\n")
            return INTERRUPTED
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())  # nobody reads on; no complaint at exit
            return REFUSED
