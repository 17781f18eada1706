"""Decompositions into eigenvectors and singular vectors."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.operation import Operation
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import COMPLEX, SINGLE_DOUBLE
from penstock.ops import array, casts, elementwise
from penstock.ops.decompositions import adjoint
from penstock.ops.linear_systems import matrix_solve
from penstock.ops.matmul import matmul
from penstock.ops.matrix_shapes import matrix, smaller, square, with_batch
from penstock.shapes import Shape

__all__ = ["self_adjoint_eig", "self_adjoint_eigvals", "svd"]

_TYPES = types(dtypes.float64, dtypes.float32, dtypes.float16, dtypes.complex64, dtypes.complex128)
_NONE: Shape = (0,)  # of vectors that were not asked for

SelfAdjointEig = op(
    "SelfAdjointEig(input: T) -> output: T",
    T=types(dtypes.float64, dtypes.float32, dtypes.float16),
)
SelfAdjointEigV2 = op("SelfAdjointEigV2(input: T) -> e: T, v: T", compute_v=True, T=_TYPES)
Eig = op(
    "Eig(input: T) -> e: Tout, v: Tout",
    compute_v=True,
    T=types(SINGLE_DOUBLE, COMPLEX),
    Tout=COMPLEX,
)
Svd = op("Svd(input: T) -> s: T, u: T, v: T", compute_uv=True, full_matrices=False, T=_TYPES)

# Eigenvectors ---------------------------------------------------------------------------------


@SelfAdjointEig.shape
def _(op: Operation, x: Shape) -> Shape:
    batch, n = square(x)
    return with_batch(batch, None if n is None else n + 1, n)


@SelfAdjointEigV2.shape
@Eig.shape
def _(op: Operation, x: Shape) -> list[Shape]:
    batch, n = square(x)
    return [with_batch(batch, n), with_batch(batch, n, n) if op.attrs["compute_v"] else _NONE]


def _safe_reciprocal(x: Any) -> Any:
    """1 / x, and zero where x is zero: equal values have no direction to tell them apart."""
    return x * elementwise.reciprocal(x * x + 1e-20)


def _gaps(values: Any) -> Any:
    """1 / (vⱼ - vᵢ) for all pairs of values, zero on the diagonal."""
    differences = array.expand_dims(values, -2) - array.expand_dims(values, -1)
    return array.matrix_set_diag(_safe_reciprocal(differences), array.zeros_like(values))


@SelfAdjointEigV2.gradient
def _(op: Operation, grad_e: Any, grad_v: Any) -> Any:
    middle: Any = array.matrix_diag(grad_e)
    if op.attrs["compute_v"]:
        e, v = op.outputs
        middle += _gaps(e) * matmul(v, grad_v, adjoint_a=True)
    else:
        _, v = self_adjoint_eig(op.inputs[0])
    found: Any = matmul(v, matmul(middle, v, adjoint_b=True))
    # Only the lower triangle is read: its entries stand for both triangles' changes.
    found = array.matrix_band_part(found + adjoint(found), -1, 0)
    diagonal: Any = array.matrix_diag_part(found)
    return array.matrix_set_diag(found, 0.5 * diagonal)


@Eig.gradient
def _(op: Operation, grad_e: Any, grad_v: Any) -> Any:
    x = op.inputs[0]
    middle: Any = array.matrix_diag(grad_e)
    if op.attrs["compute_v"]:
        e, v = op.outputs
        turned = adjoint(v)
        products: Any = matmul(turned, grad_v)
        # Eigenvectors have length one: what would only stretch them does not count.
        lengths = array.matrix_diag(
            casts.cast(casts.real(array.matrix_diag_part(products)), products.dtype)
        )
        middle += casts.conj(_gaps(e)) * (products - matmul(matmul(turned, v), lengths))
    else:
        turned = adjoint(eig(x)[1])
    return casts.cast(matrix_solve(turned, matmul(middle, turned)), x.dtype)


def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues of self-adjoint matrices, ascending, and their eigenvectors, in columns.

    Only the lower triangles are read.
    """
    e, v = SelfAdjointEigV2(tensor, compute_v=True, name=name)
    return e, v


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of self-adjoint matrices, in ascending order."""
    e, _ = SelfAdjointEigV2(tensor, compute_v=False, name=name)
    return e


def _complex_type(x: Tensor) -> Any:
    return dtypes.complex128 if x.dtype.real_dtype == dtypes.float64 else dtypes.complex64


def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The complex eigenvalues of square matrices, and their eigenvectors in columns."""
    tensor = convert_to_tensor(tensor)
    e, v = Eig(tensor, Tout=_complex_type(tensor), compute_v=True, name=name)
    return e, v


def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The complex eigenvalues of square matrices."""
    tensor = convert_to_tensor(tensor)
    e, _ = Eig(tensor, Tout=_complex_type(tensor), compute_v=False, name=name)
    return e


# Singular vectors -----------------------------------------------------------------------------


@Svd.shape
def _(op: Operation, x: Shape) -> list[Shape]:
    batch, m, n = matrix(x)
    p = smaller(m, n)
    values = with_batch(batch, p)
    if not op.attrs["compute_uv"]:
        return [values, _NONE, _NONE]
    full = op.attrs["full_matrices"]
    return [
        values,
        with_batch(batch, m, m if full else p),
        with_batch(batch, n, n if full else p),
    ]


@Svd.gradient
def _(op: Operation, grad_s: Any, grad_u: Any, grad_v: Any) -> Any:
    x = op.inputs[0]
    grad_s = array.matrix_diag(casts.cast(grad_s, x.dtype))
    if not op.attrs["compute_uv"]:
        _, u, v = svd(x, compute_uv=True)
        found: Any = matmul(u, matmul(grad_s, v, adjoint_b=True))
        found.set_shape(x.shape)
        return found
    m, n = _sizes_for_svd_gradient(op)
    s = casts.cast(op.outputs[0], x.dtype)
    u, v = op.outputs[1:]
    if m <= n:
        found = _wide_svd_gradient(op, m, (s, u, v), (grad_s, grad_u, grad_v), m == n)
    else:  # the decomposition of the adjoint swaps the roles of u and v
        found = adjoint(_wide_svd_gradient(op, n, (s, v, u), (grad_s, grad_v, grad_u), False))
    found.set_shape(x.shape)
    return found


def _sizes_for_svd_gradient(op: Operation) -> tuple[int, int]:
    m, n = (op.inputs[0]._shape or (None, None))[-2:]
    if m is None or n is None:
        raise NotImplementedError(
            "SVD gradient has not been implemented for input with unknown inner matrix shape."
        )
    if op.attrs["full_matrices"] and abs(m - n) > 1:
        raise NotImplementedError(
            "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True"
        )
    return m, n


def _wide_svd_gradient(op: Operation, m: int, factors: Any, gradients: Any, is_square: bool) -> Any:
    """The gradient for matrices with m rows and at least as many columns."""
    s, u, v = factors
    grad_s, grad_u, grad_v = gradients
    gaps, values = _gaps(elementwise.square(s)), array.matrix_diag(s)
    inverses = array.matrix_diag(_safe_reciprocal(s))
    first, grad_first = v[..., :, :m], grad_v[..., :, :m]
    products_v: Any = matmul(first, grad_first, adjoint_a=True)
    turns_u = gaps * matmul(u, grad_u, adjoint_a=True)
    turns_v = gaps * products_v
    middle = grad_s + matmul(turns_u + adjoint(turns_u), values)
    middle += matmul(values, turns_v + adjoint(turns_v))
    found: Any = matmul(u, matmul(middle, first, adjoint_b=True))
    if not is_square:
        # What moves v's columns out of the space that they span.
        turned: Any = adjoint(grad_first)
        outside = turned - matmul(matmul(turned, first), first, adjoint_b=True)
        if op.attrs["full_matrices"]:
            last, grad_last = v[..., :, m:], grad_v[..., :, m:]
            outside -= matmul(matmul(first, grad_last, adjoint_a=True), last, adjoint_b=True)
        found += matmul(matmul(u, inverses), outside)
    if u.dtype.is_complex:
        phases: Any = array.matrix_diag(array.matrix_diag_part(products_v))
        twist = matmul(inverses, adjoint(phases) - phases)
        found += 0.5 * matmul(u, matmul(twist, first, adjoint_b=True))
    return found


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """The singular values of matrices, descending, and their left and right singular vectors.

    `tensor = u @ diag(s) @ adjoint(v)`. With `full_matrices` u and v are square; without
    `compute_uv` the result is the singular values alone.
    """
    s, u, v = Svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (casts.real(s), u, v) if compute_uv else casts.real(s)
