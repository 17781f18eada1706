"""Undoing broadcasting: a gradient is summed over the axes along which its input was stretched."""

from __future__ import annotations

from typing import Any

from penstock import shapes
from penstock.ir.tensor import Tensor
from penstock.ops import array
from penstock.ops.broadcasting import BroadcastGradientArgs
from penstock.shapes import Shape


def same_static_shape(*tensors: Any) -> bool:
    """Whether the shapes are fully known and all the same, so that nothing was broadcast."""
    first = tensors[0]
    return (
        isinstance(first, Tensor)
        and shapes.is_full(first._shape)
        and all(isinstance(t, Tensor) and t._shape == first._shape for t in tensors[1:])
    )


def unbroadcast(x: Tensor, y: Tensor, grad_x: Any, grad_y: Any) -> tuple[Any, Any]:
    """Sums the gradients of an op that broadcast `x` with `y` down to their shapes.

    Either gradient may be None. Static shapes decide the axes where they can; else the step does.
    """
    shape_x, shape_y = array.shape(x), array.shape(y)
    known = _stretched_axes(x._shape, y._shape)
    if known is not None:
        axes_x, axes_y = known
    else:
        axes_x, axes_y = BroadcastGradientArgs(shape_x, shape_y)
    return _summed(grad_x, shape_x, axes_x), _summed(grad_y, shape_y, axes_y)


def broadcast_axes(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The shapes of `x` and `y` and the axes to sum their gradients over, found by the step."""
    shape_x, shape_y = array.shape(x), array.shape(y)
    axes_x, axes_y = BroadcastGradientArgs(shape_x, shape_y)
    return shape_x, shape_y, axes_x, axes_y


def sum_to(grad: Any, shape: Tensor, axes: Any) -> Tensor:
    """`grad` summed over `axes`, in the shape of the input that was stretched along them."""
    from penstock.ops.reductions import reduce_sum

    return array.reshape(reduce_sum(grad, axes), shape)


def _summed(grad: Any, shape: Tensor, axes: Any) -> Any:
    from penstock.ops.reductions import reduce_sum

    if grad is None or axes is None:
        return grad
    return array.reshape(reduce_sum(grad, axes, keepdims=True), shape)


def _stretched_axes(x: Shape, y: Shape) -> tuple[list[int] | None, list[int] | None] | None:
    """For each operand the axes along which it was stretched, None if its shape is the result's.

    None as a whole where static shapes don't decide it.
    """
    if x is None or y is None:
        return None
    rank = max(len(x), len(y))
    sizes_x, sizes_y = (1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y
    axes_x: list[int] = []
    axes_y: list[int] = []
    for axis, (size_x, size_y) in enumerate(zip(sizes_x, sizes_y, strict=True)):
        if size_x is not None and size_x == size_y:
            continue
        if size_x == 1:
            axes_x.append(axis)
        elif size_y == 1:
            axes_y.append(axis)
        else:
            return None
    return (
        axes_x if axes_x or len(x) < rank else None,
        axes_y if axes_y or len(y) < rank else None,
    )
