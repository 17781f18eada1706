"""Rows of a tensor replaced, or added to.

TensorFlow's functions of these names write into the memory of their input; here they give a new
tensor, and the plan reuses memory where nobody else reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir.convert import to_tensor
from penstock.ir.registry import STATEFUL, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops import array, casts
from penstock.ops.filling import Empty
from penstock.shapes import Shape

__all__ = [
    "alias_inplace_add",
    "alias_inplace_sub",
    "alias_inplace_update",
    "inplace_add",
    "inplace_sub",
    "inplace_update",
]

InplaceUpdate = op("InplaceUpdate(x: T, i: int32, v: T) -> y: T")
InplaceAdd = op("InplaceAdd(x: T, i: int32, v: T) -> y: T")
InplaceSub = op("InplaceSub(x: T, i: int32, v: T) -> y: T")
DeepCopy = op("DeepCopy(x: T) -> y: T", STATEFUL)
not_differentiable(InplaceUpdate, InplaceAdd, InplaceSub, DeepCopy)


@InplaceUpdate.shape
@InplaceAdd.shape
@InplaceSub.shape
def _(op: Any, x: Shape, i: Shape, v: Shape) -> Shape:
    return x


@DeepCopy.shape
def _(op: Any, x: Shape) -> Shape:
    return x


def _with_rows(x: Any, i: Any, v: Any, change: Callable[..., Tensor]) -> Tensor:
    """Changes the rows `i`: all if None, one if it is a number, else those that it lists."""
    x = to_tensor(x)
    v = casts.cast(to_tensor(v), x.dtype)
    if i is None:
        flat = change(array.reshape(x, [1, -1]), [0], array.reshape(v, [1, -1]))
        return array.reshape(flat, array.shape(x))
    i = casts.cast(to_tensor(i), "int32")
    if i.get_shape().ndims == 0:
        return change(x, array.reshape(i, [1]), array.expand_dims(v, 0))
    return change(x, i, v)


def inplace_update(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with the rows `i` replaced by `v`; all of it if `i` is None."""
    return _with_rows(x, i, v, InplaceUpdate)


def inplace_add(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with `v` added to the rows `i`."""
    return _with_rows(x, i, v, InplaceAdd)


def inplace_sub(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with `v` subtracted from the rows `i`."""
    return _with_rows(x, i, v, InplaceSub)


def empty_like(x: Any, init: bool | None = None) -> Tensor:
    """A tensor of the type and shape of `x`, of zeros if `init`, else of any values."""
    x = to_tensor(x)
    return Empty(array.shape(x), dtype=x.dtype, init=bool(init))


alias_inplace_update, alias_inplace_add, alias_inplace_sub = (
    inplace_update,
    inplace_add,
    inplace_sub,
)
