"""Rows of unequal length: ranges, gathered rows, and their sparse and dense forms."""

from tests.ops.case import Case, array, f32, f64, i64, strings

_I32, _I64 = "int32", "int64"
_SPLITS = array([0, 2, 2, 5], _I64)
_OUTER = array([0, 1, 3], _I64)
_ROWIDS = array([0, 0, 2, 2, 2], _I64)


def _dense(shape, values, default, partitions, *kinds, label="", fails=False):
    attrs = {"row_partition_types": list(kinds)}
    inputs = (array(shape, _I64), values, default, partitions)
    return Case("RaggedTensorToTensor", inputs, attrs, label=label, fails=fails)


def _gather(splits, values, indices, rank, label="", fails=False):
    attrs = {"OUTPUT_RAGGED_RANK": rank}
    return Case("RaggedGather", (splits, values, indices), attrs, label=label, fails=fails)


CASES = [
    Case("RaggedRange", (array([0, 5, 8], _I32), array([3, 3, 12], _I32), array(1, _I32))),
    Case("RaggedRange", (array([5, 0], _I64), array([0, 5], _I64), array([-2, 2], _I64))),
    Case(
        "RaggedRange",
        (array([0.0, 1.0], "float32"), array(1.5, "float32"), array(0.25, "float32")),
        {"Tsplits": _I32},
        "numbers",
    ),
    Case("RaggedRange", (array(0, _I32), array(3, _I32), array(1, _I32)), label="one row"),
    Case("RaggedRange", (array([], _I32), array([], _I32), array(1, _I32)), label="no rows"),
    Case(
        "RaggedRange",
        (array([0], _I32), array([3], _I32), array([0], _I32)),
        label="no step",
        fails=True,
    ),
    Case(
        "RaggedRange",
        (array([0, 1], _I32), array([3, 4, 5], _I32), array(1, _I32)),
        label="rows differ",
        fails=True,
    ),
    _gather([_SPLITS], f64(5), array([2, 0, 2], _I32), 1),
    _gather([_SPLITS], f32(5, 2), array([[2, 0], [1, 1]], _I64), 2, "matrix"),
    _gather([_OUTER, _SPLITS], f64(5), array([1, 0], _I32), 2, "nested"),
    _gather([_SPLITS], f32(5), array(2, _I32), 0, "one row"),
    _gather([_SPLITS], strings("a", "b", "c", "d", "e"), array([2, 1], _I32), 1, "strings"),
    _gather([_SPLITS], f32(5), array([], _I32), 1, "no rows"),
    _gather([_SPLITS], f32(5), array([3], _I32), 1, "outside", fails=True),
    _gather([_SPLITS], f32(4), array([0], _I32), 1, "past values", fails=True),
    Case("RaggedTensorToSparse", ([_SPLITS], f64(5))),
    Case("RaggedTensorToSparse", ([_SPLITS], f32(5, 2)), label="inner dimension"),
    Case("RaggedTensorToSparse", ([_OUTER, _SPLITS], i64(0, 9, 5)), label="nested"),
    Case("RaggedTensorToSparse", ([array([0, 1, 2], _I32)], strings("a", "b")), label="strings"),
    Case("RaggedTensorToSparse", ([array([0], _I64)], f32(0)), label="no rows"),
    Case("RaggedTensorToSparse", ([_SPLITS], f32(4)), label="past values", fails=True),
    Case("RaggedTensorToSparse", ([array([1, 5], _I64)], f32(5)), label="no start", fails=True),
    _dense(-1, i64(0, 9, 5), array(0, _I64), [_SPLITS], "ROW_SPLITS"),
    _dense([2, 2], i64(0, 9, 5), array(7, _I64), [_SPLITS], "ROW_SPLITS", label="cut"),
    _dense([4, -1], i64(0, 9, 5), array(7, _I64), [_SPLITS], "ROW_SPLITS", label="filled up"),
    _dense(
        [-1, -1, 2],
        i64(0, 9, 5, 2),
        array([7, 8], _I64),
        [_SPLITS],
        "ROW_SPLITS",
        label="default row",
    ),
    _dense(
        [-1, -1, -1],
        i64(0, 9, 5),
        array(7, _I64),
        [_OUTER, _SPLITS],
        "ROW_SPLITS",
        "ROW_SPLITS",
        label="nested",
    ),
    _dense(
        -1,
        i64(0, 9, 5),
        array(7, _I64),
        [array(4, _I64), _ROWIDS],
        "FIRST_DIM_SIZE",
        "VALUE_ROWIDS",
        label="row numbers",
    ),
    _dense(
        -1,
        strings("a", "b", "c", "d", "e"),
        strings("x").reshape(()),
        [_SPLITS],
        "ROW_SPLITS",
        label="strings",
    ),
]
