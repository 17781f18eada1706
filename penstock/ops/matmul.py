"""Products of matrices, of batches of matrices, and of vectors in space."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, shapes
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING_COMPLEX, INDEX, REAL, SIGNED, UNSIGNED
from penstock.ops import array, casts, reductions
from penstock.ops.broadcasting import BroadcastGradientArgs
from penstock.ops.shape_checks import merge_shapes, with_rank, with_rank_at_least
from penstock.shapes import Shape

__all__ = ["cross", "matmul", "sparse_matmul"]

_BATCH_ATTRS: dict[str, Any] = dict.fromkeys(("adj_x", "adj_y", "grad_x", "grad_y"), False)
_SPARSE_TYPE = types(dtypes.float32, dtypes.bfloat16, default=dtypes.float32)
_INNER = types(FLOATING_COMPLEX, SIGNED, dtypes.uint8)

MatMul = op(
    "MatMul(a: T, b: T) -> product: T",
    transpose_a=False,
    transpose_b=False,
    T=types(FLOATING_COMPLEX, UNSIGNED, INDEX),
    grad_a=False,
    grad_b=False,
)
BatchMatMul = op(
    "BatchMatMul(x: T, y: T) -> output: T", T=types(FLOATING_COMPLEX, INDEX), **_BATCH_ATTRS
)
BatchMatMulV2 = op(
    "BatchMatMulV2(x: T, y: T) -> output: T",
    T=types(FLOATING_COMPLEX, UNSIGNED, dtypes.int16, dtypes.int32, dtypes.int64),
    **_BATCH_ATTRS,
)
BatchMatMulV3 = op(
    "BatchMatMulV3(x: Ta, y: Tb) -> output: Tout",
    Ta=_INNER,
    Tb=_INNER,
    Tout=types(FLOATING_COMPLEX, dtypes.int16, dtypes.int32, dtypes.int64),
    **_BATCH_ATTRS,
)
SparseMatMul = op(
    "SparseMatMul(a: Ta, b: Tb) -> product: float32",
    transpose_a=False,
    transpose_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    Ta=_SPARSE_TYPE,
    Tb=_SPARSE_TYPE,
)
Cross = op("Cross(a: T, b: T) -> product: T", T=REAL)


def _product_sizes(
    a: tuple[int | None, ...], b: tuple[int | None, ...], transpose_a: bool, transpose_b: bool
) -> tuple[int | None, int | None]:
    """Rows and columns of a product; ValueError where the inner sizes differ."""
    rows, inner_a = (a[1], a[0]) if transpose_a else a
    inner_b, columns = (b[1], b[0]) if transpose_b else b
    if inner_a is not None and inner_b is not None and inner_a != inner_b:
        raise ValueError(f"Dimensions must be equal, but are {inner_a} and {inner_b}")
    return rows, columns


@MatMul.shape
@SparseMatMul.shape
def _(op: Any, a: Shape, b: Shape) -> Shape:
    transposed = op.attrs["transpose_a"], op.attrs["transpose_b"]
    return _product_sizes(with_rank(a, 2), with_rank(b, 2), *transposed)


@BatchMatMul.shape
@BatchMatMulV2.shape
@BatchMatMulV3.shape
def _(op: Any, x: Shape, y: Shape) -> Shape:
    x, y = with_rank_at_least(x, 2), with_rank_at_least(y, 2)
    if x is None or y is None:
        return None
    sizes = _product_sizes(x[-2:], y[-2:], op.attrs["adj_x"], op.attrs["adj_y"])
    if op.type == "BatchMatMul":
        return (*(merge_shapes(x[:-2], y[:-2]) or ()), *sizes)
    return (*(shapes.broadcast(x[:-2], y[:-2]) or ()), *sizes)


@Cross.shape
def _(op: Any, a: Shape, b: Shape) -> Shape:
    both = with_rank_at_least(merge_shapes(a, b), 1)
    if both is not None and both[-1] not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {both[-1]}")
    return both


# Gradients ------------------------------------------------------------------------------------
#
# For C = A B, dA = dC B' and dB = A' dC. Where A enters transposed, its gradient is the transpose
# of that: the factors swap places, each transposed.


@MatMul.gradient
def _(op: Any, grad: Any) -> Any:
    turn_a, turn_b = op.attrs["transpose_a"], op.attrs["transpose_b"]
    a, b = casts.conj(op.inputs[0]), casts.conj(op.inputs[1])
    if turn_a:
        grad_a = MatMul(b, grad, transpose_a=turn_b, transpose_b=True)
    else:
        grad_a = MatMul(grad, b, transpose_b=not turn_b)
    if turn_b:
        grad_b = MatMul(grad, a, transpose_a=True, transpose_b=turn_a)
    else:
        grad_b = MatMul(a, grad, transpose_a=not turn_a)
    return grad_a, grad_b


@SparseMatMul.gradient
def _(op: Any, grad: Any) -> Any:
    turn_a, turn_b = op.attrs["transpose_a"], op.attrs["transpose_b"]
    a, b = op.inputs
    sparse = {a: op.attrs["a_is_sparse"], b: op.attrs["b_is_sparse"], grad: _is_rectified(grad)}

    def product(x: Any, y: Any, like: Any, turn_x: bool = False, turn_y: bool = False) -> Any:
        x_is_sparse, y_is_sparse = sparse[x], sparse[y]
        if turn_y:
            y, turn_y = array.transpose(y), False
        result = matmul(x, y, turn_x, turn_y, a_is_sparse=x_is_sparse, b_is_sparse=y_is_sparse)
        return casts.cast(result, like.dtype)

    if not turn_a and not turn_b:
        return product(grad, b, a, turn_y=True), product(a, grad, b, turn_x=True)
    if not turn_a:
        return product(grad, b, a), product(grad, a, b, turn_x=True)
    if not turn_b:
        return product(b, grad, a, turn_y=True), product(a, grad, b)
    return product(b, grad, a, True, True), product(grad, a, b, True, True)


def _is_rectified(grad: Any) -> bool:
    """Whether many entries of a gradient are zeros: it comes from a rectifier."""
    return grad._op.type == "ReluGrad"


def _batch_gradients(op: Any, grad: Any) -> tuple[Any, Any]:
    x, y = op.inputs
    turn_x, turn_y = op.attrs["adj_x"], op.attrs["adj_y"]

    def product(a: Any, b: Any, turn_a: bool, turn_b: bool) -> Any:
        return BatchMatMulV2(a, b, adj_x=turn_a, adj_y=turn_b, name="MatMul")

    if turn_x:
        grad_x = product(y, grad, turn_y, True)
    else:
        grad_x = product(grad, y, False, not turn_y)
    if turn_y:
        grad_y = product(grad, x, True, turn_x)
    else:
        grad_y = product(x, grad, not turn_x, False)
    return grad_x, grad_y


@BatchMatMul.gradient
def _(op: Any, grad: Any) -> Any:
    return _batch_gradients(op, grad)


@BatchMatMulV2.gradient
@BatchMatMulV3.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    grad_x, grad_y = _batch_gradients(op, grad)
    if shapes.is_full(x._shape) and x._shape == y._shape:
        return grad_x, grad_y
    shape_x: Any = array.shape(x)
    shape_y: Any = array.shape(y)
    axes_x, axes_y = BroadcastGradientArgs(shape_x[:-2], shape_y[:-2])
    return (
        array.reshape(reductions.reduce_sum(grad_x, axes_x), shape_x),
        array.reshape(reductions.reduce_sum(grad_y, axes_y), shape_y),
    )


@Cross.gradient
def _(op: Any, grad: Any) -> Any:
    a, b = op.inputs
    return cross(b, grad), cross(grad, a)


# Public functions -----------------------------------------------------------------------------


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices, or of the matrices in the last two dimensions of larger tensors.

    `transpose_…` uses a factor transposed, `adjoint_…` transposed and conjugated; `…_is_sparse`
    says that a matrix has many zeros.
    """
    if transpose_a and adjoint_a:
        raise ValueError("Only one of transpose_a and adjoint_a can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("Only one of transpose_b and adjoint_b can be True.")
    with name_scope(name, "MatMul", [a, b]) as scope:
        a = to_tensor(a, name="a")
        b = to_tensor(b, name="b", preferred_dtype=a.dtype.base_dtype)
        sparse = a_is_sparse or b_is_sparse
        if not sparse and (_may_be_batch(a) or _may_be_batch(b)):
            a, b = (casts.conj(a) if transpose_a else a), (casts.conj(b) if transpose_b else b)
            turned = {"adj_x": transpose_a or adjoint_a, "adj_y": transpose_b or adjoint_b}
            return BatchMatMulV2(a, b, name=scope, **turned)
        a, b = (casts.conj(a) if adjoint_a else a), (casts.conj(b) if adjoint_b else b)
        turned = {"transpose_a": transpose_a or adjoint_a, "transpose_b": transpose_b or adjoint_b}
        if not (_sparse_types(a, b) and (sparse or a.dtype.base_dtype is not b.dtype.base_dtype)):
            return MatMul(a, b, name=scope, **turned)
        product = SparseMatMul(
            a, b, a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse, name=scope, **turned
        )
        both_narrow = a.dtype.base_dtype is b.dtype.base_dtype is dtypes.bfloat16
        return casts.cast(product, dtypes.bfloat16) if both_narrow else product


def _may_be_batch(x: Tensor) -> bool:
    return x._shape is None or len(x._shape) > 2


def _sparse_types(a: Tensor, b: Tensor) -> bool:
    return all(x.dtype.base_dtype in (dtypes.bfloat16, dtypes.float32) for x in (a, b))


def sparse_matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices of which one has many zeros."""
    return SparseMatMul(
        a,
        b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse,
        name=name,
    )


def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross products of the vectors along the last dimension, which has size 3."""
    return Cross(a, b, name=name)
