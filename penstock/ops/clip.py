"""Clipping: to a range of values, or to a largest norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, NUMERIC
from penstock.ops import array, binary, casts, elementwise, reductions
from penstock.ops.broadcasting import BroadcastGradientArgs
from penstock.ops.comparison import greater, less, logical_or
from penstock.ops.constants import constant
from penstock.ops.unbroadcast import sum_to
from penstock.shapes import Shape

__all__ = [
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "global_norm",
    "l2_loss",
]

ClipByValue = op("ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> output: T", T=NUMERIC)
L2Loss = op("L2Loss(t: T) -> output: T", T=FLOATING)


@ClipByValue.shape
def _(op: Any, t: Shape, low: Shape, high: Shape) -> Shape:
    return t


@L2Loss.shape
def _(op: Any, t: Shape) -> Shape:
    return ()


@ClipByValue.gradient
def _(op: Any, grad: Any) -> Any:
    x, low, high = op.inputs
    shape_x, shape_low, shape_high = (array.shape(tensor) for tensor in op.inputs)
    nothing = array.zeros(array.shape(grad), dtype=grad.dtype)
    below, above = less(x, low), greater(x, high)
    axes_low = BroadcastGradientArgs(shape_x, shape_low).r1
    axes_high = BroadcastGradientArgs(shape_x, shape_high).r1
    grad_x = array.where(logical_or(below, above), nothing, grad)
    grad_low, grad_high = array.where(below, grad, nothing), array.where(above, grad, nothing)
    return (
        grad_x,
        sum_to(grad_low, shape_low, axes_low),
        sum_to(grad_high, shape_high, axes_high),
    )


@L2Loss.gradient
def _(op: Any, grad: Any) -> Any:
    return op.inputs[0] * grad


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of the squares of all elements."""
    return L2Loss(t, name=name)


@dispatched
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Values below `clip_value_min` become it, values above `clip_value_max` that."""
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = _values(t)
        from_above = binary.minimum(values, clip_value_max)
        from_above.shape.assert_is_compatible_with(values.shape)
        clipped = binary.maximum(from_above, clip_value_min, name=scope)
        clipped.shape.assert_is_compatible_with(values.shape)
        return _like(t, clipped)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Scales `t` down to an L2 norm of `clip_norm`, over all elements or along `axes`."""
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values: Any = _values(t)
        squares = reductions.reduce_sum(values * values, axes, keepdims=True)
        # The root of 0 has an infinite slope: its gradient would be NaN.
        positive = squares > 0
        safe = array.where(positive, squares, array.ones_like(squares))
        norm = array.where(positive, elementwise.sqrt(safe), squares)
        intermediate = values * clip_norm
        _ = values.shape.merge_with(intermediate.shape)
        clipped = intermediate / binary.maximum(norm, clip_norm)
        return _like(t, array.identity(clipped, name=scope))


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """Scales `t` down so that its L2 norm divided by its number of elements is `clip_norm`."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = to_tensor(t, name="t")
        count = casts.cast(array.size(t), dtypes.float32)
        squares = t * t
        total = reductions.reduce_sum(squares, array.range(array.rank(t)))
        inverse_norm: Any = elementwise.rsqrt(total)
        intermediate = t * clip_norm
        scale = binary.minimum(inverse_norm * count, constant(1.0) / clip_norm)
        return array.identity(intermediate * scale, name=scope)


def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The L2 norm of all elements of all tensors together; None entries are skipped."""
    _check_list(t_list)
    t_list = list(t_list)
    with name_scope(name, "global_norm", [t for t in t_list if t is not None]):
        values = [
            _values(t) if t is None or isinstance(t, IndexedSlices) else to_tensor(t, name=f"t_{i}")
            for i, t in enumerate(t_list)
            if t is not None
        ]
        halves = []
        for value in values:
            with get_default_graph().colocate_with(value._op):
                halves.append(l2_loss(value))
        half_square: Any = reductions.reduce_sum(array.stack(halves))
        doubled = half_square * constant(2.0, dtype=half_square.dtype)
        return elementwise.sqrt(doubled, name="global_norm")


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """Scales all tensors by one factor so that their global norm is at most `clip_norm`.

    Returns the scaled tensors and the global norm before scaling, which `use_norm` may give.
    """
    _check_list(t_list)
    t_list = list(t_list)
    norm: Any = global_norm(t_list, name) if use_norm is None else use_norm
    given = [t for t in t_list if t is not None]
    with name_scope(name, "clip_by_global_norm", [*given, clip_norm]) as scope:
        scale = clip_norm * binary.minimum(1.0 / norm, constant(1.0, dtype=norm.dtype) / clip_norm)
        # An infinite norm makes the result NaN, so that training notices it.
        finite = elementwise.is_finite(norm)
        scale = array.where(finite, scale, constant(float("nan"), dtype=norm.dtype))
        clipped: list[Any] = []
        for i, t in enumerate(t_list):
            clipped.append(None if t is None else _scaled(t, scale, f"{scope}_{i}"))
        return clipped, norm


def _scaled(t: Any, scale: Any, name: str) -> Any:
    values: Any = _values(t) if isinstance(t, IndexedSlices) else to_tensor(t)
    with get_default_graph().colocate_with(values._op):
        return _like(t, array.identity(values * scale, name=name))


def _check_list(t_list: Any) -> None:
    if isinstance(t_list, (str, Tensor, np.ndarray)) or not hasattr(t_list, "__iter__"):
        raise TypeError("t_list should be a sequence")


def _values(t: Any) -> Tensor:
    return t.values if isinstance(t, IndexedSlices) else to_tensor(t, name="t")


def _like(t: Any, values: Tensor) -> Any:
    """`values` in the form of `t`: slices stay slices."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(values, t.indices, t.dense_shape)
    return values
