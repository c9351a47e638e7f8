"""Java Properties text, as hoodie.properties and the partition metadata use it, and the table checksum."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

from pyhudi.errors import CorruptTable

CHECKSUM = "hoodie.table.checksum"

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_PRINTED = {
    "\t": "\\t",
    "\n": "\\n",
    "\r": "\\r",
    "\f": "\\f",
    "\\": "\\\\",
    "=": "\\=",
    ":": "\\:",
    "#": "\\#",
    "!": "\\!",
}
_BLANKS = " \t\f"


def parse_properties(content: bytes, where: str) -> dict[str, str]:
    """Keys and values as java.util.Properties reads them; the last of a repeated key wins."""
    result: dict[str, str] = {}
    for line in _logical_lines(content.decode("iso-8859-1")):
        split = _separator(line)
        rest = line[split:].lstrip(_BLANKS)
        value = rest[1:].lstrip(_BLANKS) if rest[:1] in ("=", ":") else rest
        try:
            result[_unescape(line[:split])] = _unescape(value)
        except ValueError as problem:
            raise CorruptTable(
                f"{where}: bad escape in line {line[:60]!r}; restore the file from its backup"
            ) from problem
    return result


def print_properties(properties: Mapping[str, str], comment: str) -> bytes:
    """Text that java.util.Properties reads back to the same keys and values."""
    lines = [f"#{comment}"]
    lines += [f"{_escape(key, key=True)}={_escape(value, key=False)}" for key, value in sorted(properties.items())]
    return ("\n".join(lines) + "\n").encode("ascii")


def table_checksum(database: str, table: str) -> str:
    """What `hoodie.table.checksum` must be for a table of that name."""
    return str(zlib.crc32(f"{database}.{table}".encode()))


def _logical_lines(text: str) -> list[str]:
    """Lines with continuations joined; comments and blank lines left out."""
    lines: list[str] = []
    pending: str | None = None
    for raw in re.split(r"\r\n|\n|\r", text):
        line = raw.lstrip(_BLANKS)
        if pending is None and (not line or line[0] in "#!"):
            continue
        line = (pending or "") + line
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending = line[:-1]
        else:
            lines.append(line)
            pending = None
    if pending is not None:
        lines.append(pending)
    return lines


def _separator(line: str) -> int:
    """Index of the first character that ends the key."""
    index = 0
    while index < len(line):
        if line[index] == "\\":
            index += 2
        elif line[index] in "=:" + _BLANKS:
            return index
        else:
            index += 1
    return len(line)


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        body = match.group(1)
        if len(body) == 5:
            return chr(int(body[1:], 16))
        if body == "u":
            raise ValueError("unfinished \\u escape")
        return _PLAIN.get(body, body)

    joined = _ESCAPE.sub(one, text)
    return joined.encode("utf-16", "surrogatepass").decode("utf-16")


def _escape(text: str, *, key: bool) -> str:
    out = []
    for index, char in enumerate(text):
        if char == " " and (key or index == 0):
            out.append("\\ ")
        elif char in _PRINTED:
            out.append(_PRINTED[char])
        elif " " <= char <= "~":
            out.append(char)
        else:
            units = char.encode("utf-16-be")
            out += [f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2)]
    return "".join(out)
