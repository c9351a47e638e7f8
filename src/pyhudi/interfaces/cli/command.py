"""What a command is: its name, its arguments, and what it does with a console."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from dataclasses import dataclass

from pyhudi.interfaces.console import Console


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command; `run` returns the exit code and raises `HudiError` for what is refused."""

    name: str
    help: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, Console], int]


def add_table(parser: ArgumentParser) -> None:
    """The argument that every command on a table has."""
    parser.add_argument("table", metavar="TABLE", help="path or file: URI of the table")


def count(text: str) -> int:
    """The value of an option that limits how much is shown."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is no number")
    return int(text)
