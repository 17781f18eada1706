"""Rows dealt out to several tensors, and put together again."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.ir.constants import constant_value
from penstock.ir.dispatch import dispatched
from penstock.ir.operation import Operation
from penstock.ir.registry import op
from penstock.ir.tensor import Tensor
from penstock.ops.filling import range as range_
from penstock.ops.gather import gather
from penstock.ops.shape_checks import merge_shapes, merge_sizes
from penstock.ops.shaping import reshape, shape
from penstock.shapes import Shape

__all__ = ["dynamic_partition", "dynamic_stitch"]

DynamicPartition = op("DynamicPartition(data: T, partitions: int32) -> outputs: num_partitions*T")
DynamicStitch = op("DynamicStitch(indices: N*int32, data: N*T) -> merged: T")
ParallelDynamicStitch = op("ParallelDynamicStitch(indices: N*int32, data: N*T) -> merged: T")


def _merge_front(longer: Shape, front: Shape) -> Shape:
    """What is left of a shape that must begin with another one; None where that isn't known."""
    if longer is None or front is None:
        return None
    if len(longer) < len(front):
        raise ValueError(f"Shape must be at least rank {len(front)} but is rank {len(longer)}")
    for m, n in zip(longer, front, strict=False):
        merge_sizes(m, n)
    return longer[len(front) :]


@DynamicPartition.shape
def _(op: Operation, data: Shape, partitions: Shape) -> list[Shape]:
    rest = _merge_front(data, partitions)
    part: Shape = None if rest is None else (None, *rest)
    return [part] * op.attrs["num_partitions"]


@DynamicPartition.gradient
def _(op: Operation, *grads: Tensor) -> Any:
    from penstock.ops.reductions import reduce_prod

    data, partitions = op.inputs
    sizes = shape(partitions)
    # The rows' numbers, dealt out as the rows were, say where each gradient belongs.
    positions = reshape(range_(reduce_prod(sizes)), sizes)
    dealt = dynamic_partition(positions, partitions, op.attrs["num_partitions"])
    merged = ParallelDynamicStitch(dealt, list(grads))
    return [reshape(merged, shape(data)), None]


@dispatched
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> Any:
    """Deals the rows of `data` out to a list of tensors: `partitions` says which one gets each."""
    return DynamicPartition(data, partitions, num_partitions=num_partitions, name=name)


@DynamicStitch.shape
@ParallelDynamicStitch.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    count = op.attrs["N"]
    rest: Shape = None
    for indices, data in zip(inputs[:count], inputs[count:], strict=True):
        rest = merge_shapes(rest, _merge_front(data, indices))
    if rest is None:
        return None
    known = [constant_value(tensor) for tensor in op.inputs[:count]]
    if any(value is None for value in known):
        return (None, *rest)
    return (max((int(value.max()) + 1 for value in known if value.size), default=0), *rest)  # type: ignore[union-attr]


@DynamicStitch.fold
def _(op: Operation, *values: Any) -> Any:
    count = op.attrs["N"]
    sizes: Any = op.outputs[0]._shape
    merged = np.zeros(sizes, op.outputs[0].dtype.as_numpy_dtype)
    for indices, data in zip(values[:count], values[count:], strict=True):
        merged[indices] = data
    return merged


@DynamicStitch.gradient
@ParallelDynamicStitch.gradient
def _(op: Operation, grad: Tensor) -> Any:
    count = op.attrs["N"]
    return [None] * count + [gather(grad, indices) for indices in op.inputs[:count]]


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """One tensor of the rows of all `data`, each at the position that its entry in `indices` says.

    Where a position appears twice the later row counts.
    """
    return DynamicStitch(indices, data, name=name)
