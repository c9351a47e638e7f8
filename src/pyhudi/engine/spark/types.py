"""Schemas between Arrow and Spark."""

from __future__ import annotations

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyhudi.errors import InvalidRequest, Unsupported


def spark_schema(schema: pa.Schema) -> StructType:
    """The Spark columns of Arrow columns; times of any unit become Spark's micros."""
    return StructType([StructField(field.name, _spark_type(field), field.nullable) for field in schema])


def arrow_schema(schema: StructType) -> pa.Schema:
    """The Arrow columns of Spark columns; instants are micros in UTC."""
    return pa.schema([pa.field(field.name, _arrow_type(field), field.nullable) for field in schema.fields])


def parsed_ddl(text: str) -> StructType:
    """The Spark columns of a DDL string, which the parser of the active session reads."""
    session = SparkSession.getActiveSession()
    if session is None:
        raise InvalidRequest("a schema given as text is read by Spark: start a session first, or pass a pyarrow.Schema")
    try:
        return session.createDataFrame([], text).schema
    except PySparkException as problem:
        raise InvalidRequest(f"{text!r} is no list of columns that Spark can read: {problem}") from problem


_PAIRS: tuple[tuple[pa.DataType, type[DataType]], ...] = (
    (pa.bool_(), BooleanType),
    (pa.int8(), ByteType),
    (pa.int16(), ShortType),
    (pa.int32(), IntegerType),
    (pa.int64(), LongType),
    (pa.float32(), FloatType),
    (pa.float64(), DoubleType),
    (pa.string(), StringType),
    (pa.binary(), BinaryType),
    (pa.date32(), DateType),
    (pa.timestamp("us", "UTC"), TimestampType),
    (pa.timestamp("us"), TimestampNTZType),
)
_TO_SPARK: dict[pa.DataType, type[DataType]] = {
    **dict(_PAIRS),
    pa.large_string(): StringType,
    pa.large_binary(): BinaryType,
}
_TO_ARROW = {spark: arrow for arrow, spark in _PAIRS}


def _spark_type(field: pa.Field) -> DataType:
    kind = field.type
    if pa.types.is_decimal128(kind):
        return DecimalType(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return TimestampType() if kind.tz else TimestampNTZType()
    spark = _TO_SPARK.get(kind)
    if spark is None:
        raise Unsupported(f"column {field.name!r} has the type {kind}, for which Spark has none; leave the column out")
    made: DataType = spark()
    return made


def _arrow_type(field: StructField) -> pa.DataType:
    kind = field.dataType
    if isinstance(kind, DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    arrow = _TO_ARROW.get(type(kind))
    if arrow is None:
        raise Unsupported(f"column {field.name!r} has the type {kind.simpleString()}, which pyhudi does not store yet")
    return arrow
