"""The table schema as Hudi stores it (Avro JSON) and the meta columns that lead every row."""

from __future__ import annotations

COMMIT_TIME = "_hoodie_commit_time"
COMMIT_SEQNO = "_hoodie_commit_seqno"
RECORD_KEY = "_hoodie_record_key"
PARTITION_PATH = "_hoodie_partition_path"
FILE_NAME = "_hoodie_file_name"

META_COLUMNS: tuple[str, ...] = (COMMIT_TIME, COMMIT_SEQNO, RECORD_KEY, PARTITION_PATH, FILE_NAME)
"""The five columns before the user's own, all nullable strings."""

OPERATION = "_hoodie_operation"
IS_DELETED = "_hoodie_is_deleted"
