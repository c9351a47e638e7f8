"""What can go wrong, sorted by what the caller does next.

    HudiError
    ├── InvalidRequest          mend the call: the arguments or the data do not fit the table
    │   ├── TableNotFound       there is no table at that path
    │   ├── TableExists         there is one already
    │   ├── SchemaMismatch      the rows' columns are not the table's columns
    │   └── InstantNotFound     no such moment on the timeline
    ├── Unsupported             choose another way: the table or the call needs a feature that pyhudi refuses by name
    ├── Conflict                plan again and retry: somebody else changed what this rested on
    │   └── PlanOutdated        the plan that was to be applied no longer fits the table
    ├── LockTimeout             wait, then retry: another owner holds the table's lock
    ├── LeaseLost               start the operation again: this writer was taken for dead
    ├── UnknownOutcome          look at the timeline first: a commit may or may not have happened
    ├── CorruptTable            stop and repair: bytes of the table are not what they must be
    ├── StorageError            the storage failed; retry once it is well again
    │   ├── FileMissing         no file of that name
    │   └── FileExists          create-if-absent found one
    └── InternalError           our bug: please report it

Every message says what, where (instant, file), and what to do now.
"""

from __future__ import annotations


class HudiError(Exception):
    """The one root: catch it to catch everything that pyhudi raises on purpose."""


class InvalidRequest(HudiError, ValueError):
    """The call itself must change."""


class TableNotFound(InvalidRequest):
    """No Hudi table at the path."""


class TableExists(InvalidRequest):
    """A Hudi table is at the path already."""


class SchemaMismatch(InvalidRequest):
    """The columns of the rows differ from the columns of the table."""


class InstantNotFound(InvalidRequest):
    """The timeline holds no such instant."""


class Unsupported(HudiError):
    """A feature of the table or of the call that pyhudi does not carry out; named, never guessed."""


class Conflict(HudiError):
    """Another writer changed what this operation rested on; plan again and retry."""


class PlanOutdated(Conflict):
    """The table has moved on since the plan was made."""


class LockTimeout(HudiError):
    """The table's lock was not to be had in time; the message names its owner and age."""


class LeaseLost(HudiError):
    """The lock or heartbeat of this writer was lost before its commit; nothing was committed."""


class UnknownOutcome(HudiError):
    """The completing write may or may not have been applied; the timeline decides."""


class CorruptTable(HudiError):
    """Bytes of the table are damaged or contradict each other; the message names the file."""


class StorageError(HudiError):
    """The storage refused or failed."""


class FileMissing(StorageError):
    """The file is not there."""


class FileExists(StorageError):
    """A file of that name is there already."""


class InternalError(HudiError):
    """An invariant of pyhudi itself is broken."""
