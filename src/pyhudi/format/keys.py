"""Record keys and partition paths: which generator a table uses, and how values become text and folders."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NULL_KEY_PART = "__null__"
EMPTY_KEY_PART = "__empty__"
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class KeyGenerator(StrEnum):
    """Key generators by the name that `hoodie.table.keygenerator.type` stores."""

    SIMPLE = "SIMPLE"
    COMPLEX = "COMPLEX"
    NON_PARTITION = "NON_PARTITION"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySpec:
    """How rows of one table get their record key and partition path."""

    generator: KeyGenerator
    key_fields: tuple[str, ...]
    partition_fields: tuple[str, ...]
    hive_style: bool
    url_encoded: bool
    prefix_single_key: bool

    @property
    def fields(self) -> tuple[str, ...]:
        """All columns that key and partition path are made of, each once."""
        return tuple(dict.fromkeys((*self.key_fields, *self.partition_fields)))

    @property
    def key_is_prefixed(self) -> bool:
        """True when a key reads `field:value` even with one key field."""
        return len(self.key_fields) > 1 or (self.generator is KeyGenerator.COMPLEX and self.prefix_single_key)


def generator_for(key_fields: int, partition_fields: int) -> KeyGenerator:
    """The generator that Hudi infers from how many fields there are."""
    if partition_fields == 0:
        return KeyGenerator.NON_PARTITION
    return KeyGenerator.SIMPLE if key_fields == 1 and partition_fields == 1 else KeyGenerator.COMPLEX


_ESCAPED = frozenset(chr(code) for code in (*range(1, 0x20), 0x7F)) | frozenset("\"#%'*/:=?\\{[]^")


def escape_partition_value(value: str) -> str:
    """A partition value with the characters that Hudi url-encodes replaced by `%XX`."""
    if not any(char in _ESCAPED for char in value):
        return value
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in value)


def unescape_partition_value(text: str) -> str:
    """The value that `escape_partition_value` made the text from."""
    out, index = [], 0
    while index < len(text):
        code = text[index + 1 : index + 3]
        if text[index] == "%" and len(code) == 2 and all(char in "0123456789abcdefABCDEF" for char in code):
            out.append(chr(int(code, 16)))
            index += 3
        else:
            out.append(text[index])
            index += 1
    return "".join(out)


def partition_part(field: str, value: str | None, spec: KeySpec) -> str:
    """One folder of a partition path, for one field's value already turned to text."""
    text = value if value else DEFAULT_PARTITION
    if spec.url_encoded:
        text = escape_partition_value(text)
    return f"{field}={text}" if spec.hive_style else text


def partition_values(partition_path: str, spec: KeySpec) -> tuple[str | None, ...] | None:
    """The text of each partition field as the folders show it; None when the path has another shape."""
    parts = partition_path.split("/") if partition_path else []
    if len(parts) != len(spec.partition_fields):
        return None
    values: list[str | None] = []
    for field, part in zip(spec.partition_fields, parts, strict=True):
        if spec.hive_style:
            if not part.startswith(f"{field}="):
                return None
            part = part[len(field) + 1 :]
        text = unescape_partition_value(part) if spec.url_encoded else part
        values.append(None if text == DEFAULT_PARTITION else text)
    return tuple(values)


def escapes_table(partition_path: str) -> bool:
    """True for a partition path that would leave the table or enter its metadata folder."""
    parts = partition_path.split("/")
    return bool(partition_path) and (
        any(part in ("", ".", "..") for part in parts)
        or parts[0] == ".hoodie"
        or "\0" in partition_path
        or "\\" in partition_path
    )
