"""Random numbers whose generator is a variable; what is left in it is compared, too."""

import numpy as np

from tests.ops.case import Case, Resource, array

PHILOX = array(1, "int64")
FLOATING = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int32", "int64", "uint32", "uint64")


def _state(*words: int) -> Resource:
    return Resource(array(list(words) or [1234, 0, 99], "int64"))


def _sizes(*sizes: int, dtype: str = "int32") -> np.ndarray:
    return array(list(sizes), dtype)


def _floats(op: str) -> list[Case]:
    drawn = [
        Case(op, (_state(), PHILOX, _sizes(*sizes)), {"dtype": dtype})
        for dtype in FLOATING
        for sizes in ((7,), (3, 5))
    ]
    return [
        *drawn,
        Case(op, (_state(), PHILOX, _sizes(dtype="int64")), label="scalar"),
        Case(op, (_state(), PHILOX, _sizes(0, 3)), label="empty"),
        Case(op, (_state(-3, -1, -1), PHILOX, _sizes(257)), label="counter overflows"),
        Case(op, (_state(-3, 7, 5, 8), PHILOX, _sizes(9)), label="long state"),
        Case(op, (_state(1, 2), PHILOX, _sizes(9)), label="short state", fails=True),
        Case(op, (_state(), array(123, "int64"), _sizes(9)), label="algorithm", fails=True),
        Case(op, (_state(), array([1], "int64"), _sizes(9)), label="algorithms", fails=True),
        Case(op, (_state(), PHILOX, array(3, "int32")), label="scalar shape", fails=True),
        Case(
            op, (Resource(array([[1, 2, 3]], "int64")), PHILOX, _sizes(9)), label="rank", fails=True
        ),
        Case(
            op, (Resource(array([1, 2, 3], "int32")), PHILOX, _sizes(9)), label="type", fails=True
        ),
    ]


def _bounded(dtype: str, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    return array(low, dtype), array(high, dtype)


def _integers() -> list[Case]:
    return [
        *(
            Case("StatefulUniformFullInt", (_state(), PHILOX, _sizes(3, 3)), {"dtype": dtype})
            for dtype in INTEGERS
        ),
        *(
            Case("StatefulUniformInt", (_state(), PHILOX, _sizes(17), *_bounded(dtype, 3, 100)))
            for dtype in ("int32", "int64")
        ),
        Case("StatefulUniformInt", (_state(), PHILOX, _sizes(9), *_bounded("int64", -7, -3))),
        Case(
            "StatefulUniformInt",
            (_state(), PHILOX, _sizes(9), *_bounded("int64", 3, 3)),
            label="no number between",
            fails=True,
        ),
        Case(
            "NonDeterministicInts",
            (_sizes(2, 3),),
            {"dtype": "int32"},
            label="ints",
            shape_only=True,
        ),
        Case("NonDeterministicInts", (_sizes(0, dtype="int64"),), label="none", shape_only=True),
        Case("RngSkip", (_state(), PHILOX, array(17, "int64"))),
        Case("RngSkip", (_state(-256, -1, 5), PHILOX, array(3, "int64")), label="over the end"),
        Case("RngSkip", (_state(), PHILOX, array([3], "int64")), label="vector", fails=True),
    ]


CASES = [
    *_floats("StatefulUniform"),
    *_floats("StatefulStandardNormalV2"),
    *_floats("StatefulTruncatedNormal"),
    *_integers(),
]
