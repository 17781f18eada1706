"""Kernels that deal elements of one axis out to others: gathers by computed places."""

import numpy as np
import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import kernel
from penstock.shapes import TensorShape


def _refuse(what):
    raise InvalidArgumentError(None, None, f"periodic_resample expects {what}")


def _checked(sizes, wanted):
    """The axis that shrinks."""
    if len(sizes) != len(wanted):
        _refuse(
            f"the rank of the input tensor, {len(sizes)}, to be the same as the length of the "
            f"desired shape, {len(wanted)}."
        )
    if wanted.count(None) > 1:
        _refuse("only one index to be marked as adjustable.")
    if None not in wanted:
        _refuse("at least one index to be marked as adjustable.")
    for axis, (size, new) in enumerate(zip(sizes, wanted, strict=True)):
        if new is not None and new < size:
            _refuse(
                "the size of non-adjustable dimensions be at least as large as size of input "
                f"tensor. Dimension {axis} input tensor has size {size}, desired shape has size "
                f"{new}."
            )
    return wanted.index(None)


def _places(sizes, wanted):
    """For each element of the result, its place in the flat input."""
    shrinking = _checked(sizes, wanted)
    others = int(np.prod([each for each in wanted if each is not None]))
    shape = [int(np.prod(sizes)) // others if each is None else each for each in wanted]
    grid = np.indices(shape)
    source = list(grid)
    offset, stride = 0, 1
    for axis, (size, new) in enumerate(zip(sizes, shape, strict=True)):
        if axis != shrinking:
            factor = -(-new // size)  # rounded up
            source[axis] = grid[axis] // factor
            offset = offset + stride * (grid[axis] % factor)
            stride *= factor
    source[shrinking] = shape[shrinking] * offset + grid[shrinking]
    # Where sizes are no multiples, places beyond an axis are those of the next row.
    strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
    return sum(each.ravel() * step for each, step in zip(source, strides, strict=True)), shape


@kernel("PeriodicResample", fresh=True)
def _(node):
    wanted = TensorShape(node.attrs["shape"]).as_list()

    def run(values):
        places, shape = _places(list(values.shape), wanted)
        chosen = torch.from_numpy(places).to(values.device)
        return values.reshape(-1)[chosen].reshape(shape)

    return run


@kernel("PeriodicResampleOpGrad", fresh=True)
def _(node):
    original = TensorShape(node.attrs["original_shape"]).as_list()
    wanted = TensorShape(node.attrs["desired_shape"]).as_list()

    def run(grad):
        places, _ = _places(original, wanted)
        result = torch.zeros(int(np.prod(original)), dtype=grad.dtype, device=grad.device)
        result[torch.from_numpy(places).to(grad.device)] = grad.reshape(-1)
        return result.reshape(original)

    return run
