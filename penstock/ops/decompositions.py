"""Decompositions into triangular factors: Cholesky, LU, QR."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops import array, casts
from penstock.ops.linear_systems import MatrixTriangularSolve
from penstock.ops.matmul import matmul
from penstock.ops.matrix_shapes import matrix, smaller, square, with_batch
from penstock.ops.shape_checks import merge_shapes
from penstock.shapes import Shape

__all__ = ["cholesky", "qr"]

_TYPES = types(dtypes.float64, dtypes.float32, dtypes.float16, dtypes.complex64, dtypes.complex128)

Cholesky = op("Cholesky(input: T) -> output: T", T=_TYPES)
CholeskyGrad = op(
    "CholeskyGrad(l: T, grad: T) -> output: T",
    T=types(dtypes.float16, dtypes.float32, dtypes.float64),
)
Lu = op(
    "Lu(input: T) -> lu: T, p: output_idx_type",
    T=_TYPES,
    output_idx_type=types(INDEX, default=dtypes.int32),
)
Qr = op("Qr(input: T) -> q: T, r: T", full_matrices=False, T=_TYPES)

# Cholesky -------------------------------------------------------------------------------------


@Cholesky.shape
def _(op: Operation, x: Shape) -> Shape:
    batch, n = square(x)
    return with_batch(batch, n, n)


@CholeskyGrad.shape
def _(op: Operation, factor: Shape, grad: Shape) -> Shape:
    batch, n = square(factor)
    return merge_shapes(with_batch(batch, n, n), grad)


@Cholesky.gradient
def _(op: Operation, grad: Tensor) -> Any:
    """L⁻ᴴ(LᴴG)L⁻¹ with the lower triangle alone of the product in the middle, made symmetric."""
    factor = op.outputs[0]
    sizes: Any = array.shape(factor)
    identity = array.eye(sizes[-1], batch_shape=sizes[:-2], dtype=factor.dtype)
    inverse = MatrixTriangularSolve(factor, identity)
    middle = matmul(factor, grad, adjoint_a=True)
    diagonal: Any = array.matrix_diag_part(middle)
    middle = array.matrix_band_part(array.matrix_set_diag(middle, 0.5 * diagonal), -1, 0)
    found: Any = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    return (found + adjoint(found)) * 0.5


def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangular factors L of positive definite matrices `input = L @ adjoint(L)`."""
    return Cholesky(input, name=name)


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The matrices in the last two dimensions transposed, and conjugated if they are complex."""
    with name_scope(name, "adjoint", [matrix]):
        return array.matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


# LU -------------------------------------------------------------------------------------------


@Lu.shape
def _(op: Operation, x: Shape) -> list[Shape]:
    batch, n = square(x)
    return [with_batch(batch, n, n), with_batch(batch, n)]


def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The triangular factors of square matrices in one matrix, and the permutation of their rows.

    `lu` holds U and, below the diagonal, L, whose own diagonal is one; row i of L @ U is row p[i]
    of the input.
    """
    return Lu(input, output_idx_type=output_idx_type, name=name)


# QR -------------------------------------------------------------------------------------------


@Qr.shape
def _(op: Operation, x: Shape) -> list[Shape]:
    batch, m, n = matrix(x)
    inner = m if op.attrs["full_matrices"] else smaller(m, n)
    return [with_batch(batch, m, inner), with_batch(batch, inner, n)]


@Qr.gradient
def _(op: Operation, grad_q: Any, grad_r: Any) -> Any:
    q, r = op.outputs
    if r._shape is None or q._shape is None or None in (*r._shape[-2:], *q._shape[-2:]):
        raise NotImplementedError(
            f"QrGrad not implemented with dynamic shapes. Received r.shape: {r.shape}"
        )
    rows: Any = q._shape[-2]
    cols: Any = r._shape[-1]
    if rows >= cols:
        if r._shape[-2] > cols:
            raise NotImplementedError(
                "QrGrad not implemented when ncols > nrows or full_matrices is true and "
                f"ncols != nrows. Got r of shape {r.shape}"
            )
        return _tall_qr_gradient(q, r, grad_q, grad_r)
    # The columns beyond the square part follow from it: a = [x, y] = q @ [u, v].
    y = op.inputs[0][..., :, rows:]
    grad_v = grad_r[..., :, rows:]
    grad_x = _tall_qr_gradient(
        q,
        r[..., :, :rows],
        grad_q + matmul(y, grad_v, adjoint_b=True),
        grad_r[..., :, :rows],
    )
    return array.concat([grad_x, matmul(q, grad_v)], axis=-1)


def _tall_qr_gradient(q: Any, r: Any, grad_q: Any, grad_r: Any) -> Any:
    """The gradient of the decomposition of matrices that are square, or have more rows."""
    products_q: Any = matmul(q, grad_q, adjoint_a=True)
    products_r: Any = matmul(r, grad_r, adjoint_b=True)
    skew = (products_q - adjoint(products_q)) + (products_r - adjoint(products_r))
    lower = array.matrix_band_part(skew, -1, 0)
    found = matmul(q, grad_r + _times_adjoint_inverse(lower, r))
    found += _times_adjoint_inverse(grad_q - matmul(q, products_q), r)
    if q.dtype.is_complex:
        # R's diagonal is real, so that it can't follow the phases that its gradient asks for.
        diagonal: Any = array.matrix_diag_part(products_r - adjoint(products_q))
        phases = array.matrix_diag(diagonal - casts.cast(casts.real(diagonal), q.dtype))
        found += _times_adjoint_inverse(matmul(q, adjoint(phases)), r)
    return found


def _times_adjoint_inverse(x: Any, r: Any) -> Any:
    """x @ adjoint(inverse(r)) for an upper triangular r."""
    return adjoint(MatrixTriangularSolve(r, adjoint(x), lower=False, adjoint=False))


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """The factors of `input = q @ r`: q's columns are orthonormal, r is upper triangular.

    With `full_matrices` q is square, else it has only the columns that r needs.
    """
    return Qr(input, full_matrices=full_matrices, name=name)
