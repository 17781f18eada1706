"""The kernels of fake quantization."""

import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import kernel


def _steps(node):
    """The lowest and the highest quantized number."""
    return int(node.attrs["narrow_range"]), (1 << node.attrs["num_bits"]) - 1


def _nudged(low, high, lowest, highest):
    """The bounds moved so that zero is a quantized number, and the distance of two of them."""
    scale = (high - low) / (highest - lowest)
    zero_point = lowest - low / scale
    zero_point = torch.floor(zero_point + 0.5).clamp(lowest, highest)
    return (lowest - zero_point) * scale, (highest - zero_point) * scale, scale


def _quantized(x, low, high, lowest, highest):
    nudged_low, nudged_high, scale = _nudged(low, high, lowest, highest)
    inverse = 1.0 / scale
    zero = torch.floor(-nudged_low * inverse + 0.5)
    shifted = torch.minimum(torch.maximum(x, nudged_low), nudged_high) - nudged_low
    result = torch.floor(shifted * inverse - zero + 0.5) * scale
    return torch.where((low == 0) & (high == 0), 0.0, result)


def _masks(x, low, high, lowest, highest):
    """Where the input is within the bounds, below and above them."""
    nudged_low, nudged_high, _ = _nudged(low, high, lowest, highest)
    below, above = x < nudged_low, x > nudged_high
    nothing = (low == 0) & (high == 0)
    below, above = below & ~nothing, above & ~nothing
    return ~(below | above), below, above


@kernel("FakeQuantWithMinMaxArgs", fresh=True)
def _(node):
    lowest, highest = _steps(node)
    low, high = (torch.tensor(node.attrs[key], dtype=torch.float32) for key in ("min", "max"))
    _check_order(low, high)
    return lambda x: _quantized(x, low.to(x.device), high.to(x.device), lowest, highest)


@kernel("FakeQuantWithMinMaxArgsGradient", fresh=True)
def _(node):
    lowest, highest = _steps(node)
    low, high = (torch.tensor(node.attrs[key], dtype=torch.float32) for key in ("min", "max"))
    _check_order(low, high)

    def run(grad, x):
        _check_same(grad, x)
        bounds = low.to(x.device), high.to(x.device)
        return grad * _masks(x, *bounds, lowest, highest)[0]

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
        return grad * within, (grad * below).sum(), (grad * above).sum()

    return run


@kernel("FakeQuantWithMinMaxVarsPerChannelGradient", fresh=True)
def _(node):
    lowest, highest = _steps(node)

    def run(grad, x, low, high):
        _check_same(grad, x)
        _check_channels(x, low, high)
        within, below, above = _masks(x, low, high, lowest, highest)
        size = low.shape[0]
        low_grad = (grad * below).reshape(-1, size).sum(0)
        return grad * within, low_grad, (grad * above).reshape(-1, size).sum(0)

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
