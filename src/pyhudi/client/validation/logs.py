"""R12: the blocks of every log file close, and belong to the instant that names the file."""

from __future__ import annotations

from collections.abc import Iterator

from pyhudi.client.validation.facts import Facts
from pyhudi.client.validation.finding import FROM_A_COPY, Finding, error, guarded
from pyhudi.format.log_file import BlockKind, Header, LogBlock, read_blocks
from pyhudi.table.slices import LogFile

_RULE = "R12"


def log_files_are_sound(facts: Facts) -> Iterator[Finding]:
    """Log files of the latest slices, and when validation goes deep of all that are committed."""
    paths = {log.path for part in facts.latest for log in part.logs}
    if facts.deep:
        paths.update(path for path, file in facts.files.items() if facts.is_known(file.name.instant))
    for path in sorted(paths):
        log = facts.log_file(path)
        if log is not None:
            yield from guarded(_RULE, facts.at(path), _blocks_are_sound(facts, log))


def _blocks_are_sound(facts: Facts, log: LogFile) -> Iterator[Finding]:
    where = facts.at(log.path)
    for block in read_blocks(facts.storage.read(log.path), where):
        if block.kind is BlockKind.CORRUPT:
            yield error(_RULE, where, f"damaged block of {block.length} bytes at byte {block.offset}", FROM_A_COPY)
        else:
            yield from _block_fits(where, log, block)


def _block_fits(where: str, log: LogFile, block: LogBlock) -> Iterator[Finding]:
    time = block.headers.get(Header.INSTANT_TIME)
    if time != log.name.instant:
        what = f"the block at byte {block.offset} is of instant {time}, the file of {log.name.instant}"
        yield error(_RULE, where, what, FROM_A_COPY)
    if block.kind is BlockKind.COMMAND:
        what = f"a rollback block at byte {block.offset}, which tables of this version do not have"
        yield error(_RULE, where, what, "roll back with the release that wrote the table, then upgrade again")
