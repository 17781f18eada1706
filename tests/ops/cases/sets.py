"""Sets along the last dimension, and edit distances between sequences."""

from typing import Any

from tests.ops.case import Case, array, f32, i64, strings


def ix(*values: Any) -> Any:
    """Numbers of int64: indices, shapes."""
    return array(values[0] if len(values) == 1 else list(values), "int64")


LEFT = array([[[5, 1, 5], [9, 2, 3]], [[0, 0, 0], [7, 8, 9]]], "int64")
RIGHT = array([[[1, 5], [4, 4]], [[0, 1], [9, 7]]], "int64")
PLACES = ix([[0, 0, 0], [0, 0, 2], [0, 1, 0], [1, 1, 0], [1, 1, 1]])
SIZES = ix([2, 2, 3])
OTHER_PLACES = ix([[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]])
OTHER_SIZES = ix([2, 2, 4])
MIXED = ix([[1, 1, 0], [0, 0, 0], [0, 0, 2], [0, 1, 0], [1, 1, 1]])

_ALL = ("a-b", "b-a", "intersection", "union")

HYPOTHESIS = ix([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]])
TRUTH = ix([[0, 0], [0, 1], [0, 2], [1, 0], [3, 0], [3, 1]])
H_SIZES, T_SIZES = ix([4, 3]), ix([4, 3])
H_VALUES = array([1, 2, 3, 4, 5, 6], "int64")
T_VALUES = array([1, 3, 2, 3, 8, 9], "int64")

CASES = [
    *[
        Case("DenseToDenseSetOperation", (LEFT, RIGHT), {"set_operation": name}, label=name)
        for name in _ALL
    ],
    *[
        Case(
            "DenseToSparseSetOperation",
            (LEFT, PLACES, array([1, 5, 3, 9, 9], "int64"), SIZES),
            {"set_operation": name},
            label=name,
        )
        for name in _ALL
    ],
    *[
        Case(
            "SparseToSparseSetOperation",
            (
                PLACES,
                strings("b", "a", "x", "b", "b"),
                SIZES,
                OTHER_PLACES,
                strings("b", "x", "y", "c"),
                OTHER_SIZES,
            ),
            {"set_operation": name},
            label=f"{name} of strings",
        )
        for name in _ALL
    ],
    Case(
        "DenseToDenseSetOperation",
        (array([[1, 2], [3, 4]], "uint8"), array([[1], [1]], "uint8")),
        {"set_operation": "Intersection"},
        label="bytes",
    ),
    Case(
        "DenseToDenseSetOperation",
        (array([[1, 2]], "int32"), i64(0, 1, 1, 0).astype("int32")),
        {"set_operation": "union"},
        label="an empty set",
    ),
    Case(
        "DenseToDenseSetOperation",
        (i64(0, 1, 2, 0), i64(0, 1, 2, 0)),
        {"set_operation": "union"},
        label="empty sets",
    ),
    Case(
        "DenseToDenseSetOperation",
        (LEFT, RIGHT[:1]),
        {"set_operation": "union"},
        label="groups differ",
        fails=True,
    ),
    Case(
        "DenseToDenseSetOperation",
        (LEFT, RIGHT),
        {"set_operation": "sum"},
        label="unknown operation",
        fails=True,
    ),
    Case(
        "DenseToDenseSetOperation",
        (array([1, 2], "int64"), array([1, 2], "int64")),
        {"set_operation": "union"},
        label="vectors",
        fails=True,
    ),
    Case(
        "DenseToSparseSetOperation",
        (LEFT, MIXED, array([1, 5, 3, 9, 9], "int64"), SIZES),
        {"set_operation": "union"},
        label="out of order",
        fails=True,
    ),
    Case(
        "SparseToSparseSetOperation",
        (PLACES, i64(0, 9, 5), SIZES, OTHER_PLACES, i64(0, 9, 4), ix([3, 2, 4])),
        {"set_operation": "union"},
        label="groups differ",
        fails=True,
    ),
    Case("SetSize", (PLACES, array([1, 1, 3, 9, 8], "int32"), SIZES)),
    Case("SetSize", (PLACES, strings("a", "a", "b", "c", "d"), SIZES), label="strings"),
    Case("SetSize", (i64(0, 1, 0, 2), array([], "int16"), ix([3, 2])), label="empty"),
    Case("SetSize", (MIXED, i64(0, 9, 5), SIZES), label="out of order", fails=True),
    Case("EditDistance", (HYPOTHESIS, H_VALUES, H_SIZES, TRUTH, T_VALUES, T_SIZES)),
    Case(
        "EditDistance",
        (HYPOTHESIS, H_VALUES, H_SIZES, TRUTH, T_VALUES, T_SIZES),
        {"normalize": False},
        label="not normalized",
    ),
    Case(
        "EditDistance",
        (
            ix([[0, 0, 0], [0, 0, 1], [0, 1, 0]]),
            strings("a", "b", "c"),
            ix([1, 2, 2]),
            ix([[0, 0, 0], [1, 1, 0]]),
            strings("b", "z"),
            ix([2, 2, 1]),
        ),
        label="strings",
    ),
    Case(
        "EditDistance",
        (HYPOTHESIS, f32(6), H_SIZES, TRUTH, f32(6), ix([5, 3])),
        label="shapes differ",
    ),
    Case(
        "EditDistance",
        (i64(0, 1, 0, 2), H_VALUES[:0], H_SIZES, i64(0, 1, 0, 2), T_VALUES[:0], T_SIZES),
        label="empty",
    ),
    Case(
        "EditDistance",
        (HYPOTHESIS, H_VALUES, H_SIZES, ix([[0, 0, 0]]), T_VALUES[:1], ix([4, 3, 1])),
        label="ranks differ",
        fails=True,
    ),
    Case(
        "EditDistance",
        (HYPOTHESIS, H_VALUES, H_SIZES, TRUTH, T_VALUES[:3], T_SIZES),
        label="too few values",
        fails=True,
    ),
]
