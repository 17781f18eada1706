"""Least squares."""

import numpy as np

from tests.ops.case import Case, array, c64, c128, f32, f64

_NONE = array(0, "float64")
_SOME = array(0.5, "float64")
_SLOW = {"fast": False}
_RANK_ONE = array([[1, 2], [2, 4], [3, 6]], "float64")

CASES = [
    Case("MatrixSolveLs", (f64(4, 3), f64(4, 2), _NONE), grad=(0, 1)),
    Case("MatrixSolveLs", (f64(3, 5), f64(3, 2), _NONE), label="wide", grad=(0, 1)),
    Case("MatrixSolveLs", (f64(2, 4, 3), f64(2, 4, 1), _SOME), label="regularized", grad=(0, 1)),
    Case(
        "MatrixSolveLs", (f64(2, 3, 4), f64(2, 3, 1), _SOME), label="wide regularized", grad=(0, 1)
    ),
    Case("MatrixSolveLs", (f32(4, 2), f32(4, 1), _SOME), label="single", grad=(0, 1), rtol=1e-4),
    Case("MatrixSolveLs", (c128(4, 3), c128(4, 2), _NONE), label="complex", grad=False),
    Case("MatrixSolveLs", (c64(3, 4), c64(3, 1), _SOME), label="wide complex", grad=False),
    Case("MatrixSolveLs", (f64(2, 4, 3), f64(2, 4, 2), _NONE), _SLOW, "slow", grad=False),
    Case("MatrixSolveLs", (f64(3, 4), f64(3, 2), _NONE), _SLOW, "slow wide", grad=False),
    Case("MatrixSolveLs", (c128(4, 3), c128(4, 2), _NONE), _SLOW, "slow complex", grad=False),
    Case("MatrixSolveLs", (_RANK_ONE, f64(3, 2), _NONE), _SLOW, "not of full rank", grad=False),
    Case(
        "MatrixSolveLs",
        (f64(2, 3, 2), np.zeros((2, 3, 0)), _NONE),
        label="empty",
        grad=False,
    ),
    Case("MatrixSolveLs", (np.zeros((3, 2)), f64(3, 1), _NONE), label="zero", fails=True),
    Case("MatrixSolveLs", (f64(3, 2), f64(2, 1), _NONE), label="other sizes", fails=True),
    Case("MatrixSolveLs", (f64(3, 2), f64(3, 1), f64(1)), label="many regularizers", fails=True),
]
