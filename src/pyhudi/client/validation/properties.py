"""R11: hoodie.properties is whole, fits the schema, and the metadata table fits it."""

from __future__ import annotations

from collections.abc import Iterator

from pyhudi.client.validation.facts import Facts
from pyhudi.client.validation.finding import Finding, error, warning
from pyhudi.format.file_names import META_FOLDER
from pyhudi.format.properties import CHECKSUM, parse_properties
from pyhudi.format.table_properties import KEY_GENERATOR_CLASS, KEY_GENERATOR_TYPE, VERSION
from pyhudi.storage import joined
from pyhudi.table.metadata_table import METADATA_FOLDER
from pyhudi.table.table import PROPERTIES_PATH

_RULE = "R11"
_HALF_STATES = ("hoodie.properties.backup", "hoodie.properties.updated")


def properties_are_whole(facts: Facts) -> Iterator[Finding]:
    """What can be told from the file alone; its checksum was compared when the table was opened."""
    where, properties = facts.at(PROPERTIES_PATH), facts.table.properties
    if CHECKSUM not in properties.raw:
        yield warning(_RULE, where, f"{CHECKSUM} is missing", "let Hudi write the file again")
    if properties.keys.key_fields and not {KEY_GENERATOR_TYPE, KEY_GENERATOR_CLASS} & properties.raw.keys():
        what = f"no {KEY_GENERATOR_TYPE}: how keys are made can only be guessed"
        yield warning(_RULE, where, what, "set the property to what the writers use")
    for info in facts.storage.list(META_FOLDER).files:
        if info.name in _HALF_STATES:
            what = "a rewrite of the properties is under way, or was cut short"
            yield warning(
                _RULE, facts.at(info.path), what, "nothing if a writer is at work; else the next change of them"
            )


def properties_fit_the_schema(facts: Facts) -> Iterator[Finding]:
    """Key, partition and ordering fields are columns."""
    names = {field["name"] for field in facts.table.schema["fields"]}
    keys = facts.table.properties.keys
    for field in (*keys.fields, *facts.table.properties.ordering_fields):
        if field.split(".")[0] not in names:
            what = f"{field} is named by the properties and is no column of the table"
            yield error(_RULE, PROPERTIES_PATH, what, "restore the file from its backup")


def metadata_table_fits(facts: Facts) -> Iterator[Finding]:
    """The metadata table has the table's version."""
    if not facts.table.properties.has_metadata_table:
        return
    where = joined(METADATA_FOLDER, PROPERTIES_PATH)
    inner, outer = parse_properties(facts.storage.read(where), where), facts.table.properties.raw
    if inner.get(VERSION) != outer[VERSION]:
        what = f"version {inner.get(VERSION)}, where the table has {outer[VERSION]}"
        yield error(_RULE, where, what, "drop the metadata table and build it anew")
