"""`read`: rows of a table as a table for people, as JSON or as CSV."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from pyhudi.format.schema import META_COLUMNS
from pyhudi.interfaces.cli.command import Command, add_table, count
from pyhudi.interfaces.console import OK, Console
from pyhudi.interfaces.dataframe import HudiTable, table
from pyhudi.interfaces.printing import csv_text, rows_table

SHOWN = 50
"""Rows that a terminal shows when no --limit says otherwise."""


def read(arguments: Namespace, console: Console) -> int:
    """The rows of one query."""
    opened = table(arguments.table)
    with console.progress("reading"):
        rows = opened.to_arrow(
            query=arguments.query,
            as_of=arguments.as_of,
            since=arguments.since,
            until=arguments.until,
            columns=arguments.columns or _columns(opened, meta=arguments.meta),
            where=arguments.where,
        )
    if arguments.limit is not None:
        rows = rows.slice(0, arguments.limit)
    if console.as_json:
        console.document(rows.to_pylist())
    elif arguments.format == "csv":
        console.write(csv_text(rows))
    else:
        console.say(rows_table(rows, len(rows) if arguments.limit is not None else SHOWN))
    return OK


def _columns(opened: HudiTable, *, meta: bool) -> list[str]:
    own: list[str] = opened.schema.names
    return [*META_COLUMNS, *own] if meta else own


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _arguments(parser: ArgumentParser) -> None:
    add_table(parser)
    parser.add_argument("--query", default="snapshot", metavar="TYPE", help="snapshot (default) or read_optimized")
    parser.add_argument("--as-of", metavar="TIME", help="time travel: an instant or an ISO time")
    parser.add_argument("--since", metavar="TIME", help="incremental: after this instant")
    parser.add_argument("--until", metavar="TIME", help="incremental: up to this instant")
    parser.add_argument("--columns", type=_names, metavar="A,B", help="these columns only")
    parser.add_argument("--meta", action="store_true", help="Hudi's own columns too")
    parser.add_argument("--where", metavar="FILTER", help="such as \"day = '2024-12-31' AND fare > 5\"")
    parser.add_argument("--limit", type=count, metavar="N", help="the first N rows")
    parser.add_argument(
        "--format", choices=("table", "json", "csv"), default="table", help="table (default), json or csv"
    )


READ = Command(name="read", help="its rows", add_arguments=_arguments, run=read)
