"""What validation reports, and how a check that cannot read what it needs reports just that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from pyhudi.errors import CorruptTable, FileMissing, InvalidRequest, Unsupported

FROM_A_COPY = "restore the file from a copy of the table"


class Severity(StrEnum):
    """Whether rows are wrong, or will be, or whether something only waits to be cleared away."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is not as it must be; `where` is a path from the table's root, or an instant."""

    rule: str
    severity: Severity
    where: str
    what: str
    what_now: str


def error(rule: str, where: str, what: str, what_now: str) -> Finding:
    """Rows are wrong, or will be."""
    return Finding(rule=rule, severity=Severity.ERROR, where=where, what=what, what_now=what_now)


def warning(rule: str, where: str, what: str, what_now: str) -> Finding:
    """No row is wrong, but something is not as it should be."""
    return Finding(rule=rule, severity=Severity.WARNING, where=where, what=what, what_now=what_now)


def guarded(rule: str, where: str, check: Iterable[Finding]) -> Iterator[Finding]:
    """What a check finds; a file that stops it is a finding of its own, not the end of the validation."""
    try:
        yield from check
    except (CorruptTable, FileMissing, InvalidRequest, pa.ArrowException, OSError) as problem:
        yield error(rule, where, str(problem), FROM_A_COPY)
    except Unsupported as refusal:
        yield warning(rule, where, f"not checked: {refusal}", "validate this part with the Hudi release that wrote it")
