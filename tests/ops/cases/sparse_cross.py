"""Crosses of features."""

from typing import Any

from tests.ops.case import Case, array, i64, string, strings


def ix(values: Any) -> Any:
    """Numbers of int64: indices, shapes."""
    return array(values, "int64")


FIRST = ix([[0, 0], [0, 1], [1, 0], [3, 0]])
SECOND = ix([[0, 0], [1, 0], [1, 1], [1, 2], [2, 0], [3, 0], [3, 1]])
SIZES = [ix([4, 2]), ix([4, 3])]
WORDS = strings("a", "b", "", "c" * 40)
OTHERS = strings("t", "u", "v", "w", "x", "y", "a longer feature of a row")
NUMBERS = array([0, -5, 2**62, 7, 1, 2, 3], "int64")
DENSE = strings(["k", "l"], ["m", "n"], ["o", "p"], ["q", "r"])
DENSE_NUMBERS = i64(0, 99, 4, 1)


def _hashed(buckets: int, internal: str) -> dict[str, Any]:
    return {
        "hashed_output": True,
        "num_buckets": buckets,
        "hash_key": 956888297470,
        "out_type": "int64",
        "internal_type": internal,
    }


JOINED = {"hashed_output": False, "num_buckets": 0, "hash_key": 1, "out_type": "string"}

CASES = [
    Case(
        "SparseCross",
        ([FIRST, SECOND], [WORDS, OTHERS], SIZES, []),
        {**JOINED, "internal_type": "string"},
        label="strings",
    ),
    Case(
        "SparseCross",
        ([FIRST, SECOND], [WORDS, NUMBERS], SIZES, [DENSE]),
        {**JOINED, "internal_type": "int64"},
        label="mixed",
    ),
    Case(
        "SparseCross",
        ([FIRST, SECOND], [WORDS, NUMBERS], SIZES, []),
        {**JOINED, "internal_type": "string"},
        label="numbers as strings",
        fails=True,
    ),
    Case("SparseCross", ([FIRST, SECOND], [WORDS, OTHERS], SIZES, []), _hashed(0, "string")),
    Case(
        "SparseCross",
        ([FIRST, SECOND], [WORDS, NUMBERS], SIZES, [DENSE, DENSE_NUMBERS]),
        _hashed(100, "int64"),
        label="buckets",
    ),
    Case("SparseCross", ([], [], [], [DENSE, DENSE]), _hashed(0, "string"), label="dense"),
    Case(
        "SparseCrossV2",
        ([FIRST, SECOND], [WORDS, NUMBERS], SIZES, [DENSE], string("-")),
    ),
    Case("SparseCrossV2", ([], [], [], [DENSE, DENSE_NUMBERS], string("_X_")), label="dense"),
    Case(
        "SparseCrossV2",
        ([i64(0, 1, 0, 2), SECOND], [WORDS[:0], OTHERS], SIZES, [], string("_X_")),
        label="empty",
    ),
    Case(
        "SparseCrossV2",
        ([FIRST, SECOND], [WORDS, OTHERS], [ix([4, 2]), ix([5, 3])], [], string("_X_")),
        label="rows differ",
        fails=True,
    ),
]
