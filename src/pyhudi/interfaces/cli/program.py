"""The program `pyhudi`: finds the command, hands it a console, returns its exit code."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence

from pyhudi.errors import Unsupported
from pyhudi.interfaces.cli.command import Command
from pyhudi.interfaces.cli.look import INFO, TIMELINE, VALIDATE
from pyhudi.interfaces.cli.read import READ
from pyhudi.interfaces.cli.service import PLAN, RUN
from pyhudi.interfaces.console import Console
from pyhudi.interfaces.demo import story

DEMO = Command(
    name="demo", help="the whole story on a throw-away table", add_arguments=story.add_arguments, run=story.run
)
COMMANDS = (INFO, TIMELINE, READ, PLAN, RUN, VALIDATE, DEMO)

NOT_BUILT = ("partitions", "files", "freshness", "snapshot", "upgrade", "downgrade", "sql", "ingest", "report")
"""Commands that are refused by name until they are built."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (the process's own, if none is given) and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in NOT_BUILT:
        return Console(as_json="--json" in words).exit_code(lambda: _refuse(words[0]))
    try:
        arguments = program().parse_args(words)
    except SystemExit as ended:
        return int(ended.code or 0)
    console = Console(as_json=arguments.json or getattr(arguments, "format", None) == "json")
    command = next(each for each in COMMANDS if each.name == arguments.command)
    return console.exit_code(lambda: command.run(arguments, console))


def program() -> ArgumentParser:
    """The parser of the whole command line."""
    parser = ArgumentParser(
        prog="pyhudi",
        description="Apache Hudi tables, without a jar.",
        epilog=f"not built yet: {', '.join(NOT_BUILT)}\nexit codes: 0 done, 1 findings or refused, 2 wrong usage",
        formatter_class=RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        own = commands.add_parser(command.name, help=command.help, description=command.help)
        command.add_arguments(own)
        own.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
    return parser


def _refuse(name: str) -> int:
    built = ", ".join(command.name for command in COMMANDS)
    raise Unsupported(f"command {name} is not built yet; available: {built}")
