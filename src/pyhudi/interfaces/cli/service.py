"""`plan` and `run`: table services, looked at or carried out."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace

from pyhudi.client.registry import PLANNED, SERVICES
from pyhudi.interfaces.cli.command import Command
from pyhudi.interfaces.console import OK, Console
from pyhudi.interfaces.dataframe import table
from pyhudi.interfaces.printing import instant_row

_NAMES = frozenset(service.name for service in SERVICES) | frozenset(PLANNED)


def plan(arguments: Namespace, console: Console) -> int:
    """Print what the service would do; writes nothing."""
    service, path = _service_and_table(arguments)
    planned = table(path).plan(service, **dict(arguments.option))
    console.document(planned.to_dict())
    console.say(str(planned))
    return OK


def run(arguments: Namespace, console: Console) -> int:
    """Print the plan, then carry it out."""
    service, path = _service_and_table(arguments)
    opened, options = table(path), dict(arguments.option)
    planned = opened.plan(service, **options)
    console.say(str(planned))
    with console.progress(service):
        result = opened.apply(planned, **options)
    console.document(
        {
            "plan": planned.to_dict(),
            "instant": instant_row(result.instant) if result.instant else None,
            "reason": result.reason,
            "counts": dict(result.counts),
            "files": list(result.files),
        }
    )
    if result.instant is not None:
        done = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in result.counts.items())
        console.say(f"\ndone: {result.instant} ({done})")
    return OK


def _service_and_table(arguments: Namespace) -> tuple[str, str]:
    """The service's name may stand on either side of the table."""
    first, second = arguments.service, arguments.table
    return (second, first) if first not in _NAMES and second in _NAMES else (first, second)


def _option(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key.strip(), value.strip()


def _arguments(parser: ArgumentParser) -> None:
    known = ", ".join(service.name for service in SERVICES)
    parser.add_argument("service", metavar="SERVICE", help=f"one of: {known}")
    parser.add_argument("table", metavar="TABLE", help="path or file: URI of the table")
    parser.add_argument(
        "--option", type=_option, action="append", default=[], metavar="KEY=VALUE", help="a setting, as often as needed"
    )


def _run_arguments(parser: ArgumentParser) -> None:
    _arguments(parser)
    parser.add_argument("--yes", action="store_true", help="agree to what destroys data; no service does yet")


PLAN = Command(name="plan", help="what a table service would do", add_arguments=_arguments, run=plan)
RUN = Command(name="run", help="plan a table service, then do it", add_arguments=_run_arguments, run=run)
