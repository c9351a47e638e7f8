"""Hudi's Spark bundle of a release: fetched once through Maven, checked, kept outside the checkout."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tests.interop.oracle.errors import OracleError

_GROUP, _ARTIFACT = "org.apache.hudi", "hudi-spark3.5-bundle_2.12"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"

SHA256 = {
    "1.2.0": "cc79fba00822f3a6c3a860df99375c2e3d4a034d037dbf4213a4966a706a7676",
    "1.0.2": "2c2ab65a11e91265e4b7346f954448c46df52d66fb72f52dad83767b621deae8",
    "0.15.0": "aab6ecdb5c65fcd20406b980b31ccec294fae95693de947d5778f0b3fb4e302a",
}
"""The releases that the oracle can be started with, and what their jars must be."""


def bundle(release: str) -> Path:
    """The jar of that release: from Maven's local repository, our cache, or fetched into our cache."""
    if release not in SHA256:
        raise OracleError(f"no checksum for Hudi {release}; known are {', '.join(SHA256)}")
    name = f"{_ARTIFACT}-{release}.jar"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pyhudi" / "bundles"
    repository = Path.home() / ".m2" / "repository" / _GROUP.replace(".", "/") / _ARTIFACT / release
    jar = next((folder / name for folder in (repository, cache) if (folder / name).exists()), cache / name)
    if not jar.exists():
        _fetch(release, cache)
    with jar.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256[release]:
        raise OracleError(f"{jar} is not Hudi {release}: SHA-256 {found}; delete it and run again")
    return jar


def _fetch(release: str, folder: Path) -> None:
    maven = shutil.which("mvn")
    artifact = f"{_GROUP}:{_ARTIFACT}:{release}:jar"
    if maven is None:
        raise OracleError(
            f"{artifact} is needed and there is no mvn on the PATH: install Maven, or put the jar in {folder}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    command = [maven, "--batch-mode", "--quiet", _COPY, f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OracleError(f"Maven could not fetch {artifact}: {(done.stdout + done.stderr)[-1500:]}")
