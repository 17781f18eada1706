"""Products of a sparse matrix and a dense one."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_shape
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.gather import gather
from penstock.ops.matmul import matmul
from penstock.ops.permuting import transpose
from penstock.ops.reductions import reduce_sum
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.shaping import expand_dims, squeeze
from penstock.ops.sparse_structure import sparse_parts
from penstock.ops.sparse_tensors import as_sparse
from penstock.shapes import Shape

__all__ = ["sparse_tensor_dense_matmul"]

SparseTensorDenseMatMul = op(
    "SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T) -> product: T",
    Tindices=types(INDEX, default=dtypes.int64),
    adjoint_a=False,
    adjoint_b=False,
)


@SparseTensorDenseMatMul.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape, b: Shape) -> Shape:
    sparse_parts(indices, values, shape)
    height, width = with_rank(constant_shape(op.inputs[2]), 2)
    inner, columns = with_rank(b, 2)
    if op.attrs["adjoint_a"]:
        height, width = width, height
    if op.attrs["adjoint_b"]:
        inner, columns = columns, inner
    merge_sizes(width, inner)
    return (height, columns)


@SparseTensorDenseMatMul.gradient
def _(op: Any, grad: Any) -> Any:
    indices, values, sizes, b = op.inputs
    adjoint_a, adjoint_b = op.attrs["adjoint_a"], op.attrs["adjoint_b"]
    by_b = SparseTensorDenseMatMul(indices, values, sizes, grad, adjoint_a=not adjoint_a)
    if adjoint_b:
        by_b = transpose(by_b, conjugate=True)
    return None, _value_gradient(indices, grad, b, adjoint_a, adjoint_b), None, by_b


def _value_gradient(indices: Any, grad: Any, b: Any, adjoint_a: bool, adjoint_b: bool) -> Tensor:
    """Of the gradient by the whole matrix, a product, only what entries of `indices` get.

    Each is a product of a row of the result's gradient and a row of `b`.
    """
    rows, columns = indices[:, 0], indices[:, 1]
    of_grad = gather(grad, columns if adjoint_a else rows)
    of_b = gather(transpose(b) if adjoint_b else b, rows if adjoint_a else columns)
    if not grad.dtype.is_complex:
        return reduce_sum(of_grad * of_b, axis=1)
    turned = adjoint_a == adjoint_b
    products = matmul(
        expand_dims(of_grad, -1 if adjoint_a else -2),
        expand_dims(of_b, -2 if turned else -1),
        adjoint_a=adjoint_a,
        adjoint_b=turned,
    )
    return squeeze(products, axis=[-2, -1])


def sparse_tensor_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """The product of a sparse matrix and a dense one.

    Args:
      adjoint_a: Whether to use the conjugate transpose of `sp_a`; `adjoint_b` likewise.
    """
    sp_a = as_sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]):
        b = convert_to_tensor(b, name="b")
        return SparseTensorDenseMatMul(
            sp_a.indices,
            sp_a.values,
            sp_a.dense_shape,
            b,
            adjoint_a=adjoint_a,
            adjoint_b=adjoint_b,
        )
