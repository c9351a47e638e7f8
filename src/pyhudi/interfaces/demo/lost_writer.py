"""A writer that does not live to commit: run as a process, it kills itself in the middle of an upsert."""

from __future__ import annotations

import os
import signal
import sys

from pyhudi.client.table_client import TableClient
from pyhudi.clock import system_machine
from pyhudi.format.file_names import META_FOLDER
from pyhudi.interfaces.dataframe import HudiTable
from pyhudi.interfaces.demo.trips import trips
from pyhudi.storage import Content, LocalStorage

FILES_WRITTEN = 2
"""How many data files it gets done."""


class MortalStorage(LocalStorage):
    """Local files, until so many data files are written; then this process dies as in a power cut."""

    def __init__(self, root: str, files: int) -> None:
        super().__init__(root)
        self._files_left = files

    def create(self, path: str, content: Content) -> None:
        if not path.startswith(META_FOLDER):
            if self._files_left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            self._files_left -= 1
        super().create(path, content)


def main(path: str) -> None:
    """Begin an upsert that doubles as a disaster."""
    client = TableClient(MortalStorage(path, FILES_WRITTEN), system_machine(), {})
    HudiTable(client).upsert(trips(0, 40_000, updated=99, surcharge=1_000.0))


if __name__ == "__main__":
    main(sys.argv[1])
