"""pyhudi and Java Hudi 1.2.0 on the same work, the same Spark 3.5, one after the other in this run.

    make bench [ARGS="--rows 1000000 --updates 200000"]

Each side runs in a process of its own (`bench/side.py`) on local[2]. Writes bench/RESULTS.md: seconds of both sides,
their ratio (above 1: pyhudi is faster), and where pyhudi's time goes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.interop.oracle.bundle import bundle

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PHASES = (
    ("load", "insert all rows into a new table"),
    ("upsert", "upsert keys spread evenly over all file groups"),
    ("upsert_again", "the same again, on top of it"),
    ("snapshot", "sum of one column over the snapshot"),
    ("snapshot_full", "every column of the snapshot, into nothing"),
    ("compaction", "compact every file group"),
    ("read_after", "sum of one column after compaction"),
)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=1_000_000)
    asked.add_argument("--updates", type=int, default=200_000)
    asked.add_argument("--repeat", type=int, default=2)
    options = asked.parse_args()
    python = os.environ.get("PYHUDI_PYTHON35") or str(ROOT / ".venv35" / "bin" / "python")
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for side in ("java", "pyhudi"):
        for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
            print(f"{side} {kind} …", flush=True)
            results.setdefault(kind, {})[side] = _measured(python, side, kind, options)
    report = _report(results, options)
    (HERE / "RESULTS.md").write_text(report, encoding="utf-8")
    print(report)
    differing = [kind for kind, sides in results.items() if sides["java"]["answers"] != sides["pyhudi"]["answers"]]
    for kind in differing:
        print(f"answers differ on {kind}: {results[kind]['java']['answers']} and {results[kind]['pyhudi']['answers']}")
    return 1 if differing else 0


def _measured(python: str, side: str, kind: str, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="pyhudi-bench-") as folder:
        answer = Path(folder) / "answer.json"
        command = [python, str(HERE / "side.py"), side, kind, str(options.rows), str(options.updates)]
        command += [str(options.repeat), folder, str(answer), str(bundle("1.2.0"))]
        environment = {**os.environ, "PYSPARK_PYTHON": python, "PYTHONPATH": str(ROOT), "TZ": "UTC"}
        subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL if side == "java" else None)
        found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        return found


def _setting(options: argparse.Namespace) -> str:
    return (
        f"{options.rows:,} rows of 6 columns without partitions in 4 file groups, upserts of {options.updates:,} keys; "
        "Spark 3.5 on local[2], metadata table on, both sides with their defaults but small-file packing off. Best of "
        f"{options.repeat} runs, one small one before to warm up. {platform.processor() or platform.machine()}, "
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}. Written by `make bench`."
    )


def _report(results: dict[str, dict[str, dict[str, Any]]], options: argparse.Namespace) -> str:
    lines = [
        "# pyhudi beside Java Hudi 1.2.0",
        "",
        _setting(options),
    ]
    for kind, sides in results.items():
        lines += ["", f"## {kind}", "", "| work | Java s | pyhudi s | ratio |", "|---|---|---|---|"]
        for name, what in PHASES:
            java, ours = (sides[side]["seconds"].get(name) for side in ("java", "pyhudi"))
            if java is not None and ours is not None:
                lines.append(f"| {what} | {java:.2f} | {ours:.2f} | {java / ours:.2f} |")
        phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in sides["pyhudi"]["phases"].items())
        lines += ["", f"Where pyhudi's upsert goes (seconds): {phases}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
