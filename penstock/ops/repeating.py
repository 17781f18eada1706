"""`tf.repeat`: each element as often as asked."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.binary import maximum
from penstock.ops.broadcasting import broadcast_to, tile
from penstock.ops.casts import cast
from penstock.ops.joining import concat, stack
from penstock.ops.masking import boolean_mask, sequence_mask
from penstock.ops.reductions import reduce_max
from penstock.ops.shaping import expand_dims, reshape, shape

__all__ = ["repeat"]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """The elements of `input` along `axis`, each repeated; flat where no axis is given.

    `repeats` is one number for all, or one for each element of the axis.

    >>> tf.repeat([3, 4], repeats=[1, 2])  # [3, 4, 4]
    """
    if axis is None:
        input, axis = reshape(input, [-1]), 0
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        counts = cast(convert_to_tensor(repeats, name="repeats"), dtypes.int32)
        known = data._shape
        if known is None:
            raise ValueError("tf.repeat needs an input of known rank")
        place = axis if axis >= 0 else axis + len(known)
        if not 0 <= place < len(known):
            raise ValueError(
                f"axis={axis} out of bounds: expected {-len(known)}<=axis<{len(known)}"
            )
        sizes = shape(data)
        if counts._shape == ():
            return _by_one_number(data, counts, place, sizes)
        counts = broadcast_to(counts, stack([sizes[place]]))
        longest = maximum(0, reduce_max(counts))
        mask = sequence_mask(counts, longest)
        copies = _tiled(data, longest, place)
        chosen = boolean_mask(copies, mask, axis=place)
        chosen.set_shape((*known[:place], None, *known[place + 1 :]))
        return chosen


def _tiled(data: Tensor, count: Any, axis: int) -> Tensor:
    """The data with a new dimension after `axis`, in which every element is repeated."""
    assert data._shape is not None
    multiples = [1] * (axis + 1) + [count] + [1] * (len(data._shape) - axis - 1)
    return tile(expand_dims(data, axis + 1), stack(multiples))


def _by_one_number(data: Tensor, count: Tensor, axis: int, sizes: Tensor) -> Tensor:
    parts = [sizes[:axis], stack([sizes[axis] * count]), sizes[axis + 1 :]]
    return reshape(_tiled(data, count, axis), concat(parts, 0))
