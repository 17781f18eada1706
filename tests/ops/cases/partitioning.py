"""Rows dealt out to several tensors, and put together again."""

from tests.ops.case import Case, array, bools, f16, f32, f64, i32, i64, strings

_I32 = "int32"
_PARTS = array([1, 0, 1, 2], _I32)

CASES = [
    Case("DynamicPartition", (f64(4, 2), _PARTS), {"num_partitions": 3}),
    Case("DynamicPartition", (f32(4), _PARTS), {"num_partitions": 4}, label="empty part"),
    Case("DynamicPartition", (i64(0, 9, 2, 2, 3), i32(0, 2, 2, 2)), {"num_partitions": 2}),
    Case("DynamicPartition", (f32(0, 3), array([], _I32)), {"num_partitions": 2}, label="empty"),
    Case("DynamicPartition", (f32(2), array(1, _I32)), {"num_partitions": 2}, label="scalar"),
    Case(
        "DynamicPartition", (strings("a", "b", "c", "d"), _PARTS), {"num_partitions": 3}, "strings"
    ),
    Case("DynamicPartition", (f32(4), _PARTS), {"num_partitions": 2}, "outside", fails=True),
    Case(
        "DynamicPartition",
        (f32(2), array([0, -1], _I32)),
        {"num_partitions": 2},
        "negative",
        fails=True,
    ),
    Case("DynamicPartition", (f32(3, 2), _PARTS), {"num_partitions": 3}, "too few", fails=True),
    Case("DynamicStitch", ([array([0, 2], _I32), array([1, 3], _I32)], [f64(2, 2), f64(2, 2)])),
    Case(
        "DynamicStitch",
        ([array(3, _I32), array([[0, 1], [3, 1]], _I32)], [f32(2), f32(2, 2, 2)]),
        label="later rows count",
    ),
    Case("DynamicStitch", ([array([3, 0], _I32)], [f16(2)]), label="gaps"),
    Case("DynamicStitch", ([array([], _I32)], [f32(0, 2)]), label="empty"),
    Case("DynamicStitch", ([array([1, 0], _I32)], [strings("a", "b")]), label="strings"),
    Case("DynamicStitch", ([array([0, -1], _I32)], [f32(2)]), label="negative", fails=True),
    Case("DynamicStitch", ([array([0, 1], _I32)], [f32(3)]), label="too many", fails=True),
    Case(
        "ParallelDynamicStitch",
        ([array([0, 2], _I32), array([1, 3], _I32)], [f64(2, 2), f64(2, 2)]),
    ),
    Case("ParallelDynamicStitch", ([array([1, 0], _I32)], [bools(2)])),
]
