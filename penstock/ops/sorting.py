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
from penstock.ops.constants import constant
from penstock.ops.elementwise import negative
from penstock.ops.permuting import transpose
from penstock.ops.shaping import rank, shape
from penstock.ops.topk import top_k

__all__ = ["argsort", "sort"]

_DIRECTIONS = ("ASCENDING", "DESCENDING")
VALUES, INDICES = 0, 1  # the outputs of TopK


def sort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """The values in order along an axis.

    Args:
      direction: `ASCENDING` or `DESCENDING`.
    """
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, VALUES)


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
        return _sorted(values, axis, direction, INDICES)


def _sorted(values: Any, axis: Any, direction: str, wanted: int) -> Tensor:
    """The values in order along an axis, or their indices."""
    if direction not in _DIRECTIONS:
        raise ValueError(f"{direction} should be one of {', '.join(_DIRECTIONS)}")
    known_axis = constant_value(convert_to_tensor(axis, name="axis"))
    if known_axis is None or known_axis.ndim != 0:
        raise ValueError("axis must be a constant scalar")
    tensor = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(tensor, int(known_axis), wanted)
    opposite = _descending(_reversed_order(tensor), int(known_axis), wanted)
    return opposite if wanted == INDICES else _reversed_order(opposite)


def _reversed_order(values: Tensor) -> Tensor:
    """A mapping that is its own inverse and puts the greatest last (also the least integer)."""
    dtype = values.dtype.base_dtype
    if dtype.is_unsigned:
        return dtype.max - values
    if dtype.is_integer:
        return -1 - values
    return negative(values)


def _descending(values: Tensor, axis: int, wanted: int) -> Tensor:
    count = shape(values)[axis]
    dimensions = rank(values)
    ndims = values.shape.ndims
    if axis == -1 or axis + 1 == ndims:
        return top_k(values, count)[wanted]
    swap = _swap_with_last(dimensions, ndims, axis)
    return transpose(top_k(transpose(values, swap), count)[wanted], swap)


def _swap_with_last(count: Tensor, ndims: int | None, axis: int) -> Tensor:
    """The permutation of dimensions that swaps one with the last; `ndims` is `count` if known."""
    if ndims is not None:
        order = list(range(ndims))
        order[axis], order[-1] = order[-1], order[axis]
        return constant(order, name="transposition")
    place = axis if axis >= 0 else axis + count
    places = filling.range(count)
    at_place, at_last = (cast(equal(places, each), dtypes.int32) for each in (place, count - 1))
    return places + (count - 1 - place) * (at_place - at_last)
