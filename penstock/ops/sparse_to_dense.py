"""Dense tensors with values at given positions."""

from __future__ import annotations

from typing import Any

from penstock.ir.constants import constant_shape
from penstock.ir.registry import op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.filling import zeros_like
from penstock.ops.gather import gather_nd
from penstock.ops.reductions import reduce_sum
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = ["sparse_to_dense"]

SparseToDense = op(
    "SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, "
    "default_value: T) -> dense: T",
    validate_indices=True,
    Tindices=INDEX,
)


@SparseToDense.shape
def _(op: Any, indices: Shape, output_shape: Shape, values: Shape, default: Shape) -> Shape:
    with_rank(output_shape, 1)
    return constant_shape(op.inputs[1])


@SparseToDense.gradient
def _(op: Any, grad: Tensor) -> Any:
    indices, output_shape, _, _ = op.inputs
    by_values: Any = gather_nd(grad, indices)
    total: Any = reduce_sum(grad)
    by_default = total - reduce_sum(by_values)
    return zeros_like(indices), zeros_like(output_shape), by_values, by_default


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A tensor of shape `output_shape` with `sparse_values` at `sparse_indices`.

    Args:
      sparse_indices: A position, a vector of them, or a matrix of one row of indices each.
      sparse_values: One value per position, or one for all.
      default_value: The value everywhere else.
      validate_indices: Whether positions must be in ascending order without repetition.
    """
    return SparseToDense(
        sparse_indices,
        output_shape,
        sparse_values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )
