"""Least squares: `tf.matrix_solve_ls`, and solutions from Cholesky factors."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ops import array, casts
from penstock.ops.conditionals import cond
from penstock.ops.decompositions import cholesky
from penstock.ops.linear_systems import MatrixTriangularSolve
from penstock.ops.matmul import matmul
from penstock.ops.matrix_shapes import solution
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape, num_elements

__all__ = ["cholesky_solve", "matrix_solve_ls"]

MatrixSolveLs = op(
    "MatrixSolveLs(matrix: T, rhs: T, l2_regularizer: float64) -> output: T",
    T=types(dtypes.float64, dtypes.float32, dtypes.float16, dtypes.complex64, dtypes.complex128),
    fast=True,
)

# Many small matrices that do not fit a processor's cache together are solved one by one.
_CACHE_BYTES = 256_000


@MatrixSolveLs.shape
def _(op: Operation, lhs: Shape, rhs: Shape, l2_regularizer: Shape) -> Shape:
    with_rank(l2_regularizer, 0)
    return solution(lhs, rhs, is_square=False)


@MatrixSolveLs.gradient
def _(op: Operation, grad: Tensor) -> Any:
    if not op.attrs["fast"]:
        raise ValueError("Gradient not defined for fast=False")
    gradients = _by_height(
        op.inputs[0],
        lambda: _overdetermined_gradients(op, grad),
        lambda: _underdetermined_gradients(op, grad),
    )
    return [*gradients, None]


def _by_height(matrix: Any, tall: Any, wide: Any) -> Any:
    """What `tall` gives if the matrices have at least as many rows as columns, else `wide`."""
    rows, cols = (matrix._shape or (None, None))[-2:]
    if rows is not None and cols is not None:
        return tall() if rows >= cols else wide()
    counts: Any = array.shape(matrix)[-2:]
    return cond(counts[-2] >= counts[-1], tall, wide)


def _overdetermined_gradients(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    """The gradients of X = (AᴴA + λI)⁻¹AᴴB."""
    a, b, regularizer = op.inputs
    factor = _gramian_factor(a, casts.cast(regularizer, a.dtype.base_dtype), of_columns=True)
    z = cholesky_solve(factor, grad)
    product: Any = matmul(op.outputs[0], z, adjoint_b=True)
    symmetric = product + array.matrix_transpose(product)
    return matmul(b, z, adjoint_b=True) - matmul(a, symmetric), matmul(a, z)


def _underdetermined_gradients(op: Operation, grad: Any) -> tuple[Any, Any]:
    """The gradients of X = Aᴴ(AAᴴ + λI)⁻¹B."""
    a, b, regularizer = op.inputs
    factor = _gramian_factor(a, casts.cast(regularizer, a.dtype.base_dtype), of_columns=False)
    grad_b = cholesky_solve(factor, matmul(a, grad))
    z = cholesky_solve(factor, b)
    rest = grad - matmul(a, grad_b, adjoint_a=True)
    grad_a = matmul(z, rest, adjoint_b=True) - matmul(grad_b, matmul(z, a, adjoint_a=True))
    return grad_a, grad_b


def _gramian_factor(matrix: Any, regularizer: Any, of_columns: bool) -> Tensor:
    """The Cholesky factor of AᴴA + λI (the products of columns) or of AAᴴ + λI."""
    gramian = matmul(matrix, matrix, adjoint_a=of_columns, adjoint_b=not of_columns)
    if isinstance(regularizer, Tensor) or regularizer != 0:
        sizes: Any = array.shape(matrix)
        batch = sizes[:-2]
        identity = array.eye(
            sizes[-1] if of_columns else sizes[-2], batch_shape=batch, dtype=matrix.dtype
        )
        size = matrix.shape[-1 if of_columns else -2]
        identity.set_shape(matrix.shape[:-2].concatenate([size, size]))
        gramian += regularizer * identity
    return cholesky(gramian)


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """The solutions x of `A @ x = rhs`, where `chol` is the Cholesky factor of A."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = MatrixTriangularSolve(chol, rhs, adjoint=False, lower=True)
        return MatrixTriangularSolve(chol, y, adjoint=True, lower=True)


def matrix_solve_ls(
    matrix: Any,
    rhs: Any,
    l2_regularizer: Any = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """The solutions x for which the squares of `matrix @ x - rhs` have the smallest sum.

    Args:
      l2_regularizer: weight of the squares of x, which are added to the sum.
      fast: whether to solve the normal equations by Cholesky factors; else a slower method is used
        that also gives the smallest x of matrices without full rank, without regularizer.
    """
    matrix = convert_to_tensor(matrix, name="matrix")
    if matrix.dtype == dtypes.complex128 and l2_regularizer != 0:
        raise NotImplementedError(
            "matrix_solve_ls is currently disabled for complex128 and l2_regularizer != 0 due to "
            "poor accuracy."
        )
    if not fast or _is_bound_by_memory(matrix):
        return MatrixSolveLs(matrix, rhs, l2_regularizer, fast=fast, name=name)
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        return _by_height(
            matrix,
            lambda: _solve_overdetermined(matrix, rhs, l2_regularizer),
            lambda: _solve_underdetermined(matrix, rhs, l2_regularizer),
        )


def _is_bound_by_memory(matrix: Tensor) -> bool:
    shape = matrix._shape
    count, batch = num_elements(shape), num_elements(shape[:-2] if shape is not None else None)
    if shape is None or count is None or batch is None:
        return False
    smallest = min(size for size in shape[-2:] if size is not None)
    return count * matrix.dtype.size > _CACHE_BYTES and batch > smallest


def _solve_overdetermined(matrix: Any, rhs: Any, regularizer: Any) -> Tensor:
    factor = _gramian_factor(matrix, regularizer, of_columns=True)
    return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))


def _solve_underdetermined(matrix: Any, rhs: Any, regularizer: Any) -> Tensor:
    factor = _gramian_factor(matrix, regularizer, of_columns=False)
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)
