"""One row per key in Spark: the winners that `merge.kernel.latest_per_key` would choose.

The higher ordering value wins. Among equals, and where there is no ordering column, the row that stands later in the
DataFrame wins (partition by partition, row by row); where a shuffle made that order, Spark does not repeat it.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody gives it

from pyhudi.format.schema import IS_DELETED, OPERATION, PARTITION_PATH, RECORD_KEY
from pyhudi.merge.modes import MergeRule, soft_deletes

_ARRIVAL = "_pyhudi_arrival"
_FINAL = "_pyhudi_final"
_RANK = "_pyhudi_rank"


def latest_per_key(frame: DataFrame, schema: pa.Schema, rule: MergeRule) -> DataFrame:
    """Of the rows with one key and partition path the one that wins. `schema`: of the user's columns among them."""
    ordering = rule.ordering_field(schema)
    deleted = _says_delete(schema, rule)
    same_key = Window.partitionBy(PARTITION_PATH, RECORD_KEY)
    arrived = frame.withColumn(_ARRIVAL, F.monotonically_increasing_id())
    arrival = F.col(_ARRIVAL)
    order = [*([] if ordering is None else _ranks(ordering)), arrival.desc()]
    if ordering is not None and deleted is not None:
        final = F.when(deleted & _is_default(ordering), arrival)
        arrived = arrived.withColumn(_FINAL, F.max(final).over(same_key))
        after = F.when(F.coalesce(arrival > F.col(_FINAL), F.lit(True)), 2)
        order.insert(0, after.when(arrival == F.col(_FINAL), 1).otherwise(0).desc())
    ranked = arrived.withColumn(_RANK, F.row_number().over(same_key.orderBy(*order)))
    return ranked.where(F.col(_RANK) == 1).drop(_ARRIVAL, _FINAL, _RANK)


def _says_delete(schema: pa.Schema, rule: MergeRule) -> Column | None:
    """What `merge.modes.soft_deletes` computes; None where no column can say so."""
    soft_deletes(schema.empty_table(), rule)
    signs = []
    if IS_DELETED in schema.names:
        signs.append(F.col(IS_DELETED))
    if OPERATION in schema.names:
        signs.append(F.col(OPERATION).isin("D", "-U"))
    if rule.delete_field in schema.names:
        signs.append(F.col(f"`{rule.delete_field}`").cast("string") == F.lit(rule.delete_marker))
    found = None
    for sign in signs:
        certain = F.coalesce(sign, F.lit(False))
        found = certain if found is None else found | certain
    return found


def _is_default(ordering: pa.Field) -> Column:
    """What `merge.ordering.is_default` computes."""
    column = F.col(f"`{ordering.name}`")
    if pa.types.is_int32(ordering.type):
        return F.coalesce(column == 0, F.lit(True))
    if pa.types.is_date32(ordering.type):
        return F.coalesce(F.unix_date(column) == 0, F.lit(True))
    return column.isNull()


def _ranks(ordering: pa.Field) -> list[Column]:
    """Sort expressions that stand to each other as the comparables of `merge.ordering` do."""
    column, kind = F.col(f"`{ordering.name}`"), ordering.type
    value = F.coalesce(column, _zero(kind))
    if not pa.types.is_floating(kind):
        return [value.desc()]
    negative_zero = (value == 0) & (value.cast("string") == "-0.0")
    return [value.desc(), F.when(negative_zero, 0).otherwise(1).desc()]


def _zero(kind: pa.DataType) -> Column:
    if pa.types.is_string(kind):
        return F.lit("")
    if pa.types.is_binary(kind):
        return F.lit(bytearray())
    if pa.types.is_boolean(kind):
        return F.lit(False)
    if pa.types.is_date(kind):
        return F.expr("date'1970-01-01'")
    if pa.types.is_timestamp(kind):
        return F.expr("timestamp'1970-01-01 00:00:00Z'" if kind.tz else "timestamp_ntz'1970-01-01 00:00:00'")
    return F.lit(0)
