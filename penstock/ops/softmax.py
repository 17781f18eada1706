"""Softmax and log-softmax along any dimension."""

from __future__ import annotations

from typing import Any

from penstock import errors
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.registry import op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING
from penstock.ops.binary import subtract
from penstock.ops.comparison import less
from penstock.ops.elementwise import exp
from penstock.ops.filling import range as count
from penstock.ops.joining import concat
from penstock.ops.masking import where
from penstock.ops.permuting import transpose
from penstock.ops.reductions import reduce_sum
from penstock.ops.shape_checks import with_rank_at_least
from penstock.ops.shaping import rank, renamed_argument
from penstock.shapes import Shape

__all__ = ["log_softmax", "softmax"]

Softmax = op("Softmax(logits: T) -> softmax: T", T=FLOATING)
LogSoftmax = op("LogSoftmax(logits: T) -> logsoftmax: T", T=FLOATING)


@Softmax.shape
@LogSoftmax.shape
def _(op: Any, logits: Shape) -> Shape:
    return with_rank_at_least(logits, 1)


@Softmax.gradient
def _(op: Any, grad: Tensor) -> Any:
    probabilities = op.outputs[0]
    total = reduce_sum(grad * probabilities, -1, keepdims=True)
    return (grad - total) * probabilities


@LogSoftmax.gradient
def _(op: Any, grad: Tensor) -> Any:
    probabilities = exp(op.outputs[0])
    return grad - reduce_sum(grad, -1, keepdims=True) * probabilities


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """exp(x), scaled to sum to one along `axis` (the last by default)."""
    axis = renamed_argument("axis", axis, "dim", dim)
    return _along(Softmax, logits, -1 if axis is None else axis, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """The logarithm of `softmax`, computed without the loss of digits of taking it."""
    axis = renamed_argument("axis", axis, "dim", dim)
    return _along(LogSoftmax, logits, -1 if axis is None else axis, name)


def _along(spec: Any, logits: Any, axis: Any, name: str | None) -> Tensor:
    """Applies an op for the last dimension along another one, by swapping the two."""
    logits = convert_to_tensor(logits)
    ndims = logits.get_shape().ndims
    if isinstance(axis, Tensor):
        known = constant_value(axis)
        if known is None:
            return _along_computed(spec, logits, axis, name)
        axis = int(known)
    if axis == -1 or (ndims is not None and axis == ndims - 1):
        return spec(logits, name=name)
    if ndims is not None and not -ndims <= axis < ndims:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Dimension ({axis}) must be in the range [{-ndims}, {ndims}) where {ndims} is the "
            "number of dimensions in the input.",
        )
    dimensions = rank(logits)
    axis = axis + dimensions if axis < 0 else axis
    dimensions = rank(logits)
    if ndims is not None:
        axis = axis % ndims
    swapped = _swapped(logits, axis, subtract(dimensions, 1))
    return _swapped(spec(swapped), axis, subtract(dimensions, 1), name)


def _along_computed(spec: Any, logits: Tensor, axis: Any, name: str | None) -> Tensor:
    """The same for an axis that a step computes; it must not be the last one."""
    dimensions = rank(logits)
    axis = where(less(axis, 0), axis + dimensions, axis)
    if logits.get_shape().ndims is not None:
        axis = axis % logits.get_shape().ndims
    last = subtract(dimensions, 1)
    result = _swapped(spec(_swapped(logits, axis, last)), axis, last, name)
    result.set_shape(logits.get_shape())
    return result


def _swapped(tensor: Tensor, axis: Any, last: Tensor, name: str | None = None) -> Tensor:
    """The tensor with dimensions `axis` and `last` in each other's place."""
    order = concat([count(axis), [last], count(axis + 1, last), [axis]], 0)
    return transpose(tensor, order, name=name or "transpose")
