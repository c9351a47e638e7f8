"""What the files of the timeline contain, action by action, as records."""

from pyhudi.format.metadata.codecs import read_container, schema_of, write_container
from pyhudi.format.metadata.commit import CommitMetadata, WriteStat
from pyhudi.format.metadata.compaction import CompactionOperation, CompactionPlan
from pyhudi.format.metadata.rollback import RollbackMetadata, RollbackPlan, RollbackRequest

__all__ = [
    "CommitMetadata",
    "CompactionOperation",
    "CompactionPlan",
    "RollbackMetadata",
    "RollbackPlan",
    "RollbackRequest",
    "WriteStat",
    "read_container",
    "schema_of",
    "write_container",
]
