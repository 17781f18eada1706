"""Strings joined: several tensors element by element, the entries of an axis, of a segment."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.ir.constants import constant_value
from penstock.ir.convert import to_tensor
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops import array
from penstock.ops.constants import constant
from penstock.ops.filling import range as sequence
from penstock.ops.reductions import chosen_axis, keeps
from penstock.ops.shape_checks import merge_shapes, with_rank, with_rank_at_most
from penstock.shapes import Shape

__all__ = ["reduce_join", "string_join"]

StringJoin = op(
    "StringJoin(inputs: N*string) -> output: string", N=attr("int", minimum=0), separator=""
)
ReduceJoin = op(
    "ReduceJoin(inputs: string, reduction_indices: int32) -> output: string",
    keep_dims=False,
    separator="",
)
UnsortedSegmentJoin = op(
    "UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments) "
    "-> output: string",
    separator="",
    Tindices=INDEX,
    Tnumsegments=types(INDEX, default=dtypes.int32),
)
not_differentiable(StringJoin, ReduceJoin)


@StringJoin.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    """Scalars go with every shape; the others must all have the same."""
    if all(shape == () for shape in inputs):
        return ()
    result: Shape = None
    for shape in inputs:
        if shape is not None and shape != ():
            result = merge_shapes(result, shape)
    return result


@ReduceJoin.shape
def _(op: Operation, inputs: Shape, axes: Shape) -> Shape:
    with_rank_at_most(axes, 1)
    known = constant_value(op.inputs[1])
    if known is None or inputs is None:
        return (None,) * len(inputs) if inputs is not None and op.attrs["keep_dims"] else None
    rank = len(inputs)
    joined = set()
    for axis in known.reshape(-1).tolist():
        if not -rank <= axis < rank:
            raise ValueError(
                f"Invalid reduction dimension {axis} for input with {rank} dimensions."
            )
        joined.add(axis % rank)
    if op.attrs["keep_dims"]:
        return tuple([1 if axis in joined else size for axis, size in enumerate(inputs)])
    return tuple([size for axis, size in enumerate(inputs) if axis not in joined])


@UnsortedSegmentJoin.shape
def _(op: Operation, inputs: Shape, ids: Shape, num_segments: Shape) -> Shape:
    with_rank(num_segments, 0)
    if inputs is None or ids is None:
        return None
    if len(ids) > len(inputs) or not shapes.compatible(ids, inputs[: len(ids)]):
        raise ValueError(
            f"inputs of shape {shapes.text(inputs)} must start with the shape of segment_ids, "
            f"{shapes.text(ids)}"
        )
    known = constant_value(op.inputs[2])
    if known is not None and known < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 2, must be non-negative but is {known}"
        )
    return (None if known is None else int(known), *inputs[len(ids) :])


@dispatched
def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Joins tensors of strings element by element; a scalar goes with every element."""
    if isinstance(inputs, (list, tuple)) and not inputs:
        raise ValueError(
            "List argument 'inputs' to 'StringJoin' Op with length 0 shorter than minimum length 1."
        )
    return StringJoin(inputs, separator=separator, name=name)


@dispatched
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Joins the strings along `axis`, or along several axes, the first of which varies fastest.

    Without `axis` all strings are joined, row by row.
    """
    keep = keeps(keepdims, keep_dims)
    axis = chosen_axis(axis, reduction_indices)
    with name_scope(None, "ReduceJoin", [inputs, axis]):
        strings = to_tensor(inputs)
        if axis is None:
            axis = _axes_from_the_last(strings)
        return ReduceJoin(strings, axis, keep_dims=keep, separator=separator, name=name)


def _axes_from_the_last(strings: Tensor) -> Tensor:
    rank = strings.shape.ndims
    if rank is not None:
        return constant(np.arange(rank - 1, -1, -1), dtype=dtypes.int32)
    last: Any = array.rank(strings)
    return sequence(last - 1, -1, -1)


def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Tensor:
    """Joins the strings, or rows of strings, that have the same id."""
    return UnsortedSegmentJoin(inputs, segment_ids, num_segments, separator=separator, name=name)
