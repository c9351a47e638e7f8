"""HFile version 3, as much of it as the metadata table needs."""

from pyhudi.format.hfile.reader import HFileReader
from pyhudi.format.hfile.writer import write_hfile

__all__ = ["HFileReader", "write_hfile"]
