"""Decompositions into triangular factors."""

from typing import Any

import numpy as np

from tests.ops.case import Case, array, c64, c128, coarse, f16, f32, f64, lower_factor


def _definite(x: Any) -> Any:
    """Positive definite matrices."""
    x = coarse(x)
    return (x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1])).astype(x.dtype)


_FULL = {"full_matrices": True}
_EMPTY = np.zeros((0, 0), "float32")
_EMPTIES = np.zeros((2, 0, 0), "float64")
_SINGULAR = array([[1, 2], [2, 4]], "float64")

CASES = [
    # Not along directions that leave the matrix asymmetric: only one triangle is read.
    Case("Cholesky", (_definite(f64(3, 3)),), numeric=False),
    Case("Cholesky", (_definite(f64(2, 3, 3)),), label="batch", numeric=False),
    Case("Cholesky", (_definite(f32(4, 4)),), label="single", rtol=1e-4, atol=1e-4),
    Case("Cholesky", (_definite(c128(2, 3, 3)),), label="complex"),
    Case("Cholesky", (_definite(c64(2, 2)),), label="complex single", rtol=1e-4, atol=1e-5),
    Case("Cholesky", (array([[4, 99], [2, 3]], "float64"),), label="lower triangle", grad=False),
    Case("Cholesky", (_EMPTY,), label="empty"),
    Case("Cholesky", (_EMPTIES,), label="of empty ones"),
    Case("Cholesky", (f64(2, 3),), label="not square", fails=True),
    Case("Cholesky", (f64(3),), label="vector", fails=True),
    Case("CholeskyGrad", (lower_factor(f64(3, 3)), f64(3, 3))),
    Case("CholeskyGrad", (lower_factor(f32(2, 4, 4)), f32(2, 4, 4)), rtol=1e-4),
    Case("CholeskyGrad", (f64(2, 3), f64(2, 3)), label="not square", fails=True),
    Case("Lu", (f64(4, 4),)),
    Case("Lu", (f32(2, 3, 3),), {"output_idx_type": "int64"}, label="int64"),
    Case("Lu", (c128(2, 3, 3),), label="complex"),
    Case("Lu", (array([[0, 1], [1, 0]], "float64"),), label="swap"),
    Case("Lu", (_EMPTY,), label="empty"),
    Case("Lu", (_EMPTIES,), label="of empty ones"),
    Case("Lu", (_SINGULAR,), label="singular", fails=True),
    Case("Lu", (f64(2, 3),), label="not square", fails=True),
    Case("Qr", (f64(3, 3),)),
    Case("Qr", (f64(4, 3),), label="tall"),
    Case("Qr", (f64(2, 3, 5),), label="wide"),
    Case("Qr", (f64(4, 3),), _FULL, label="full", grad=False),
    Case("Qr", (f64(3, 4),), _FULL, label="full wide"),
    Case("Qr", (c128(2, 4, 3),), label="complex"),
    Case("Qr", (c64(3, 4),), label="complex wide", rtol=1e-4, atol=1e-5),
    Case("Qr", (f32(2, 1, 3, 2),), label="single", rtol=1e-4, atol=1e-5),
    Case(
        "Qr",
        ((f16(3, 3) + 3 * np.eye(3)).astype("float16"),),
        label="half",
        grad=False,
        rtol=1e-2,
        atol=1e-2,
    ),
    Case("Qr", (_EMPTIES,), label="of empty ones", grad=False),
    Case("Qr", (np.zeros((4, 0)),), _FULL, label="of no columns", grad=False),
    Case("Qr", (np.zeros((2, 0, 3)),), label="of no rows", grad=False),
    Case("Qr", (f64(3),), label="vector", fails=True),
]
