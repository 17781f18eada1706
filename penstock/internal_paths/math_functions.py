"""What `tensorflow.python.ops.math_ops` has besides the public API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.composite import IndexedSlices
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.filling import fill
from penstock.ops.filling import range as range_
from penstock.ops.partitioning import dynamic_stitch
from penstock.ops.shaping import shape, size

__all__ = [
    "_as_indexed_slices",
    "_as_indexed_slices_list",
    "reduced_shape",
    "tensor_equals",
    "tensor_not_equals",
]


def tensor_equals(self: Any, other: Any) -> bool:
    """What `==` of tensors says in a graph: whether they are the same object."""
    return self is other


def tensor_not_equals(self: Any, other: Any) -> bool:
    """What `!=` of tensors says in a graph."""
    return self is not other


def _as_indexed_slices(x: Any, optimize: bool = True) -> IndexedSlices:
    """A tensor as the slices of all its rows; slices stay as they are."""
    if isinstance(x, IndexedSlices):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(x)}")
    sizes: Any = shape(x)
    return IndexedSlices(x, range_(0, sizes[0]), sizes)


def _as_indexed_slices_list(inputs: Sequence[Any], optimize: bool = True) -> list[IndexedSlices]:
    """`_as_indexed_slices` of each input, all with indices of the wider type."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected a list or tuple, not a {type(inputs)}")
    slices = [_as_indexed_slices(each) for each in inputs]
    if len({each.indices.dtype for each in slices}) == 1:
        return slices
    return [
        IndexedSlices(each.values, cast(each.indices, dtypes.int64), each.dense_shape)
        for each in slices
    ]


def reduced_shape(input_shape: Any, axes: Any) -> Tensor:
    """A tensor's shape after a reduction that keeps the axes, with size 1."""
    sizes = cast(input_shape, dtypes.int32)
    rank = size(sizes)
    positions = (cast(axes, dtypes.int32) + rank) % rank
    return dynamic_stitch([range_(rank), positions], [sizes, fill(shape(positions), 1)])
