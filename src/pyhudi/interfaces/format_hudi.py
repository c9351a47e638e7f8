"""`format("hudi")` without the jar: what `pyhudi.enable(spark)` puts behind a session's readers and writers.

The classes are patched once; each call looks whether its own session is enabled and whether its format is hudi, and
otherwise goes on to Spark untouched.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame, DataFrameReader, DataFrameWriter, SparkSession

from pyhudi.errors import InvalidRequest, TableExists, TableNotFound, Unsupported
from pyhudi.format.table_properties import HIVE_STYLE, URL_ENCODE, TableType
from pyhudi.format.table_properties import NAME as TABLE_NAME
from pyhudi.format.version import CURRENT
from pyhudi.interfaces.dataframe import HudiTable, create_table, table
from pyhudi.writes import WriteResult

ENABLED = "spark.pyhudi.enabled"
"""Set in the configuration of a session that is enabled."""

AS_OF = "as.of.instant"
QUERY_TYPE = "hoodie.datasource.query.type"
OPERATION = "hoodie.datasource.write.operation"
TABLE_TYPE = "hoodie.datasource.write.table.type"
RECORD_KEY = "hoodie.datasource.write.recordkey.field"
PARTITION_PATH = "hoodie.datasource.write.partitionpath.field"
ORDERING = (CURRENT.ordering_property, "hoodie.datasource.write.precombine.field")

_FORMATS = frozenset({"hudi", "org.apache.hudi", "hudi_v1"})
_TRACKED = "_pyhudi_tracked"
_PATCHES: dict[tuple[type[Any], str], Callable[..., Any]] = {}


def enable(spark: SparkSession) -> None:
    """From here on `format("hudi")` of this session is pyhudi's; calling it again changes nothing."""
    if not hasattr(spark, "_jsparkSession"):
        raise Unsupported("this session is a Spark Connect client; pyhudi.enable needs a classic session")
    _patch()
    spark.conf.set(ENABLED, "true")


def disable(spark: SparkSession) -> None:
    """Give `format("hudi")` of this session back to Spark."""
    spark.conf.unset(ENABLED)


def _patch() -> None:
    if _PATCHES:
        return
    for kind in (DataFrameReader, DataFrameWriter):
        for name in ("format", "option", "options"):
            _wrap(kind, name, _tracking(name))
    for name in ("mode", "partitionBy"):
        _wrap(DataFrameWriter, name, _tracking(name))
    _wrap(DataFrameReader, "load", _load)
    _wrap(DataFrameWriter, "save", _save)


def _wrap(kind: type[Any], name: str, around: Callable[..., Any]) -> None:
    original = getattr(kind, name)
    _PATCHES[(kind, name)] = original

    @functools.wraps(original)
    def patched(self: Any, *args: Any, **kwargs: Any) -> Any:
        return around(original, self, *args, **kwargs)

    setattr(kind, name, patched)


def _tracked(builder: Any) -> dict[str, Any]:
    """What was said to a reader or writer so far; Spark keeps it in the JVM only."""
    known: dict[str, Any] = builder.__dict__.setdefault(_TRACKED, {"options": {}})
    return known


def _tracking(name: str) -> Callable[..., Any]:
    def remember(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
        tracked = _tracked(self)
        if name == "options":
            tracked["options"].update(kwargs)
        elif name == "option":
            key, value = args if len(args) == 2 else (kwargs.get("key", *args[:1]), kwargs["value"])
            tracked["options"][key] = value
        elif name == "partitionBy":
            tracked[name] = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
        else:
            tracked[name] = args[0] if args else next(iter(kwargs.values()), None)
        return original(self, *args, **kwargs)

    return remember


def _ours(builder: Any, chosen: str | None) -> bool:
    """True when this call is for pyhudi: the format is hudi and the session is enabled."""
    name = chosen or _tracked(builder).get("format")
    session: SparkSession = builder._spark
    return isinstance(name, str) and name.lower() in _FORMATS and session.conf.get(ENABLED, "false") == "true"


def _load(
    original: Callable[..., Any],
    self: DataFrameReader,
    path: Any = None,
    format: str | None = None,
    schema: Any = None,
    **options: Any,
) -> DataFrame:
    if not _ours(self, format):
        result: DataFrame = original(self, path, format, schema, **options)
        return result
    if schema is not None:
        raise Unsupported("a schema given to a Hudi read is not supported: the table's own schema is read")
    session: SparkSession = self._spark
    return read_frame(session, _path_of(path, _settings(self, options)), _settings(self, options))


def read_frame(spark: SparkSession, path: str, options: Mapping[str, str]) -> DataFrame:
    """A Hudi table as a DataFrame, by the options that Hudi's own format takes."""
    query = options.get(QUERY_TYPE, "snapshot")
    if query == "incremental":
        raise Unsupported(f"{QUERY_TYPE}=incremental is not built yet; read a snapshot, or an earlier one by {AS_OF}")
    frame: DataFrame = table(path, options).read(spark, query=query, as_of=options.get(AS_OF))
    return frame


def _save(
    original: Callable[..., Any],
    self: DataFrameWriter,
    path: str | None = None,
    format: str | None = None,
    mode: str | None = None,
    partitionBy: Any = None,  # noqa: N803 - Spark's own name
    **options: Any,
) -> None:
    if not _ours(self, format):
        original(self, path, format, mode, partitionBy, **options)
        return
    tracked = _tracked(self)
    settings = _settings(self, options)
    columns = partitionBy if partitionBy is not None else tracked.get("partitionBy")
    if columns is not None and PARTITION_PATH not in settings:
        settings[PARTITION_PATH] = columns if isinstance(columns, str) else ",".join(columns)
    frame: DataFrame = self._df
    write_frame(frame, _path_of(path, settings), mode or tracked.get("mode") or "error", settings)


def write_frame(frame: DataFrame, path: str, mode: str, options: Mapping[str, str]) -> None:
    """Write a DataFrame to a Hudi table, by the options that Hudi's own format takes; creates the table if need be."""
    existing = _open(path, options)
    chosen = mode.lower().replace("_", "")
    if chosen not in ("append", "overwrite", "ignore", "error", "errorifexists"):
        raise InvalidRequest(f"save mode {mode!r}; choose append, overwrite, ignore or errorifexists")
    if existing is not None and chosen in ("error", "errorifexists"):
        raise TableExists(f'there is a Hudi table at {path} already; write with mode("append")')
    if existing is not None and chosen == "ignore":
        return
    if existing is not None and chosen == "overwrite":
        raise Unsupported(
            f'mode("overwrite") would replace the table at {path}, which is not built yet; write with mode("append"), '
            "or remove the table first"
        )
    target = existing if existing is not None else _create(frame, path, options)
    operation = options.get(OPERATION, "upsert")
    writes: dict[str, Callable[..., WriteResult]] = {
        "insert": target.insert,
        "upsert": target.upsert,
        "delete": target.delete,
    }
    if operation not in writes:
        raise Unsupported(f"{OPERATION}={operation} is not built yet; choose one of {', '.join(writes)}")
    writes[operation](frame, **options)


def _open(path: str, options: Mapping[str, str]) -> HudiTable | None:
    try:
        return table(path, options)
    except TableNotFound:
        return None


def _create(frame: DataFrame, path: str, options: Mapping[str, str]) -> HudiTable:
    for key in (TABLE_NAME, RECORD_KEY):
        if not options.get(key):
            raise InvalidRequest(f"there is no table at {path} yet, so {key} must be set to create it")
    ordering = next((options[key] for key in ORDERING if options.get(key)), "")
    return create_table(
        path,
        frame.schema,
        name=options[TABLE_NAME],
        table_type=options.get(TABLE_TYPE, str(TableType.COPY_ON_WRITE)),
        record_key=_list(options[RECORD_KEY]),
        partition_by=_list(options.get(PARTITION_PATH, "")),
        ordering=_list(ordering),
        options={key: value for key, value in options.items() if key in (HIVE_STYLE, URL_ENCODE)},
    )


def _settings(builder: Any, options: Mapping[str, Any]) -> dict[str, str]:
    merged = {**_tracked(builder)["options"], **options}
    return {key: _text(value) for key, value in merged.items() if value is not None}


def _path_of(path: Any, settings: Mapping[str, str]) -> str:
    if isinstance(path, list) and len(path) == 1:
        path = path[0]
    chosen = path or settings.get("path")
    if not isinstance(chosen, str):
        raise InvalidRequest("a Hudi table is read and written by one path: load(path) or save(path)")
    return chosen


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
