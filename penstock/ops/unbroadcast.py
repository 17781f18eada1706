"""Undoing broadcasting: a gradient is summed over the axes along which its input was stretched."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from penstock import shapes
from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.ir.tensor import Tensor
from penstock.ops import array
from penstock.ops.broadcasting import BroadcastGradientArgs
from penstock.ops.broadcasting import broadcast_axes as static_axes
from penstock.ops.shaping import shape_of

# The pairs of static shapes for which a graph holds a BroadcastGradientArgs: TensorFlow adds it
# once, for the first gradient that meets the pair.
_seen: WeakKeyDictionary[Graph, set[tuple[Any, Any]]] = WeakKeyDictionary()


class Stretch(NamedTuple):
    """How an op stretched an operand: the operand's shape, the axes, whether there were any."""

    shape: Any
    axes: Any
    happened: bool

    def undo(self, grad: Any) -> Any:
        """The operand's gradient, from the gradient of what it was stretched to."""
        return sum_to(grad, self.shape, self.axes) if self.happened else grad


def same_static_shape(*tensors: Any) -> bool:
    """Whether the shapes are fully known and all the same, so that nothing was broadcast."""
    first = tensors[0]
    return (
        isinstance(first, Tensor)
        and shapes.is_full(first._shape)
        and all(isinstance(t, Tensor) and t._shape == first._shape for t in tensors[1:])
    )


def stretches(x: Tensor, y: Tensor, grad: Any) -> tuple[Stretch, Stretch]:
    """How an op with the output gradient `grad` stretched `x` and `y` to one shape.

    Static shapes decide where they are fully known; else the step finds the axes.
    """
    known = isinstance(grad, Tensor) and shapes.is_full(x._shape) and shapes.is_full(y._shape)
    axes = static_axes(x._shape or (), y._shape or ()) if known else None
    if axes is None:
        optimize = not isinstance(grad, Tensor)
        shape_x, shape_y = shape_of(x, optimize=optimize), shape_of(y, optimize=optimize)
        axes_x, axes_y = BroadcastGradientArgs(shape_x, shape_y)
        return Stretch(shape_x, axes_x, True), Stretch(shape_y, axes_y, True)
    pairs = _seen.setdefault(get_default_graph(), set())
    if (x._shape, y._shape) not in pairs:
        pairs.add((x._shape, y._shape))
        BroadcastGradientArgs(x._shape, y._shape)
    return (
        Stretch(x._shape, axes[0], x._shape != grad._shape),
        Stretch(y._shape, axes[1], y._shape != grad._shape),
    )


def stretches_in_step(x: Tensor, y: Tensor) -> tuple[Stretch, Stretch]:
    """How an op stretched `x` and `y` to one shape, found by the step."""
    shape_x, shape_y, axes_x, axes_y = broadcast_axes(x, y)
    return Stretch(shape_x, axes_x, True), Stretch(shape_y, axes_y, True)


def broadcast_axes(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The shapes of `x` and `y` and the axes to sum their gradients over, found by the step."""
    shape_x, shape_y = array.shape(x), array.shape(y)
    axes_x, axes_y = BroadcastGradientArgs(shape_x, shape_y)
    return shape_x, shape_y, axes_x, axes_y


def sum_to(grad: Any, shape: Any, axes: Any) -> Tensor:
    """`grad` summed over `axes`, in the shape of the input that was stretched along them."""
    from penstock.ops.reductions import reduce_sum

    return array.reshape(reduce_sum(grad, axes), shape)
