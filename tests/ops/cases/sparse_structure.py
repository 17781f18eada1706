"""Sparse tensors rearranged: ordered, joined, split, reshaped, sliced, filled."""

from typing import Any

from tests.ops.case import Case, array, bools, f32, f64, i64, string, strings


def ix(*values: Any) -> Any:
    """Numbers of int64: indices, shapes."""
    return array(values[0] if len(values) == 1 else list(values), "int64")


ROWS = ix([[0, 1], [1, 0], [1, 2], [3, 1]])
SIZES = ix([4, 3])
MIXED = ix([[3, 1], [0, 1], [1, 2], [1, 0]])
CUBE = ix([[0, 0, 1], [0, 2, 0], [1, 0, 0], [1, 2, 3]])
CUBE_SIZES = ix([2, 3, 4])
NONE = i64(0, 1, 0, 2)
HUGE = ix([[5, 2**40, 7], [5, 3, 2**41], [1, 1, 1]])
HUGE_SIZES = ix([2**42, 2**42, 2**42])

CASES = [
    Case("SparseReorder", (MIXED, f64(4), SIZES), label="out of order"),
    Case("SparseReorder", (ROWS, f32(4), SIZES), label="in order"),
    Case("SparseReorder", (MIXED, strings("a", "b", "c", "d"), SIZES), label="strings"),
    Case("SparseReorder", (NONE, f32(0), SIZES), label="empty"),
    Case("SparseReorder", (HUGE, f32(3), HUGE_SIZES), label="huge shape", grad=False),
    Case("SparseReorder", (ROWS, f32(3), SIZES), label="too few values", fails=True),
    Case("SparseReorder", (ROWS, f32(4), ix([4])), label="shape too short", fails=True),
    Case(
        "SparseConcat",
        ([ROWS, ix([[0, 0], [3, 1]])], [f32(4), f32(2)], [SIZES, ix([4, 2])]),
        {"concat_dim": 1},
        label="columns",
    ),
    Case(
        "SparseConcat",
        ([ROWS, ROWS, NONE], [f32(4), f32(4), f32(0)], [SIZES, SIZES, ix([7, 3])]),
        {"concat_dim": -2},
        label="rows",
    ),
    Case(
        "SparseConcat",
        ([MIXED, ROWS], [strings("a", "b", "c", "d"), strings("e", "f", "g", "h")], [SIZES, SIZES]),
        {"concat_dim": 1},
        label="strings",
    ),
    Case(
        "SparseConcat",
        ([ROWS, ROWS], [f32(4), f32(4)], [SIZES, ix([5, 3])]),
        {"concat_dim": 1},
        label="sizes differ",
        fails=True,
    ),
    Case(
        "SparseConcat",
        ([ROWS, CUBE], [f32(4), f32(4)], [SIZES, CUBE_SIZES]),
        {"concat_dim": 0},
        label="ranks differ",
        fails=True,
    ),
    Case(
        "SparseConcat",
        ([ROWS, ROWS], [f32(4), f32(4)], [SIZES, SIZES]),
        {"concat_dim": 2},
        label="axis beyond rank",
        fails=True,
    ),
    Case("SparseSplit", (array(0, "int64"), ROWS, f32(4), SIZES), {"num_split": 2}, label="rows"),
    Case("SparseSplit", (array(1, "int64"), ROWS, f32(4), SIZES), {"num_split": 2}, label="uneven"),
    Case("SparseSplit", (array(0, "int64"), ROWS, f32(4), SIZES), {"num_split": 3}, label="three"),
    Case(
        "SparseSplit",
        (array(2, "int64"), CUBE, strings("a", "b", "c", "d"), CUBE_SIZES),
        {"num_split": 4},
        label="strings",
    ),
    Case("SparseSplit", (array(0, "int64"), NONE, f32(0), SIZES), {"num_split": 1}, label="empty"),
    Case("SparseSplit", (array(-1, "int64"), ROWS, f32(4), SIZES), {"num_split": 3}, label="last"),
    Case(
        "SparseSplit",
        (array(2, "int64"), ROWS, f32(4), SIZES),
        {"num_split": 2},
        label="axis beyond rank",
        fails=True,
    ),
    Case(
        "SparseSplit",
        (array(1, "int64"), ROWS, f32(4), SIZES),
        {"num_split": 4},
        label="too many parts",
        fails=True,
    ),
    Case("SparseReshape", (ROWS, SIZES, ix([2, 6])), label="same rank"),
    Case("SparseReshape", (ROWS, SIZES, ix([2, -1, 3])), label="inferred"),
    Case("SparseReshape", (ROWS, SIZES, ix([12])), label="vector"),
    Case("SparseReshape", (ROWS, SIZES, SIZES), label="as it is"),
    Case("SparseReshape", (NONE, ix([0, 3]), ix([3, 0])), label="empty"),
    Case("SparseReshape", (NONE, SIZES, ix([6, 2])), label="no entries"),
    Case("SparseReshape", (ROWS, SIZES, ix([5, 3])), label="another size", fails=True),
    Case("SparseReshape", (ROWS, SIZES, ix([-1, -1])), label="two unknown", fails=True),
    Case("SparseReshape", (ROWS, SIZES, ix([5, -1])), label="no multiple", fails=True),
    Case("SparseReshape", (ROWS, SIZES, ix([-2, 6])), label="negative", fails=True),
    Case("SparseReshape", (NONE, ix([0, 3]), ix([0, -1])), label="nothing to infer", fails=True),
    Case("SparseSlice", (ROWS, f64(4), SIZES, ix([1, 0]), ix([2, 3]))),
    Case("SparseSlice", (ROWS, f32(4), SIZES, ix([1, 1]), ix([10, 10])), label="beyond the end"),
    Case("SparseSlice", (ROWS, f32(4), SIZES, ix([2, 0]), ix([1, 3])), label="nothing inside"),
    Case("SparseSlice", (CUBE, bools(4), CUBE_SIZES, ix([0, 1, 0]), ix([2, 2, 2])), label="bools"),
    Case(
        "SparseSlice",
        (ROWS, strings("a", "b", "c", "d"), SIZES, ix([0, 0]), ix([2, 2])),
        label="strings",
    ),
    Case(
        "SparseSlice", (ROWS, f32(4), SIZES, ix([0]), ix([2, 2])), label="short start", fails=True
    ),
    Case("SparseSliceGrad", (f32(2), ROWS, ix([1, 0]), ix([[0, 0], [0, 2]])), grad=False),
    Case("SparseSliceGrad", (f32(0), ROWS, ix([1, 0]), NONE), label="empty", grad=False),
    Case(
        "SparseSliceGrad",
        (f32(1), ROWS, ix([0, 0]), ix([[2, 2]])),
        label="not among the rows",
        fails=True,
    ),
    Case("SparseFillEmptyRows", (ROWS, f64(4), SIZES, f64())),
    Case("SparseFillEmptyRows", (MIXED, f64(4), ix([6, 3]), f64()), label="out of order"),
    Case("SparseFillEmptyRows", (CUBE, f32(4), CUBE_SIZES, f32()), label="no empty row"),
    Case("SparseFillEmptyRows", (NONE, f32(0), SIZES, f32()), label="all empty"),
    Case("SparseFillEmptyRows", (NONE, f32(0), ix([0, 3]), f32()), label="no rows", grad=False),
    Case(
        "SparseFillEmptyRows",
        (ROWS, strings("a", "b", "c", "d"), SIZES, string("z")),
        label="strings",
    ),
    Case("SparseFillEmptyRows", (ROWS, f32(4), ix([3, 3]), f32()), label="row outside", fails=True),
    Case(
        "SparseFillEmptyRows", (ROWS, f32(4), ix([0, 3]), f32()), label="none allowed", fails=True
    ),
    Case("SparseFillEmptyRows", (ROWS, f32(3), SIZES, f32()), label="few values", fails=True),
    Case("SparseFillEmptyRows", (ROWS, f32(4), SIZES, f32(1)), label="default vector", fails=True),
    Case("SparseFillEmptyRowsGrad", (ix([2, 1, 0, 3]), f32(6)), grad=False),
    Case("SparseFillEmptyRowsGrad", (ix([0, 1]), f64(2)), label="nothing filled", grad=False),
    Case("SparseFillEmptyRowsGrad", (ix([0, 7]), f32(2)), label="outside", fails=True),
]
