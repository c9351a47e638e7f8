import pyarrow as pa
import pytest

from pyhudi.errors import InvalidRequest, Unsupported
from pyhudi.format.merge_properties import MergeMode
from pyhudi.merge.modes import MergeRule, soft_deletes

COMMIT = MergeRule(mode=MergeMode.COMMIT_TIME_ORDERING)


def test_rows_say_delete_by_flag_by_operation_and_by_the_tables_marker() -> None:
    rows = pa.table(
        {
            "_hoodie_is_deleted": [True, False, None, None, None, None],
            "_hoodie_operation": [None, "D", "-U", "U", "I", None],
            "Op": ["I", None, "U", "D", "d", None],
        }
    )
    rule = MergeRule(mode=MergeMode.COMMIT_TIME_ORDERING, delete_field="Op", delete_marker="D")
    assert soft_deletes(rows, rule).tolist() == [True, True, True, True, False, False]
    assert soft_deletes(rows, COMMIT).tolist() == [True, True, True, False, False, False]
    assert soft_deletes(rows.select(["Op"]).to_batches()[0], rule).tolist() == [False, False, False, True, False, False]


@pytest.mark.parametrize(("values", "marker"), [([1, 2, None], "2"), ([False, True, None], "true")])
def test_a_marker_is_compared_as_text(values: list[object], marker: str) -> None:
    rule = MergeRule(mode=MergeMode.COMMIT_TIME_ORDERING, delete_field="x", delete_marker=marker)
    assert soft_deletes(pa.table({"x": values}), rule).tolist() == [False, True, False]


def test_rows_without_such_columns_are_no_deletes() -> None:
    rule = MergeRule(mode=MergeMode.COMMIT_TIME_ORDERING, delete_field="x", delete_marker="D")
    assert soft_deletes(pa.table({"y": [1, 2]}), rule).tolist() == [False, False]


def test_what_java_would_print_differently_is_refused() -> None:
    rule = MergeRule(mode=MergeMode.COMMIT_TIME_ORDERING, delete_field="x", delete_marker="1.0")
    with pytest.raises(Unsupported, match="'x'"):
        soft_deletes(pa.table({"x": [1.0]}), rule)
    with pytest.raises(Unsupported, match="_hoodie_is_deleted"):
        soft_deletes(pa.table({"_hoodie_is_deleted": ["true"]}), COMMIT)


def test_rules_that_are_not_carried_out_are_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="CUSTOM"):
        MergeRule(mode=MergeMode.CUSTOM)
    with pytest.raises(Unsupported, match="a, b"):
        MergeRule(mode=MergeMode.EVENT_TIME_ORDERING, ordering_fields=("a", "b"))
    with pytest.raises(InvalidRequest, match="go together"):
        MergeRule(mode=MergeMode.COMMIT_TIME_ORDERING, delete_field="Op")


def test_commit_time_ordering_has_no_deciding_column() -> None:
    schema = pa.schema([("ts", pa.int64())])
    assert MergeRule(mode=MergeMode.COMMIT_TIME_ORDERING, ordering_fields=("ts",)).ordering_field(schema) is None
    event = MergeRule(mode=MergeMode.EVENT_TIME_ORDERING, ordering_fields=("ts",))
    assert event.ordering_field(schema) == schema.field("ts")
    assert event.ordering_field(pa.schema([("x", pa.int64())])) is None
