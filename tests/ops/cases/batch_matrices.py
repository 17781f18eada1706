"""The old names of ops on batches of matrices, which TensorFlow itself runs no more."""

from typing import Any

import numpy as np

from tests.ops.case import Case, array, c64, f64, lower_factor
from tests.ops.cases.spectral_decompositions import (
    of_eigenvectors,
    of_old_op,
    of_singular_vectors,
)

_X = f64(2, 3, 3)
_RHS = f64(2, 3, 1)
_REGULAR = _X + 3 * np.eye(3)
_FACTOR = lower_factor(_X)
_DEFINITE = _FACTOR @ np.swapaxes(_FACTOR, -1, -2)
_VALUES, _VECTORS = np.linalg.eigh(_DEFINITE)
_U, _S, _VH = np.linalg.svd(_X)
_LINE = f64(2, 3)
_CUBE = c64(2, 3, 4, 5)


def _of_cholesky(grad: Any) -> Any:
    inverse = np.linalg.inv(_FACTOR)
    middle = np.tril(np.swapaxes(_FACTOR, -1, -2) @ np.tril(grad))
    middle[..., range(3), range(3)] /= 2
    found = np.swapaxes(inverse, -1, -2) @ middle @ inverse
    return (found + np.swapaxes(found, -1, -2)) / 2


def _with_diagonal(x: Any, diagonal: Any) -> Any:
    x = x.copy()
    x[..., range(3), range(3)] = diagonal
    return x


def _transform(name: str, function: Any, rank: int) -> Case:
    expected = function(_CUBE, axes=range(-rank, 0)).astype("complex64")
    return Case(f"Batch{name}", (_CUBE,), expected=(expected,), grad=False, atol=1e-5)


CASES = [
    Case("BatchCholesky", (_DEFINITE,), expected=(_FACTOR,), grad=False),
    Case("BatchCholeskyGrad", (_FACTOR, _X), expected=(_of_cholesky(_X),), grad=False),
    Case(
        "BatchMatrixBandPart",
        (_X, array(1, "int64"), array(0, "int64")),
        expected=(np.tril(np.triu(_X, -1)),),
        grad=False,
    ),
    Case("BatchMatrixDeterminant", (_X,), expected=(np.linalg.det(_X),), grad=False),
    Case("BatchMatrixDiag", (_LINE,), expected=(_LINE[..., None] * np.eye(3),), grad=False),
    Case("BatchMatrixDiagPart", (_X,), expected=(np.diagonal(_X, axis1=-2, axis2=-1),), grad=False),
    Case("BatchMatrixInverse", (_REGULAR,), expected=(np.linalg.inv(_REGULAR),), grad=False),
    Case("BatchMatrixSetDiag", (_X, _LINE), expected=(_with_diagonal(_X, _LINE),), grad=False),
    Case(
        "BatchMatrixSolve",
        (_REGULAR, _RHS),
        expected=(np.linalg.solve(_REGULAR, _RHS),),
        grad=False,
    ),
    Case(
        "BatchMatrixSolveLs",
        (_REGULAR, _RHS, array(0, "float64")),
        expected=(np.linalg.solve(_REGULAR, _RHS),),
        grad=False,
    ),
    Case(
        "BatchMatrixTriangularSolve",
        (_REGULAR, _RHS),
        expected=(np.linalg.solve(np.tril(_REGULAR), _RHS),),
        grad=False,
    ),
    Case(
        "BatchSelfAdjointEig",
        (_DEFINITE,),
        expected=(np.concatenate([_VALUES[..., None, :], _VECTORS], -2),),
        grad=False,
        normalize=of_old_op,
    ),
    Case(
        "BatchSelfAdjointEigV2",
        (_DEFINITE,),
        expected=(_VALUES, _VECTORS),
        grad=False,
        normalize=of_eigenvectors,
    ),
    Case(
        "BatchSvd",
        (_X,),
        expected=(_S, _U, np.swapaxes(_VH, -1, -2)),
        grad=False,
        normalize=of_singular_vectors,
    ),
    _transform("FFT", np.fft.fftn, 1),
    _transform("IFFT", np.fft.ifftn, 1),
    _transform("FFT2D", np.fft.fftn, 2),
    _transform("IFFT2D", np.fft.ifftn, 2),
    _transform("FFT3D", np.fft.fftn, 3),
    _transform("IFFT3D", np.fft.ifftn, 3),
]
