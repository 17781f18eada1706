"""Functions of matrices."""

from typing import Any

import numpy as np

from tests.ops.case import Case, array, c64, c128, coarse, f32, f64


def _squares(x: Any) -> Any:
    """Matrices that have a real root."""
    x = coarse(x) + 3 * np.eye(x.shape[-1])
    return (x @ x).astype(x.dtype)


_EMPTIES = np.zeros((2, 0, 0), "complex128")
_JORDAN = array([[2, 1, 0], [0, 2, 1], [0, 0, 2]], "complex128")
_TURN = array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], "complex128")
_DEFECTIVE = array([[3, 1], [-1, 1]], "complex128")  # a double eigenvalue with one eigenvector


def _exponential(x: Any, **settings: Any) -> Case:
    """TensorFlow reads this op in old GraphDefs alone, so the series is what to compare with."""
    wide = x.astype(np.result_type(x, np.float64))
    total = term = np.broadcast_to(np.eye(x.shape[-1]), x.shape).astype(wide.dtype)
    for i in range(1, 60):
        term = term @ wide / i
        total = total + term
    return Case(
        "MatrixExponential", (x,), expected=(total.astype(x.dtype),), grad=False, **settings
    )


CASES = [
    _exponential(f64(3, 3)),
    _exponential(f32(2, 3, 3), label="single", rtol=1e-4),
    _exponential(c128(2, 3, 3), label="complex"),
    _exponential(_JORDAN, label="jordan"),
    _exponential(_EMPTIES, label="of empty ones"),
    Case("MatrixLogarithm", (c128(3, 3),), atol=1e-10),
    Case("MatrixLogarithm", (c64(2, 4, 4),), label="single", rtol=1e-3, atol=1e-4),
    Case("MatrixLogarithm", (array([[1, 2], [3, 4]], "complex128"),), label="of a real one"),
    Case("MatrixLogarithm", (_JORDAN,), label="jordan"),
    Case("MatrixLogarithm", (_DEFECTIVE,), label="defective", atol=1e-6),
    Case("MatrixLogarithm", (-np.eye(2, dtype="complex128"),), label="minus one"),
    Case("MatrixLogarithm", (1e-6 * _TURN + 1e6 * np.eye(3),), label="large and small", atol=1e-9),
    Case("MatrixLogarithm", (_EMPTIES,), label="of empty ones"),
    Case("MatrixLogarithm", (c64(2, 3),), label="not square", fails=True),
    Case("MatrixSquareRoot", (_squares(f64(3, 3)),)),
    Case("MatrixSquareRoot", (_squares(f32(2, 3, 3)),), label="single", rtol=1e-3, atol=1e-4),
    Case("MatrixSquareRoot", (_squares(c128(2, 3, 3)),), label="complex"),
    Case("MatrixSquareRoot", (_JORDAN,), label="jordan"),
    Case("MatrixSquareRoot", (_DEFECTIVE,), label="defective", atol=1e-6, grad=False),
    Case(
        "MatrixSquareRoot",
        (array([[1, 2], [2, 4]], "float64"),),
        label="singular",
        grad=False,
        atol=1e-7,
    ),
    Case("MatrixSquareRoot", (-np.eye(2),), label="without real root", grad=False),
    Case("MatrixSquareRoot", (_EMPTIES,), label="of empty ones", grad=False),
    Case("MatrixSquareRoot", (f64(3),), label="vector", fails=True),
]
