"""Java Hudi behind a pipe: one warm JVM that reads, writes and runs procedures on the tests' tables.

The JVM lives in a child process with PySpark 3.5 (server.py), for which Hudi has a bundle. Requests and answers are
lines of JSON; rows travel as files, Parquet to Java and Arrow back, so that every value is exact.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import pyarrow as pa
import pyarrow.parquet as pq

from tests.interop.oracle.bundle import bundle
from tests.interop.oracle.errors import OracleError

Query = Literal["snapshot", "read_optimized", "incremental"]
Operation = Literal[
    "upsert", "insert", "delete", "bulk_insert", "insert_overwrite", "insert_overwrite_table", "delete_partition"
]

_ROOT = Path(__file__).resolve().parents[3]
_SERVER = Path(__file__).with_name("server.py")


class JavaHudi:
    """One release of Apache Hudi in one time zone. Close it, or use it as a context manager."""

    def __init__(self, *, release: str = "1.2.0", timezone: str = "UTC", timeout_s: float = 300) -> None:
        """Starts the JVM and waits until it answers; a call that takes longer than the timeout ends it."""
        jar = bundle(release)
        self._timeout_s = timeout_s
        self._calls = 0
        self._scratch = tempfile.TemporaryDirectory(prefix="pyhudi-oracle-")
        self._folder = Path(self._scratch.name)
        python = os.environ.get("PYHUDI_PYTHON35") or str(_ROOT / ".venv35" / "bin" / "python")
        command = [python, str(_SERVER), str(jar), timezone, str(self._folder)]
        environment = {name: value for name, value in os.environ.items() if name not in ("SPARK_HOME", "PYTHONPATH")}
        environment |= {"TZ": timezone, "PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python}
        with self._log.open("wb") as log:
            self._server = subprocess.Popen(
                command, cwd=self._folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        try:
            self._ask("ping")
        except OracleError:
            self.close()
            raise

    def read(
        self,
        path: str | Path,
        *,
        query: Query = "snapshot",
        as_of: str | None = None,
        metadata: bool = True,
        data_skipping: bool = True,
        columns: list[str] | None = None,
        where: str | None = None,
        options: dict[str, str] | None = None,
    ) -> pa.Table:
        """The rows with Hudi's own columns, in no order; timestamps as UTC microseconds whatever the time zone."""
        settings = {
            "hoodie.datasource.query.type": query,
            "hoodie.metadata.enable": str(metadata).lower(),
            "hoodie.enable.data.skipping": str(data_skipping).lower(),
        }
        if as_of is not None:
            settings["as.of.instant"] = as_of
        settings |= options or {}
        return self._rows("read", path=str(path), options=settings, columns=columns, where=where)

    def write(
        self,
        path: str | Path,
        rows: pa.Table,
        *,
        options: dict[str, str],
        operation: Operation = "upsert",
        mode: Literal["append", "overwrite"] = "append",
    ) -> None:
        """Writes as a Spark job of a user would: what `options` leaves open is Java's own default."""
        file = self._folder / f"rows-{self._calls}.parquet"
        pq.write_table(rows, file, coerce_timestamps=None, store_schema=False)
        try:
            settings = {"hoodie.datasource.write.operation": operation} | options
            self._ask("write", path=str(path), rows=str(file), options=settings, mode=mode)
        finally:
            file.unlink()

    def create(self, path: str | Path, rows: pa.Table, *, options: dict[str, str], operation: Operation) -> None:
        """A new table with these rows, in place of what was there."""
        self.write(path, rows, options=options, operation=operation, mode="overwrite")

    def sql(self, text: str) -> list[dict[str, Any]]:
        """The rows that a statement answers with, such as `call run_compaction(...)` or `set hoodie.x = y`."""
        answer: list[dict[str, Any]] = self._rows("sql", text=text).to_pylist()
        return answer

    def table_name(self, path: str | Path) -> str:
        """A name in the JVM's catalog for the table at that path: many procedures take nothing else."""
        name = f"t_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
        self.sql(f"create table if not exists {name} using hudi location '{path}'")
        self.sql(f"refresh table {name}")
        return name

    def close(self) -> None:
        """Ends the JVM; a second call does nothing."""
        if self._server.stdin is not None and not self._server.stdin.closed:
            self._server.stdin.close()
        try:
            self._server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        if self._server.stdout is not None:
            self._server.stdout.close()
        self._scratch.cleanup()

    def kill(self) -> None:
        """Ends the JVM in the middle of whatever it does, as a crash would."""
        for process in (*_children(self._server.pid), self._server.pid):
            os.kill(process, signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _log(self) -> Path:
        return self._folder / "server.log"

    def _rows(self, verb: str, **arguments: Any) -> pa.Table:
        file = self._folder / f"answer-{self._calls}.arrow"
        self._ask(verb, answer=str(file), **arguments)
        try:
            with pa.ipc.open_file(file) as reader:
                return reader.read_all()
        finally:
            file.unlink()

    def _ask(self, verb: str, **arguments: Any) -> None:
        if self._server.stdin is None or self._server.stdout is None or self._server.stdin.closed:
            raise OracleError("the oracle is closed")
        self._calls += 1
        watchdog = threading.Timer(self._timeout_s, self._server.kill)
        watchdog.start()
        try:
            self._server.stdin.write(json.dumps({"verb": verb, **arguments}).encode() + b"\n")
            self._server.stdin.flush()
            line = self._server.stdout.readline()
        except BrokenPipeError:
            line = b""
        finally:
            watchdog.cancel()
        if not line:
            self._server.kill()
            log = self._log.read_text(errors="replace")[-1500:]
            raise OracleError(
                f"Java Hudi died or gave no answer to {verb} within {self._timeout_s} s; its log ends: {log}"
            )
        problem = json.loads(line).get("error")
        if problem is not None:
            raise OracleError(problem)


def _children(process: int) -> list[int]:
    """The processes that a process has started (Linux)."""
    listed = (Path("/proc") / str(process) / "task").glob("*/children")
    return [int(child) for file in listed for child in file.read_text().split()]
