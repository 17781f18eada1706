"""The largest entries of rows, and whether a target is among them."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX, REAL
from penstock.ops.casts import cast
from penstock.ops.filling import range as count
from penstock.ops.filling import zeros
from penstock.ops.gather import gather
from penstock.ops.joining import stack
from penstock.ops.reductions import reduce_prod
from penstock.ops.scatter import scatter_nd
from penstock.ops.shape_checks import check_scalar_input, merge_sizes, with_rank, with_rank_at_least
from penstock.ops.shaping import expand_dims, reshape, shape, size
from penstock.shapes import Shape

__all__ = ["in_top_k", "top_k"]

_INDEX_TYPES = types(dtypes.int16, dtypes.int32, dtypes.int64, default=dtypes.int32)

TopK = op(
    "TopK(input: T) -> values: T, indices: int32", k=attr("int", minimum=0), sorted=True, T=REAL
)
TopKV2 = op(
    "TopKV2(input: T, k: Tk) -> values: T, indices: index_type",
    sorted=True,
    T=REAL,
    Tk=_INDEX_TYPES,
    index_type=_INDEX_TYPES,
)
InTopK = op(
    "InTopK(predictions: float32, targets: T) -> precision: bool",
    k=attr("int"),
    T=types(INDEX, default=dtypes.int32),
)
InTopKV2 = op(
    "InTopKV2(predictions: float32, targets: T, k: T) -> precision: bool",
    T=types(INDEX, default=dtypes.int32),
)
not_differentiable(InTopK, InTopKV2)


@TopK.shape
def _(op: Any, input: Shape) -> Any:
    return _chosen(input, op.attrs["k"])


@TopKV2.shape
def _(op: Any, input: Shape, k: Shape) -> Any:
    check_scalar_input(k)
    known = constant_value(op.inputs[1])
    if known is not None and known < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {int(known)}"
        )
    return _chosen(input, None if known is None else int(known))


def _chosen(input: Shape, k: int | None) -> list[Shape]:
    input = with_rank_at_least(input, 1)
    if input is None:
        return [None, None]
    if k is not None and input[-1] is not None and input[-1] < k:
        raise ValueError(f"input must have last dimension >= k = {k} but is {input[-1]}")
    return [(*input[:-1], k)] * 2


@InTopK.shape
@InTopKV2.shape
def _(op: Any, predictions: Shape, targets: Shape, k: Shape = ()) -> Any:
    rows, _ = with_rank(predictions, 2)
    (number,) = with_rank(targets, 1)
    if k:
        raise ValueError(f"Shape must be rank 0 but is rank {len(k)}")
    return (merge_sizes(rows, number),)


@TopK.gradient
@TopKV2.gradient
def _(op: Any, grad: Tensor, _: Any) -> Any:
    """Gradients go back to where the values came from; the rest is zero."""
    sizes, chosen = shape(op.inputs[0]), shape(op.outputs[1])
    last_chosen = gather(cast(chosen, dtypes.int64), size(chosen) - 1)
    columns = reshape(op.outputs[1], stack([-1, last_chosen]))
    last: Any = gather(cast(sizes, dtypes.int64), size(sizes) - 1)
    rows: Any = shape(columns)
    starts = count(0, cast(rows[0], dtypes.int64) * last, last)
    offsets = cast(expand_dims(starts, -1), op.outputs[1].dtype)
    flat = reshape(columns + offsets, [-1])
    spread = scatter_nd(expand_dims(flat, -1), reshape(grad, [-1]), [reduce_prod(sizes)])
    by_input = reshape(spread, sizes)
    return by_input if len(op.inputs) == 1 else (by_input, zeros([], dtype=dtypes.int32))


def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    name: str | None = None,
    index_type: Any = dtypes.int32,
) -> Any:
    """The `k` largest entries of the last dimension, and where they stand.

    Of equal entries the one with the lower index comes first.
    """
    return TopKV2(input, k, sorted=sorted, index_type=index_type, name=name)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the prediction for each row's target class is among the row's `k` largest."""
    with name_scope(name, "in_top_k"):
        return InTopKV2(predictions, targets, k, name=name)
