"""`info`, `timeline` and `validate`: looking at a table."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser, Namespace

from pyhudi.format.instant import WRITES
from pyhudi.interfaces.cli.command import Command, add_table, count
from pyhudi.interfaces.console import OK, REFUSED, Console
from pyhudi.interfaces.dataframe import HudiTable, table
from pyhudi.interfaces.printing import facts, instant_row
from pyhudi.services import printable, text_table


def info(arguments: Namespace, console: Console) -> int:
    """What the table is."""
    opened = table(arguments.table)
    about = {"location": arguments.table, **_about(opened)}
    columns = {field.name: str(field.type) for field in opened.schema}
    console.document({**about, "columns": columns})
    console.say(facts([(name.replace("_", " "), _in_words(value)) for name, value in about.items()]))
    console.say(f"\n{text_table([{'column': name, 'type': kind} for name, kind in columns.items()])}")
    return OK


def timeline(arguments: Namespace, console: Console) -> int:
    """The active instants, newest last."""
    instants = table(arguments.table).timeline()
    first = 0 if arguments.limit is None else max(len(instants) - arguments.limit, 0)
    rows = [instant_row(instant) for instant in instants[first:]]
    console.document(rows)
    console.say(text_table(rows) if instants else "the timeline is empty: nothing has been written yet")
    return OK


def validate(arguments: Namespace, console: Console) -> int:
    """What is unsound about the table."""
    opened = table(arguments.table)
    with console.progress("checking"):
        findings = opened.validate(deep=arguments.deep)
    console.document([dataclasses.asdict(finding) for finding in findings])
    for each in findings:
        console.say(printable(f"{each.severity} {each.rule}: {each.where}"))
        console.say(printable(f"    {each.what}"))
        console.say(printable(f"    now: {each.what_now}"))
    console.say(f"findings: {len(findings)}" if findings else "sound: no findings")
    return REFUSED if findings else OK


def _about(opened: HudiTable) -> dict[str, object]:
    config, instants = opened.config, opened.timeline()
    writes = [each for each in instants if each.completed and each.action in WRITES]
    return {
        "name": config.name,
        "table_type": str(config.table_type),
        "table_version": config.version.code,
        "record_key": list(config.keys.key_fields),
        "partitioned_by": list(config.keys.partition_fields),
        "ordering": list(config.ordering_fields),
        "merge_mode": str(config.merge_mode),
        "metadata_table": sorted(config.metadata_partitions),
        "timeline_zone": "UTC" if config.timeline_in_utc else "LOCAL",
        "partitions": len(opened.partitions()),
        "instants": len(instants),
        "pending_instants": [str(each) for each in instants if not each.completed],
        "last_write": str(writes[-1]) if writes else None,
        "refused_writes": config.refuse_to_write(),
    }


def _in_words(value: object) -> object:
    if value is None or value == []:
        return "none"
    return ", ".join(str(each) for each in value) if isinstance(value, list) else value


def _limit(parser: ArgumentParser) -> None:
    add_table(parser)
    parser.add_argument("--limit", type=count, metavar="N", help="the newest N only")


def _deep(parser: ArgumentParser) -> None:
    add_table(parser)
    parser.add_argument("--deep", action="store_true", help="open every file")


INFO = Command(name="info", help="what the table is", add_arguments=add_table, run=info)
TIMELINE = Command(name="timeline", help="its instants, newest last", add_arguments=_limit, run=timeline)
VALIDATE = Command(name="validate", help="check that it is sound", add_arguments=_deep, run=validate)
