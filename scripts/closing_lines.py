"""The last lines of CI: what ran of each kind, read from the tests' reports, and the verdict.

closing_lines.py STEPS REPORTS KIND...: STEPS holds "name exit-code seconds" a line, REPORTS the files <kind>.xml.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many cases of one kind ended which way."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0


def count(report: Path) -> Count:
    """The cases of one report; none if the tests never got as far as writing it."""
    if not report.exists():
        return Count()
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    tests, failures, errors, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "failures", "errors", "skipped")
    )
    failed = failures + errors
    return Count(passed=max(tests - failed - skipped, 0), failed=failed, skipped=skipped)


def complaints(outcomes: dict[str, int], counts: dict[str, Count]) -> list[str]:
    """What is red though no test says so."""
    broken = [name for name, code in outcomes.items() if code != 0 and not counts.get(name, Count()).failed]
    empty = [name for name, found in counts.items() if not found.passed + found.failed and name not in broken]
    return [f"{name}: the step itself failed" for name in broken] + [f"{name}: no case ran" for name in empty]


def main(steps: Path, reports: Path, kinds: list[str]) -> int:
    """Prints the lines; the exit code is the verdict."""
    rows = [line.split() for line in steps.read_text().splitlines()]
    seconds = {name: int(took) for name, _, took in rows}
    counts = {kind: count(reports / f"{kind}.xml") for kind in kinds}
    red = complaints({name: int(code) for name, code, _ in rows}, counts)
    print("\n== summary")
    for name, took in seconds.items():
        print(f"{name:<10}{took:>6} s")
    for line in red:
        print(f"RED {line}")
    for kind, found in counts.items():
        skipped = f", {found.skipped} skipped" if found.skipped else ""
        print(f"{kind}: {found.passed + found.failed} ran, {found.passed} passed, {found.failed} failed{skipped}")
    failed = sum(found.failed for found in counts.values()) + len(red)
    print(f"{sum(found.passed for found in counts.values())} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
