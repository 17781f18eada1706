"""`tf.sort` and `tf.argsort`, made of TopK."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import filling
from penstock.ops.casts import cast
from penstock.ops.comparison import equal
from penstock.ops.elementwise import negative
from penstock.ops.permuting import transpose
from penstock.ops.shaping import rank, shape
from penstock.ops.topk import top_k

__all__ = ["argsort", "sort"]

_DIRECTIONS = ("ASCENDING", "DESCENDING")


def sort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """The values in order along an axis.

    Args:
      direction: `ASCENDING` or `DESCENDING`.
    """
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction)[0]


def argsort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The indices that put values in order along an axis; equal values keep their order.

    Args:
      direction: `ASCENDING` or `DESCENDING`.
    """
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction)[1]


def _sorted(values: Any, axis: Any, direction: str) -> tuple[Tensor, Tensor]:
    """The values in order along an axis, and their indices."""
    if direction not in _DIRECTIONS:
        raise ValueError(f"{direction} should be one of {', '.join(_DIRECTIONS)}")
    axis_tensor = convert_to_tensor(axis, name="axis")
    known_axis = constant_value(axis_tensor)
    if known_axis is None or known_axis.ndim != 0:
        raise ValueError("axis must be a constant scalar")
    tensor = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(tensor, int(known_axis))
    opposite, indices = _descending(_reversed_order(tensor), int(known_axis))
    return _reversed_order(opposite), indices


def _reversed_order(values: Tensor) -> Tensor:
    """A mapping that is its own inverse and puts the greatest last (also the least integer)."""
    dtype = values.dtype.base_dtype
    if dtype.is_unsigned:
        return dtype.max - values
    if dtype.is_integer:
        return -1 - values
    return negative(values)


def _descending(values: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    count = shape(values)[axis]
    ndims = values.shape.ndims
    if axis == -1 or axis + 1 == ndims:
        return top_k(values, count)
    swap = _swap_with_last(values, axis)
    ordered = top_k(transpose(values, swap), count)
    return transpose(ordered[0], swap), transpose(ordered[1], swap)


def _swap_with_last(values: Tensor, axis: int) -> Any:
    """The permutation of dimensions that swaps one with the last."""
    ndims = values.shape.ndims
    if ndims is not None:
        front = axis % ndims
        order = list(range(ndims))
        order[front], order[-1] = order[-1], order[front]
        return order
    count = rank(values)
    place = axis if axis >= 0 else axis + count
    places = filling.range(count)
    at_place, at_last = (cast(equal(places, each), dtypes.int32) for each in (place, count - 1))
    return places + (count - 1 - place) * (at_place - at_last)
