"""The command line: what it prints, what it refuses, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pyhudi
from pyhudi.interfaces.cli import main
from pyhudi.interfaces.cli.program import COMMANDS, NOT_BUILT
from pyhudi.interfaces.console import Console

SCHEMA = pa.schema([("id", pa.string()), ("day", pa.string()), ("fare", pa.float64()), ("ts", pa.int64())])


def rows(*fares: float) -> pa.Table:
    count = len(fares)
    return pa.table(
        {
            "id": [f"k{number}" for number in range(count)],
            "day": ["d1"] * count,
            "fare": list(fares),
            "ts": [1] * count,
        },
        schema=SCHEMA,
    )


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A MERGE_ON_READ table of three rows, one of them changed in a log."""
    where = str(tmp_path / "trips")
    made = pyhudi.create_table(
        where,
        SCHEMA,
        name="trips",
        table_type="MERGE_ON_READ",
        record_key=["id"],
        partition_by=["day"],
        ordering=["ts"],
    )
    made.insert(rows(1.0, 2.0, 3.0))
    made.upsert(rows(10.0))
    return where


class Output:
    """What one command line gave."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: str) -> None:
        self.code = main(words)
        self.out, self.err = capsys.readouterr()

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def test_info_tells_what_the_table_is(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = Output(capsys, "info", path)
    assert shown.code == 0
    assert "MERGE_ON_READ" in shown.out and "EVENT_TIME_ORDERING" in shown.out
    told = Output(capsys, "info", path, "--json").document
    assert told["record_key"] == ["id"]
    assert told["columns"] == {"id": "string", "day": "string", "fare": "double", "ts": "int64"}
    assert told["refused_writes"] is None


def test_timeline_lists_instants_newest_last(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = Output(capsys, "timeline", path, "--json").document
    assert [each["action"] for each in told] == ["deltacommit", "deltacommit"]
    assert [each["state"] for each in told] == ["COMPLETED", "COMPLETED"]
    newest = Output(capsys, "timeline", path, "--limit", "1")
    assert told[1]["requested_time"] in newest.out and told[0]["requested_time"] not in newest.out
    assert Output(capsys, "timeline", path, "--json", "--limit", "0").document == []


def test_the_timeline_of_a_new_table_is_empty_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = str(tmp_path / "new")
    pyhudi.create_table(where, SCHEMA, name="new", record_key=["id"])
    assert "nothing has been written" in Output(capsys, "timeline", where).out
    assert Output(capsys, "timeline", where, "--json").document == []
    assert Output(capsys, "read", where).out.endswith("0 rows\n")


def test_read_gives_the_rows_of_every_query(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    def fares(*options: str) -> dict[str, float]:
        return {row["id"]: row["fare"] for row in Output(capsys, "read", path, "--json", *options).document}

    first = Output(capsys, "timeline", path, "--json").document[0]["requested_time"]
    assert fares() == {"k0": 10.0, "k1": 2.0, "k2": 3.0}
    assert fares("--query", "read_optimized") == {"k0": 1.0, "k1": 2.0, "k2": 3.0}
    assert fares("--as-of", first) == {"k0": 1.0, "k1": 2.0, "k2": 3.0}
    assert fares("--where", "fare > 2.5") == {"k0": 10.0, "k2": 3.0}
    assert len(fares("--limit", "2")) == 2


def test_read_shows_the_users_columns_unless_told_otherwise(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    def columns(*options: str) -> list[str]:
        return list(Output(capsys, "read", path, "--format", "json", *options).document[0])

    assert columns() == SCHEMA.names
    assert columns("--columns", "fare, id") == ["fare", "id"]
    assert columns("--meta")[0] == "_hoodie_commit_time"


def test_read_as_table_and_as_csv(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = Output(capsys, "read", path, "--columns", "id,fare", "--limit", "1").out.splitlines()
    assert table[0].split() == ["id", "fare"]
    assert table[-1] == "1 row"
    text = Output(capsys, "read", path, "--columns", "id,fare", "--format", "csv").out
    found = {row["id"]: row["fare"] for row in csv.DictReader(io.StringIO(text))}
    assert found == {"k0": "10.0", "k1": "2.0", "k2": "3.0"}


def test_plan_prints_and_writes_nothing(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = Output(capsys, "plan", "compaction", path)
    assert shown.code == 0
    assert shown.out.splitlines()[1].split()[:2] == ["partition", "file_id"]
    assert Output(capsys, "plan", path, "compaction").out == shown.out, "the service may stand after the table"
    assert len(Output(capsys, "plan", "compaction", path, "--json").document["steps"]) == 1
    assert len(Output(capsys, "timeline", path, "--json").document) == 2


def test_run_prints_the_plan_then_does_it(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    plan = Output(capsys, "plan", "compaction", path).out
    done = Output(capsys, "run", "compaction", path)
    assert done.code == 0
    assert done.out.startswith(plan)
    assert "1 file groups" in done.out
    again = Output(capsys, "run", "compaction", path)
    assert (again.code, "nothing to do" in again.out) == (0, True)


def test_run_as_json_is_one_document(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    done = Output(capsys, "run", "compaction", path, "--json").document
    assert done["instant"]["action"] == "commit"
    assert done["counts"] == {"file_groups": 1, "log_files": 1}
    assert Output(capsys, "run", "compaction", path, "--json").document["instant"] is None


def test_validate_finds_nothing_on_a_sound_table(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = Output(capsys, "validate", path)
    assert (shown.code, shown.out) == (0, "sound: no findings\n")
    assert Output(capsys, "validate", path, "--deep", "--json").document == []


def test_validate_exits_with_1_on_findings(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    next(Path(path, "d1").glob("*.parquet")).unlink()
    shown = Output(capsys, "validate", path, "--json")
    assert shown.code == 1
    assert shown.document


@pytest.mark.parametrize(
    "words",
    [
        ("read", "TABLE", "--since", "20240101000000000"),
        ("read", "TABLE", "--query", "incremental"),
        ("read", "TABLE", "--columns", "nope"),
        ("read", "TABLE", "--where", "fare >"),
        ("plan", "clustering", "TABLE"),
        ("plan", "nonsense", "TABLE"),
        ("info", "/nowhere/at/all"),
        *((name, "TABLE") for name in NOT_BUILT),
    ],
    ids=" ".join,
)
def test_a_refusal_is_one_line_and_exit_code_1(
    words: tuple[str, ...], path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [path if word == "TABLE" else word for word in words]
    refused = Output(capsys, *given)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("error: ") and refused.err.count("\n") == 1
    as_json = Output(capsys, *given, "--json")
    assert as_json.code == 1
    assert set(as_json.document) == {"error", "message"}


@pytest.mark.parametrize(
    "words", [(), ("bogus",), ("read",), ("read", "t", "--limit", "many"), ("plan", "compaction", "t", "--option", "x")]
)
def test_wrong_usage_exits_with_2(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    wrong = Output(capsys, *words)
    assert (wrong.code, wrong.out) == (2, "")
    assert "usage:" in wrong.err


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Output(capsys, "--help")
    assert shown.code == 0
    for name in (*(command.name for command in COMMANDS), *NOT_BUILT):
        assert name in shown.out


def test_a_reader_that_goes_away_is_no_error(path: str) -> None:
    script = [sys.executable, "-m", "pyhudi", "read", path, "--format", "csv"]
    reading = subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert reading.stdout is not None and reading.stderr is not None
    reading.stdout.close()
    assert reading.stderr.read() == b""
    reading.stderr.close()
    reading.wait()


class Terminal(io.StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


def test_progress_shows_on_a_terminal_only() -> None:
    for err, expected in ((Terminal(), True), (io.StringIO(), False)):
        with Console(err=err).progress("compaction"):
            pass
        assert ("compaction …" in err.getvalue()) is expected


def test_an_interruption_ends_without_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    assert Console().exit_code(interrupted) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_the_module_and_the_script_are_the_same_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["pyhudi", "info"])
    assert main() == 2
