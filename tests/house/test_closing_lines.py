"""CI's verdict: what the tests' reports say, and no green without cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.closing_lines import main

REPORT = (
    '<testsuites><testsuite tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}"/></testsuites>'
)


def verdict(folder: Path, steps: str, **reports: tuple[int, int, int, int]) -> int:
    (folder / "steps").write_text(steps)
    for kind, (tests, failures, errors, skipped) in reports.items():
        text = REPORT.format(tests=tests, failures=failures, errors=errors, skipped=skipped)
        (folder / f"{kind}.xml").write_text(text)
    return main(folder / "steps", folder, ["unit", "interop"])


def test_counts_are_summed_over_the_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(tmp_path, "check 0 3\nunit 0 5\ninterop 0 7\n", unit=(10, 0, 0, 1), interop=(4, 0, 0, 0)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3:] == [
        "unit: 9 ran, 9 passed, 0 failed, 1 skipped",
        "interop: 4 ran, 4 passed, 0 failed",
        "13 passed, 0 failed",
    ]


def test_failures_and_errors_are_red(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(tmp_path, "unit 1 5\ninterop 0 7\n", unit=(10, 2, 1, 0), interop=(4, 0, 0, 0)) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "11 passed, 3 failed"


@pytest.mark.parametrize("interop", [{}, {"interop": (3, 0, 0, 3)}])
def test_a_kind_of_which_no_case_ran_is_red(
    interop: dict[str, tuple[int, int, int, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verdict(tmp_path, "unit 0 5\ninterop 0 7\n", unit=(10, 0, 0, 0), **interop) == 1
    out = capsys.readouterr().out
    assert "RED interop: no case ran" in out
    assert out.endswith("10 passed, 1 failed\n")


def test_a_step_that_fails_beside_its_tests_is_red(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = "check 2 3\nunit 0 5\ninterop 124 7\n"
    assert verdict(tmp_path, steps, unit=(10, 0, 0, 0), interop=(4, 0, 0, 0)) == 1
    out = capsys.readouterr().out
    assert "RED check: the step itself failed" in out
    assert "RED interop: the step itself failed" in out
    assert out.endswith("14 passed, 2 failed\n")
