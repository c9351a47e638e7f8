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
from pyhudi.interfaces.demo.chapters import CHAPTERS, Chapter, over_spark
from pyhudi.interfaces.demo.stage import Stage


def main(argv: Sequence[str] | None = None) -> int:
    """`python -m pyhudi.interfaces.demo [--chapter NAME] [--no-spark] [--keep FOLDER] [--json]`."""
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
    parser.add_argument("--no-spark", action="store_true", help="leave the chapter that starts Spark out")
    parser.add_argument("--keep", metavar="FOLDER", help="make the table in this new folder and leave it there")


def run(arguments: Namespace, console: Console) -> int:
    """Play the demo; its table goes at the end unless it is to be kept."""
    folder = _folder(arguments.keep)
    console.say("One table, from its creation to its health check.")
    try:
        played = _play(Stage(console, folder), _chapters(arguments), arguments.chapter)
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


def _chapters(arguments: Namespace) -> list[Chapter]:
    """Those to play: up to the one asked for, with or without Spark."""
    names = [chapter.name for chapter in CHAPTERS]
    last = names.index(arguments.chapter) + 1 if arguments.chapter else len(names)
    return [each for each in CHAPTERS[:last] if each.play is not over_spark or not arguments.no_spark]


def _play(stage: Stage, chapters: Sequence[Chapter], only: str | None) -> list[dict[str, Any]]:
    console, silence = stage.console, Console(as_json=True)
    played: list[dict[str, Any]] = []
    started = stopwatch()
    for number, chapter in enumerate(chapters, start=1):
        aloud = only in (None, chapter.name)
        stage.console = console if aloud else silence
        stage.console.say(f"\n[{number}/{len(CHAPTERS)}] {chapter.name}: {chapter.about}")
        seconds = _played(stage, chapter)
        if aloud:
            played.append({"name": chapter.name, "seconds": round(seconds, 3), "facts": stage.facts})
    console.say(f"\ndone in {stopwatch() - started:.1f} s")
    return played


def _played(stage: Stage, chapter: Chapter) -> float:
    stage.facts = {}
    started = stopwatch()
    chapter.play(stage)
    return stopwatch() - started
