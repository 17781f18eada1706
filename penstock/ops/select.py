"""Choosing between two tensors, element by element or row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import shapes
from penstock.ir.registry import op
from penstock.ir.tensor import Tensor
from penstock.ops import array
from penstock.ops.broadcasting import BroadcastGradientArgs
from penstock.ops.shape_checks import merge_shapes
from penstock.shapes import Shape

__all__ = ["where_v2"]

Select = op("Select(condition: bool, t: T, e: T) -> output: T")
SelectV2 = op("SelectV2(condition: bool, t: T, e: T) -> output: T")


@Select.shape
def _(op: Any, condition: Shape, t: Shape, e: Shape) -> Shape:
    data = merge_shapes(t, e)
    if condition is None or condition == () or data is None:
        return data
    if len(condition) == 1 and data:  # one condition per row: checked, but no source of sizes
        merge_shapes(condition, data[:1])
        return data
    return merge_shapes(data, condition)


@SelectV2.shape
def _(op: Any, condition: Shape, t: Shape, e: Shape) -> Shape:
    return shapes.broadcast(condition, shapes.broadcast(t, e))


@Select.fold
@SelectV2.fold
def _(op: Any, condition: Any, t: Any, e: Any) -> Any:
    if op.type == "Select" and condition.ndim == 1 and t.ndim > 1:
        condition = condition.reshape(-1, *[1] * (t.ndim - 1))
    return np.where(condition, t, e)


@Select.gradient
def _(op: Any, grad: Any) -> Any:
    condition = op.inputs[0]
    nothing = array.zeros_like(op.inputs[1])
    return None, Select(condition, grad, nothing), Select(condition, nothing, grad)


@SelectV2.gradient
def _(op: Any, grad: Any) -> Any:
    condition, t, e = op.inputs
    nothing = array.zeros([], dtype=grad.dtype.base_dtype)
    chosen = SelectV2(condition, grad, nothing)
    shape_t, result = array.shape(t), array.shape(op.outputs[0])
    grad_t = _summed_to(chosen, shape_t, result)
    other = SelectV2(condition, nothing, grad)
    return None, grad_t, _summed_to(other, array.shape(e), result)


def _summed_to(grad: Any, shape: Tensor, result: Tensor) -> Tensor:
    """`grad`, of the shape `result`, summed to the shape of an operand."""
    from penstock.ops.reductions import reduce_sum

    axes, _ = BroadcastGradientArgs(shape, result)
    return array.reshape(reduce_sum(grad, axes, keepdims=True), shape)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """The elements of `x` where `condition` is true and of `y` elsewhere; all three broadcast.

    Without `x` and `y`, the positions at which `condition` is true.
    """
    if x is None and y is None:
        return array.where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return SelectV2(condition, x, y, name=name)
