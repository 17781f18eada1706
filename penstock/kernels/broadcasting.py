"""Kernels of tensors repeated along dimensions, and of the shape arithmetic of broadcasting."""

import numpy as np
import torch

from penstock import errors
from penstock.kernels.known_inputs import is_text, known_list
from penstock.kernels.registry import kernel
from penstock.ops.broadcasting import broadcast_axes


def _incompatible(x, y):
    message = f"Incompatible shapes: {_text(x)} vs. {_text(y)}"
    return errors.InvalidArgumentError(None, None, message)


def _text(sizes):
    return f"[{','.join(map(str, sizes))}]"


@kernel("BroadcastTo")
def _(node, env):
    known = known_list(node, env, 1)
    if is_text(node):
        return lambda x, sizes: np.broadcast_to(x, sizes.tolist()).copy()

    def run(x, sizes):
        sizes = known if known is not None else sizes.tolist()
        try:
            # In memory of its own: a view that repeats elements could not be written to in place.
            return x.expand(sizes).contiguous()
        except RuntimeError:
            if x.dim() > len(sizes):
                message = (
                    f"Rank of input ({x.dim()}) must be no greater than rank of output shape "
                    f"({len(sizes)})."
                )
                raise errors.InvalidArgumentError(None, None, message) from None
            raise _incompatible(x.shape, sizes) from None

    return run


@kernel("BroadcastArgs", fresh=True)
def _(node):
    def run(s0, s1):
        try:
            sizes = np.broadcast_shapes(s0.tolist(), s1.tolist())
        except ValueError:
            raise _incompatible(s0.tolist(), s1.tolist()) from None
        return torch.tensor(sizes, dtype=s0.dtype)

    return run


@kernel("BroadcastGradientArgs", fresh=True)
def _(node):
    def run(s0, s1):
        x, y = s0.tolist(), s1.tolist()
        axes = broadcast_axes(x, y)
        if axes is None:
            raise _incompatible(x, y)
        dtype = s0.dtype
        return torch.tensor(axes[0], dtype=dtype), torch.tensor(axes[1], dtype=dtype)

    return run


@kernel("Tile")
def _(node, env):
    known = known_list(node, env, 1)
    text = is_text(node)

    def run(x, multiples):
        times = known if known is not None else multiples.tolist()
        if len(times) != x.ndim:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Expected multiples argument to be a vector of length {x.ndim} but got length "
                f"{len(times)}",
            )
        for axis, count in enumerate(times):
            if count < 0:
                raise errors.InvalidArgumentError(
                    None, None, f"Expected multiples[{axis}] >= 0, but got {count}"
                )
        if text:
            return np.tile(x, times)
        sizes = x.shape
        if all(n == 1 or size == 1 for n, size in zip(times, sizes, strict=True)):
            return x.expand([n * size for n, size in zip(times, sizes, strict=True)])
        return x.repeat(times)

    return run
