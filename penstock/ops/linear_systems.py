"""Systems of linear equations: inverses, determinants and solutions."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING_COMPLEX
from penstock.ops import array, reductions
from penstock.ops.broadcasting import BroadcastGradientArgs
from penstock.ops.matmul import matmul
from penstock.ops.matrix_shapes import matrix, solution, square, with_batch
from penstock.ops.shape_checks import merge_sizes
from penstock.shapes import Shape, broadcast, is_full

__all__ = [
    "matrix_determinant",
    "matrix_inverse",
    "matrix_solve",
    "matrix_triangular_solve",
]

_TYPES = types(dtypes.float64, dtypes.float32, dtypes.float16, dtypes.complex64, dtypes.complex128)

MatrixInverse = op("MatrixInverse(input: T) -> output: T", adjoint=False, T=_TYPES)
MatrixDeterminant = op("MatrixDeterminant(input: T) -> output: T", T=_TYPES)
LogMatrixDeterminant = op(
    "LogMatrixDeterminant(input: T) -> sign: T, log_abs_determinant: T", T=_TYPES
)
MatrixSolve = op("MatrixSolve(matrix: T, rhs: T) -> output: T", adjoint=False, T=_TYPES)
MatrixTriangularSolve = op(
    "MatrixTriangularSolve(matrix: T, rhs: T) -> output: T",
    lower=True,
    adjoint=False,
    T=FLOATING_COMPLEX,
)
BandedTriangularSolve = op(
    "BandedTriangularSolve(matrix: T, rhs: T) -> output: T", lower=True, adjoint=False, T=_TYPES
)

# Inverses and determinants --------------------------------------------------------------------


@MatrixInverse.shape
def _(op: Operation, x: Shape) -> Shape:
    batch, n = square(x)
    return with_batch(batch, n, n)


@MatrixDeterminant.shape
def _(op: Operation, x: Shape) -> Shape:
    return square(x)[0]


@LogMatrixDeterminant.shape
def _(op: Operation, x: Shape) -> list[Shape]:
    batch, _ = square(x)
    return [batch, batch]


@MatrixInverse.gradient
def _(op: Operation, grad: Tensor) -> Any:
    inverse, turned = op.outputs[0], op.attrs["adjoint"]
    inner = matmul(grad, inverse, adjoint_a=turned, adjoint_b=not turned)
    return -matmul(inverse, inner, adjoint_a=not turned)


@MatrixDeterminant.gradient
def _(op: Operation, grad: Any) -> Any:
    return _times_adjoint_inverse(grad * op.outputs[0], op.inputs[0])


@LogMatrixDeterminant.gradient
def _(op: Operation, grad_sign: Any, grad: Any) -> Any:
    return _times_adjoint_inverse(grad, op.inputs[0])


def _times_adjoint_inverse(factors: Any, x: Any) -> Any:
    """One number per matrix times the inverse of the matrix's adjoint."""
    return array.expand_dims(array.expand_dims(factors, -1), -1) * matrix_inverse(x, adjoint=True)


def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of square matrices, or with `adjoint` of their conjugate transposes."""
    return MatrixInverse(input, adjoint=adjoint, name=name)


def matrix_determinant(input: Any, name: str | None = None) -> Tensor:
    """The determinants of square matrices."""
    return MatrixDeterminant(input, name=name)


def slogdet(input: Any, name: str | None = None) -> Any:
    """The signs of determinants, and the logarithms of their absolute values."""
    return LogMatrixDeterminant(input, name=name)


# Solutions ------------------------------------------------------------------------------------


@MatrixSolve.shape
def _(op: Operation, lhs: Shape, rhs: Shape) -> Shape:
    return solution(lhs, rhs, is_square=True)


@MatrixTriangularSolve.shape
def _(op: Operation, lhs: Shape, rhs: Shape) -> Shape:
    return solution(lhs, rhs, is_square=True, broadcasts=True)


@BandedTriangularSolve.shape
def _(op: Operation, bands: Shape, rhs: Shape) -> Shape:
    left, right = matrix(bands), matrix(rhs)
    if left.rows is not None and left.rows < 1:
        raise ValueError("Number of bands must be positive, but is 0")
    if left.rows is not None and left.cols is not None and left.rows > left.cols:
        raise ValueError(
            f"Number of bands {left.rows} cannot exceed the size of the matrix {left.cols}"
        )
    rows = merge_sizes(left.cols, right.rows)
    return with_batch(broadcast(left.batch, right.batch), rows, right.cols)


@MatrixSolve.gradient
def _(op: Operation, grad: Tensor) -> Any:
    turned = op.attrs["adjoint"]
    grad_rhs = matrix_solve(op.inputs[0], grad, adjoint=not turned)
    return _gradient_of_matrix(op, grad_rhs), grad_rhs


@MatrixTriangularSolve.gradient
def _(op: Operation, grad: Tensor) -> Any:
    x, lower = op.inputs[0], op.attrs["lower"]
    grad_rhs = matrix_triangular_solve(x, grad, lower=lower, adjoint=not op.attrs["adjoint"])
    band = (-1, 0) if lower else (0, -1)
    grad_x = array.matrix_band_part(_gradient_of_matrix(op, grad_rhs), *band)
    return _unbroadcast_batches(op, grad_x, grad_rhs)


@BandedTriangularSolve.gradient
def _(op: Operation, grad: Tensor) -> Any:
    bands, lower, turned = op.inputs[0], op.attrs["lower"], op.attrs["adjoint"]
    grad_rhs = BandedTriangularSolve(bands, grad, lower=lower, adjoint=not turned)
    sizes: Any = array.shape(bands)
    others = sizes[-2] - 1
    grad_bands = array.matrix_diag_part(
        _gradient_of_matrix(op, grad_rhs),
        k=(-others, 0) if lower else (0, others),
        align="LEFT_RIGHT",
    )
    return _unbroadcast_batches(op, grad_bands, grad_rhs)


def _gradient_of_matrix(op: Operation, grad_rhs: Tensor) -> Any:
    """The gradient by the matrix of a system, from the gradient by its right-hand side."""
    found = op.outputs[0]
    factors = (found, grad_rhs) if op.attrs["adjoint"] else (grad_rhs, found)
    return -matmul(*factors, adjoint_b=True)


def _unbroadcast_batches(op: Operation, grad_x: Any, grad_rhs: Any) -> tuple[Any, Any]:
    x, rhs = op.inputs
    if is_full(x._shape) and is_full(rhs._shape) and x.shape[:-2] == rhs.shape[:-2]:
        return grad_x, grad_rhs
    sizes_x: Any = array.shape(x)
    sizes_rhs: Any = array.shape(rhs)
    axes_x, axes_rhs = BroadcastGradientArgs(sizes_x[:-2], sizes_rhs[:-2])
    return (
        array.reshape(reductions.reduce_sum(grad_x, axes_x), sizes_x),
        array.reshape(reductions.reduce_sum(grad_rhs, axes_rhs), sizes_rhs),
    )


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The solutions x of `matrix @ x = rhs`, or with `adjoint` of `adjoint(matrix) @ x = rhs`."""
    return MatrixSolve(matrix, rhs, adjoint=adjoint, name=name)


def matrix_triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The solutions x of `matrix @ x = rhs` for triangular matrices.

    Args:
      lower: whether the lower triangle of `matrix` is read, or the upper one.
      adjoint: whether the system is `adjoint(matrix) @ x = rhs`.
    """
    return MatrixTriangularSolve(matrix, rhs, lower=lower, adjoint=adjoint, name=name)


def banded_triangular_solve(
    bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The solutions of triangular systems of which `bands` holds the non-zero diagonals, in rows.

    The main diagonal is the first row, or the last one if the matrices are upper triangular.
    """
    with name_scope(name, "banded_triangular_solve", [bands, rhs]):
        bands = convert_to_tensor(bands, name="bands")
        return BandedTriangularSolve(bands, rhs, lower=lower, adjoint=adjoint)
