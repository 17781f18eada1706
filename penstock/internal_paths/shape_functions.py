"""`tensorflow.python.framework.common_shapes`: shape rules of old, and broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.shapes import TensorShape, broadcast

#: Gives the shapes of a node's results.
ShapeFunction = Callable[[Operation], list[TensorShape]]


def has_fully_defined_shape(tensor: Any) -> bool:
    return bool(tensor.shape.is_fully_defined())


def rank(tensor: Any) -> int | None:
    """A tensor's rank; None for what is none."""
    return tensor.shape.ndims if isinstance(tensor, Tensor) else None


def scalar_shape(unused_op: Operation) -> list[TensorShape]:
    return [TensorShape([])]


def no_outputs(unused_op: Operation) -> list[TensorShape]:
    return []


def unchanged_shape(op: Operation) -> list[TensorShape]:
    return [op.inputs[0].get_shape()]


def unchanged_shape_with_rank(rank: int) -> ShapeFunction:
    return lambda op: [op.inputs[0].get_shape().with_rank(rank)]


def unchanged_shape_with_rank_at_least(rank: int) -> ShapeFunction:
    return lambda op: [op.inputs[0].get_shape().with_rank_at_least(rank)]


def unchanged_shape_with_rank_at_most(rank: int) -> ShapeFunction:
    return lambda op: [op.inputs[0].get_shape().with_rank_at_most(rank)]


def is_broadcast_compatible(shape_x: TensorShape, shape_y: TensorShape) -> bool:
    """Whether two shapes of known ranks can be broadcast to one."""
    if shape_x.ndims is None or shape_y.ndims is None:
        return False
    try:
        broadcast_shape(shape_x, shape_y)
    except ValueError:
        return False
    return True


def broadcast_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The shape that two shapes are broadcast to."""
    if shape_x.ndims is None or shape_y.ndims is None:
        return TensorShape(None)
    try:
        return TensorShape(broadcast(tuple(shape_x.as_list()), tuple(shape_y.as_list())))
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: {shape_x} and {shape_y}") from None
