"""How a setting is declared, read and documented; the keys themselves live with their one owner.

An options record is a frozen dataclass whose fields are made by `setting`; `read_options` fills it from the layers of
settings that apply (later layers win), under any of a key's names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pyhudi.errors import InvalidRequest

Options = TypeVar("Options")

_SETTING = "pyhudi.setting"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One key with its other names, its documentation and the way its text is read."""

    key: str
    aliases: tuple[str, ...]
    doc: str
    read: Callable[[str], Any]
    call_name: str | None


def setting(
    key: str,
    default: Any,
    doc: str,
    *,
    read: Callable[[str], Any] | None = None,
    aliases: Sequence[str] = (),
    call_name: str | None = None,
) -> Any:
    """A field of an options record; without `read` the text is read as the default's type."""
    reader = read or _reader_for(default)
    about = Setting(key=key, aliases=tuple(aliases), doc=doc, read=reader, call_name=call_name)
    return dataclasses.field(default=default, metadata={_SETTING: about})


def read_options(kind: type[Options], *layers: Mapping[str, object]) -> Options:
    """The options record filled from the layers; keys that are not its own are left alone."""
    values: dict[str, Any] = {}
    for name, about in settings_of(kind):
        for layer in layers:
            for key in (*about.aliases, about.key, name):
                if key in layer:
                    values[name] = _read(about, key, layer[key])
    return kind(**values)


def settings_of(kind: type[Any]) -> list[tuple[str, Setting]]:
    """Field name and setting of every configurable field of an options record."""
    return [(field.name, field.metadata[_SETTING]) for field in dataclasses.fields(kind) if _SETTING in field.metadata]


def boolean(text: str) -> bool:
    """`true` or `false` in any case."""
    lowered = text.strip().lower()
    if lowered not in ("true", "false"):
        raise ValueError("it must be true or false")
    return lowered == "true"


def _reader_for(default: object) -> Callable[[str], Any]:
    if isinstance(default, bool):
        return boolean
    if isinstance(default, int):
        return int
    if isinstance(default, float):
        return float
    return str


def _read(about: Setting, key: str, value: object) -> Any:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        return about.read(text)
    except ValueError as problem:
        raise InvalidRequest(f"{key}={text!r} cannot be used: {problem}. It means: {about.doc}") from problem
