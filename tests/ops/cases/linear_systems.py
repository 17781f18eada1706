"""Inverses, determinants and solutions of linear systems."""

from typing import Any

import numpy as np

from tests.ops.case import Case, array, c64, c128, f16, f32, f64


def _regular(x: Any) -> Any:
    """Square matrices that are far from having no inverse."""
    return (x + 3 * np.eye(x.shape[-1])).astype(x.dtype)


_SINGULAR = array([[1, 0, -1], [-1, 1, 0], [0, -1, 1]], "float64")
_NAN = np.full((2, 2), np.nan)
_EMPTY = np.zeros((0, 0), "float32")
_EMPTIES = np.zeros((2, 0, 0), "float64")
_NONE = np.zeros((0, 2, 2), "float64")

CASES = [
    Case("MatrixInverse", (_regular(f64(3, 3)),)),
    Case("MatrixInverse", (_regular(f64(2, 3, 3)),), {"adjoint": True}, label="adjoint"),
    Case("MatrixInverse", (_regular(c128(2, 3, 3)),), {"adjoint": True}, label="complex"),
    Case("MatrixInverse", (_regular(f32(2, 1, 4, 4)),), label="single"),
    Case("MatrixInverse", (_regular(f16(3, 3)),), label="half", rtol=1e-2, atol=1e-2),
    Case("MatrixInverse", (_EMPTY,), label="empty"),
    Case("MatrixInverse", (_EMPTIES,), label="of empty ones"),
    Case("MatrixInverse", (_NONE,), label="of none"),
    Case("MatrixInverse", (_SINGULAR,), label="singular", fails=True),
    Case("MatrixInverse", (_NAN,), label="not a number", fails=True),
    Case("MatrixInverse", (f64(2, 3),), label="not square", fails=True),
    Case("MatrixInverse", (f64(3),), label="vector", fails=True),
    Case("MatrixDeterminant", (f64(3, 3),)),
    Case("MatrixDeterminant", (c128(2, 3, 3),), label="complex"),
    Case("MatrixDeterminant", (f32(2, 1, 4, 4),), label="single"),
    Case("MatrixDeterminant", (c64(1, 1),), label="one"),
    Case("MatrixDeterminant", (_EMPTY,), label="empty"),
    Case("MatrixDeterminant", (_EMPTIES,), label="of empty ones"),
    Case("MatrixDeterminant", (_NONE,), label="of none"),
    Case("MatrixDeterminant", (_SINGULAR,), label="singular", grad=False),
    Case("MatrixDeterminant", (f64(2, 3),), label="not square", fails=True),
    Case("LogMatrixDeterminant", (f64(3, 3),)),
    Case("LogMatrixDeterminant", (f32(2, 3, 3),), label="single"),
    Case("LogMatrixDeterminant", (c128(2, 3, 3),), label="complex"),
    Case("LogMatrixDeterminant", (_EMPTIES,), label="of empty ones"),
    Case("LogMatrixDeterminant", (np.zeros((2, 2)),), label="singular", grad=False),
    Case("LogMatrixDeterminant", (f64(3),), label="vector", fails=True),
    Case("MatrixSolve", (_regular(f64(3, 3)), f64(3, 2))),
    Case("MatrixSolve", (_regular(f64(2, 3, 3)), f64(2, 3, 1)), {"adjoint": True}, label="adjoint"),
    Case("MatrixSolve", (_regular(c128(3, 3)), c128(3, 2)), {"adjoint": True}, label="complex"),
    Case("MatrixSolve", (_regular(f32(4, 4)), f32(4, 4)), label="single"),
    Case("MatrixSolve", (_EMPTIES, np.zeros((2, 0, 5))), label="of empty ones"),
    Case("MatrixSolve", (_regular(f64(3, 3)), np.zeros((3, 0))), label="of no sides"),
    Case("MatrixSolve", (_SINGULAR, f64(3, 1)), label="singular", fails=True),
    Case("MatrixSolve", (f64(3, 3), f64(2, 1)), label="other sizes", fails=True),
    Case("MatrixSolve", (f64(2, 3, 3), f64(1, 3, 1)), label="other batches", fails=True),
    Case("MatrixSolve", (f64(3, 3), f64(3)), label="vector", fails=True),
    Case("MatrixTriangularSolve", (_regular(f64(3, 3)), f64(3, 2))),
    Case("MatrixTriangularSolve", (_regular(f64(3, 3)), f64(3, 2)), {"lower": False}, "upper"),
    Case(
        "MatrixTriangularSolve",
        (_regular(c128(2, 3, 3)), c128(2, 3, 2)),
        {"adjoint": True},
        label="adjoint",
    ),
    Case(
        "MatrixTriangularSolve",
        (_regular(c64(3, 3)), c64(3, 2)),
        {"adjoint": True, "lower": False},
        label="upper adjoint",
    ),
    Case("MatrixTriangularSolve", (_regular(f64(2, 1, 3, 3)), f64(4, 3, 2)), label="broadcast"),
    Case("MatrixTriangularSolve", (_regular(f32(3, 3)), f32(2, 3, 1)), label="one matrix"),
    Case("MatrixTriangularSolve", (_EMPTIES, np.zeros((2, 0, 5))), label="of empty ones"),
    Case("MatrixTriangularSolve", (f64(3, 3), f64(2, 1)), label="other sizes", fails=True),
    Case("MatrixTriangularSolve", (f64(3, 2), f64(3, 1)), label="not square", fails=True),
    Case("BandedTriangularSolve", (_regular(f64(2, 4)[:, :2])[:, [0, 0, 0, 0]], f64(4, 2))),
    Case(
        "BandedTriangularSolve",
        (f64(3, 4, lo=1, hi=2), f64(4, 2)),
        {"lower": False},
        label="upper",
    ),
    Case(
        "BandedTriangularSolve",
        (c128(2, 2, 3) + 3, c128(2, 3, 1)),
        {"adjoint": True},
        label="adjoint",
    ),
    Case("BandedTriangularSolve", (f32(2, 1, 2, 3, lo=1, hi=2), f32(4, 3, 2)), label="broadcast"),
    Case("BandedTriangularSolve", (f64(4, 3), f64(3, 1)), label="too many", fails=True),
    Case("BandedTriangularSolve", (f64(2, 4), f64(3, 1)), label="other sizes", fails=True),
]
