"""The one place that chooses an engine. Spark is an extra: it is imported only when somebody hands over a session."""

from __future__ import annotations

import importlib
from typing import Any

import pyarrow as pa

from pyhudi.engine.base import Engine
from pyhudi.engine.local import LocalEngine
from pyhudi.errors import InvalidRequest


def engine_of(choice: Any) -> Engine:
    """`"local"` or a SparkSession as an engine."""
    if choice == "local":
        return LocalEngine()
    if _is_spark(choice, "SparkSession"):
        module = importlib.import_module("pyhudi.engine.spark.engine")
        engine: Engine = module.SparkEngine(choice)
        return engine
    raise InvalidRequest(f'engine is a {type(choice).__name__}; pass "local" or a SparkSession')


def enable(spark: Any) -> None:
    """Let `format("hudi")` of this classic Spark session be pyhudi's, for reading and writing."""
    if not _is_spark(spark, "SparkSession"):
        raise InvalidRequest(f"enable takes a SparkSession, not a {type(spark).__name__}")
    importlib.import_module("pyhudi.interfaces.format_hudi").enable(spark)


def disable(spark: Any) -> None:
    """Undo `enable` for this session."""
    if not _is_spark(spark, "SparkSession"):
        raise InvalidRequest(f"disable takes a SparkSession, not a {type(spark).__name__}")
    importlib.import_module("pyhudi.interfaces.format_hudi").disable(spark)


def is_spark_frame(rows: Any) -> bool:
    """True for a Spark DataFrame, classic or Connect, without importing Spark."""
    return _is_spark(rows, "DataFrame")


def arrow_schema_of(schema: Any) -> pa.Schema:
    """An Arrow schema from one, from a Spark StructType, or from a DDL string."""
    if isinstance(schema, pa.Schema):
        return schema
    if isinstance(schema, str) or _is_spark(schema, "StructType"):
        module = importlib.import_module("pyhudi.engine.spark.types")
        converted: pa.Schema = module.arrow_schema(module.parsed_ddl(schema) if isinstance(schema, str) else schema)
        return converted
    raise InvalidRequest(f"schema is a {type(schema).__name__}; pass a pyarrow.Schema, a StructType or a DDL string")


def _is_spark(value: Any, name: str) -> bool:
    return any(kind.__name__ == name and kind.__module__.startswith("pyspark.") for kind in type(value).__mro__)
