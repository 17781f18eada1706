"""Masks: where they are true, what they let pass, and masks of lengths."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import NUMERIC
from penstock.ops.constants import constant
from penstock.ops.filling import Range
from penstock.ops.gather import gather
from penstock.ops.joining import concat
from penstock.ops.shaping import expand_dims, reshape, shape, squeeze
from penstock.shapes import Shape

__all__ = ["boolean_mask", "sequence_mask", "where"]

Where = op("Where(input: T) -> index: int64", T=types(NUMERIC, dtypes.bool, default=dtypes.bool))
not_differentiable(Where)


@Where.shape
def _(op: Operation, x: Shape) -> Shape:
    return (None, None if x is None else len(x))


@dispatched
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """The positions at which `condition` is true, one per row; or with `x` and `y`, a tensor with
    the elements of `x` where it is true and those of `y` elsewhere.

    A vector `condition` chooses whole rows of `x` and `y`.
    """
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            condition = convert_to_tensor(condition, preferred_dtype=dtypes.bool, name="condition")
            return Where(condition, name=scope)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    from penstock.ops.select import Select

    return Select(condition, x, y, name=name)


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Tensor:
    """The entries of `tensor` at which `mask` is true, along the dimensions of the mask, which
    become one. They start at `axis` (0).
    """
    from penstock.ops.reductions import reduce_prod

    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        mask_shape = mask.shape
        if mask_shape.ndims == 0:
            raise ValueError("mask cannot be scalar.")
        if mask_shape.ndims is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  "
                "E.g. shape=[None] is ok, but shape=None is not."
            )
        first = _known_axis(axis)
        last = first + mask_shape.ndims
        tensor.shape[first:last].assert_is_compatible_with(mask_shape)
        count = reduce_prod(shape(tensor)[first:last], [0])
        before, after = shape(tensor)[:first], shape(tensor)[last:]
        flat = reshape(tensor, concat([before, [count], after], 0))
        _set_masked_shape(flat, tensor.shape, first, last)
        chosen = squeeze(where(reshape(mask, [-1])), axis=[1])
        return gather(flat, chosen, axis=first)


def _known_axis(axis: Any) -> int:
    if axis is None:
        return 0
    value = constant_value(convert_to_tensor(axis)) if isinstance(axis, Tensor) else axis
    if value is None:
        raise ValueError("boolean_mask needs an axis that is known while building the graph")
    return int(value)


def _set_masked_shape(flat: Tensor, whole: Any, first: int, last: int) -> None:
    if whole.ndims is not None:
        count = whole[first:last].num_elements()
        flat.set_shape([*whole[:first].as_list(), count, *whole[last:].as_list()])


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None
) -> Tensor:
    """For each length n a row of `maxlen` entries (the largest length), of which the first n are
    true.
    """
    from penstock.ops.binary import maximum
    from penstock.ops.casts import Cast, cast
    from penstock.ops.comparison import less
    from penstock.ops.reductions import reduce_max

    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            longest = reduce_max(lengths)
            maxlen = maximum(constant(0, longest.dtype), longest)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen._rank() not in (None, 0):
            raise ValueError(
                f"maxlen must be scalar for sequence_mask, got {maxlen} of shape {maxlen.shape}"
            )
        positions = Range(constant(0, maxlen.dtype), maxlen, constant(1, maxlen.dtype))
        # A column of lengths against a row of positions.
        column = Cast(expand_dims(lengths, -1), DstT=maxlen.dtype)
        mask: Tensor = less(positions, column)
        wanted = dtypes.as_dtype_or(dtype, dtypes.bool)
        return mask if wanted is dtypes.bool else cast(mask, wanted)
