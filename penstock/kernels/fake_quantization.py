"""The kernels of fake quantization."""

import numpy as np
import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.host_loops import vectorised
from penstock.kernels.registry import kernel


def _steps(node):
    """The lowest and the highest quantized number."""
    if not 2 <= node.attrs["num_bits"] <= 16:
        raise InvalidArgumentError(None, None, "num_bits must be between 2 and 16, inclusive")
    return int(node.attrs["narrow_range"]), (1 << node.attrs["num_bits"]) - 1


def _nudged(low, high, lowest, highest):
    """The bounds moved so that zero is a quantized number, and the distance of two of them."""
    # By a tensor: by a number, a GPU multiplies with its inverse, which rounds otherwise.
    scale = (high - low) / low.new_full((), highest - lowest)
    zero_point = lowest - low / scale
    zero_point = torch.floor(zero_point + 0.5).clamp(lowest, highest)
    return (lowest - zero_point) * scale, (highest - zero_point) * scale, scale


def _clamped(x, low, high):
    if low.dim() == 0 and low.is_cpu:
        return torch.clamp(x, low.item(), high.item())
    return torch.minimum(torch.maximum(x, low), high)


def _quantized(x, low, high, lowest, highest):
    nudged_low, nudged_high, scale = _nudged(low, high, lowest, highest)
    inverse = 1.0 / scale
    zero = torch.floor(-nudged_low * inverse + 0.5)
    shifted = _clamped(x, nudged_low, nudged_high).sub_(nudged_low)
    result = shifted.mul_(inverse).sub_(zero).add_(0.5).floor_().mul_(scale)
    nothing = (low == 0) & (high == 0)
    if nothing.is_cpu and not nothing.any():
        return result
    return result.masked_fill_(nothing.to(x.device), 0)


_is_below = vectorised(torch.lt, np.less)
_is_above = vectorised(torch.gt, np.greater)


def _where(mask, grad):
    """The gradient where a mask is set, else zero. ATen converts bytes faster than truth values."""
    return mask.view(torch.uint8).to(grad.dtype).mul_(grad)


def _masks(x, low, high, lowest, highest):
    """Where the input is within the bounds, below and above them."""
    nudged_low, nudged_high, _ = _nudged(low, high, lowest, highest)
    below, above = _is_below(x, nudged_low), _is_above(x, nudged_high)
    nothing = (low == 0) & (high == 0)
    if not nothing.is_cpu or nothing.any():
        below, above = below & ~nothing, above & ~nothing
    return torch.bitwise_or(below, above).logical_not_(), below, above


@kernel("FakeQuantWithMinMaxArgs", fresh=True)
def _(node):
    lowest, highest = _steps(node)
    low, high = (torch.tensor(node.attrs[key], dtype=torch.float32) for key in ("min", "max"))
    _check_order(low, high)
    return lambda x: _quantized(x, low, high, lowest, highest)


@kernel("FakeQuantWithMinMaxArgsGradient", fresh=True)
def _(node):
    lowest, highest = _steps(node)
    low, high = (torch.tensor(node.attrs[key], dtype=torch.float32) for key in ("min", "max"))
    _check_order(low, high)

    def run(grad, x):
        _check_same(grad, x)
        return _where(_masks(x, low, high, lowest, highest)[0], grad)

    return run


@kernel("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", fresh=True)
def _(node):
    lowest, highest = _steps(node)
    check = _check_channels if node.type.endswith("PerChannel") else _check_scalars

    def run(x, low, high):
        check(x, low, high)
        return _quantized(x, low, high, lowest, highest)

    return run


@kernel("FakeQuantWithMinMaxVarsGradient", fresh=True)
def _(node):
    lowest, highest = _steps(node)

    def run(grad, x, low, high):
        _check_same(grad, x)
        _check_scalars(x, low, high)
        within, below, above = _masks(x, low, high, lowest, highest)
        return _where(within, grad), _where(below, grad).sum(), _where(above, grad).sum()

    return run


@kernel("FakeQuantWithMinMaxVarsPerChannelGradient", fresh=True)
def _(node):
    lowest, highest = _steps(node)

    def run(grad, x, low, high):
        _check_same(grad, x)
        _check_channels(x, low, high)
        within, below, above = _masks(x, low, high, lowest, highest)
        size = low.shape[0]
        low_grad, high_grad = (
            _where(mask, grad).reshape(-1, size).sum(0) for mask in (below, above)
        )
        return _where(within, grad), low_grad, high_grad

    return run


def _invalid(message):
    return InvalidArgumentError(None, None, message)


def _check_order(low, high):
    if not low < high:
        raise _invalid(f"min has to be smaller than max, was: {float(low)} >= {float(high)}")


def _check_same(grad, x):
    if grad.shape != x.shape:
        raise _invalid("gradient and input must be the same size")


def _check_scalars(x, low, high):
    if low.dim() or high.dim():
        raise _invalid("`min` and `max` must be rank 0")


def _check_channels(x, low, high):
    size = x.shape[-1] if x.dim() else None
    for name, bound in (("min", low), ("max", high)):
        if bound.dim() != 1 or bound.shape[0] != size:
            raise _invalid(f"{name} has incorrect size, expected {size} was {list(bound.shape)}")
