"""Tridiagonal matrices."""

from typing import Any

import numpy as np

from tests.ops.case import Case, array, c64, c128, f32, f64

_THOMAS = {"partial_pivoting": False}


def _dominant(x: Any) -> Any:
    """Diagonals of which the main one is the largest."""
    x[..., 1, :] += 4
    return x


_NEEDS_SWAP = array([[1, 2, 9], [0, 1, 3], [9, 2, 4]], "float64")

CASES = [
    Case("TridiagonalSolve", (f64(3, 5), f64(5, 2))),
    Case("TridiagonalSolve", (_dominant(f64(2, 3, 4)), f64(2, 4, 1)), _THOMAS, "no swaps"),
    Case("TridiagonalSolve", (_NEEDS_SWAP, f64(3, 2)), label="swaps"),
    Case(
        "TridiagonalSolve", (f32(2, 1, 3, 4), f32(2, 1, 4, 3)), label="single", rtol=1e-4, atol=1e-5
    ),
    Case("TridiagonalSolve", (c128(3, 4), c128(4, 2)), label="complex", grad=False),
    Case(
        "TridiagonalSolve",
        (_dominant(c64(2, 3, 4)), c64(2, 4, 1)),
        _THOMAS,
        "no swaps complex",
        grad=False,
    ),
    Case("TridiagonalSolve", (array([[9], [2], [9]], "float64"), f64(1, 2)), label="one"),
    Case("TridiagonalSolve", (f64(3, 2), f64(2, 2)), label="two"),
    Case("TridiagonalSolve", (np.zeros((3, 0)), np.zeros((0, 2))), label="empty", grad=False),
    Case("TridiagonalSolve", (f64(3, 4), f64(4, 2)), {"perturb_singular": True}, "regular"),
    Case("TridiagonalSolve", (f64(2, 4), f64(4, 2)), label="two diagonals", fails=True),
    Case("TridiagonalSolve", (f64(3, 4), f64(3, 2)), label="other sizes", fails=True),
    Case("TridiagonalSolve", (f64(2, 3, 4), f64(1, 4, 2)), label="other batches", fails=True),
    Case("TridiagonalMatMul", (f64(1, 4), f64(1, 4), f64(1, 4), f64(4, 2))),
    Case("TridiagonalMatMul", (f32(2, 1, 3), f32(2, 1, 3), f32(2, 1, 3), f32(2, 3, 2))),
    Case("TridiagonalMatMul", (c128(1, 3), c128(1, 3), c128(1, 3), c128(3, 1)), label="complex"),
    Case(
        "TridiagonalMatMul",
        (f64(1, 3), f64(1, 3), f64(1, 3), f64(4, 2)),
        label="other sizes",
        fails=True,
    ),
]
