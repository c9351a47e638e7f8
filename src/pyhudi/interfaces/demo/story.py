"""Playing the demo: all chapters on a fresh table, or one, with those before it played silently."""

from __future__ import annotations

import shutil
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyhudi.clock import stopwatch
from pyhudi.errors import InvalidRequest
from pyhudi.interfaces.console import OK, Console
from pyhudi.interfaces.demo.chapters import CHAPTERS, Chapter
from pyhudi.interfaces.demo.stage import Stage


def main(argv: Sequence[str] | None = None) -> int:
    """`python -m pyhudi.interfaces.demo [--chapter NAME] [--keep FOLDER] [--json]`."""
    parser = ArgumentParser(prog="pyhudi demo", description=__doc__)
    add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
    arguments = parser.parse_args(argv)
    console = Console(as_json=arguments.json)
    return console.exit_code(lambda: run(arguments, console))


def add_arguments(parser: ArgumentParser) -> None:
    """What the demo can be asked for."""
    names = [chapter.name for chapter in CHAPTERS]
    parser.add_argument("--chapter", choices=names, metavar="NAME", help=f"only this one: {', '.join(names)}")
    parser.add_argument("--keep", metavar="FOLDER", help="make the table in this new folder and leave it there")


def run(arguments: Namespace, console: Console) -> int:
    """Play the demo; its table goes at the end unless it is to be kept."""
    folder = _folder(arguments.keep)
    console.say("One table, from its creation to its health check, in this process: no Spark, no Java.")
    try:
        played = _play(Stage(console, folder), console, arguments.chapter)
    finally:
        if arguments.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            console.say(f"the table is kept at {folder / 'trips'}")
    console.document({"chapters": played, "seconds": round(sum(each["seconds"] for each in played), 3)})
    return OK


def _folder(keep: str | None) -> Path:
    if keep is None:
        return Path(tempfile.mkdtemp(prefix="pyhudi-demo-"))
    folder = Path(keep).absolute()
    if folder.exists():
        raise InvalidRequest(f"{folder} exists already; name a new folder")
    folder.mkdir(parents=True)
    return folder


def _play(stage: Stage, console: Console, only: str | None) -> list[dict[str, Any]]:
    played: list[dict[str, Any]] = []
    started = stopwatch()
    for number, chapter in enumerate(CHAPTERS, start=1):
        silent = only not in (None, chapter.name)
        stage.console = Console(as_json=True) if silent else console
        stage.console.say(f"\n[{number}/{len(CHAPTERS)}] {chapter.name}: {chapter.about}")
        seconds = _played(stage, chapter)
        if not silent:
            played.append({"name": chapter.name, "seconds": round(seconds, 3), "facts": stage.facts})
        if chapter.name == only:
            break
    console.say(f"\ndone in {stopwatch() - started:.1f} s")
    return played


def _played(stage: Stage, chapter: Chapter) -> float:
    stage.facts = {}
    started = stopwatch()
    chapter.play(stage)
    return stopwatch() - started
