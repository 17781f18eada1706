"""The kernels of quantization to integers and back."""

import numpy as np
import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.host_loops import vectorised
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type


def _invalid(message):
    return InvalidArgumentError(None, None, message)


def _away_from_zero(x):
    """Rounded, halves away from zero."""
    return torch.abs(x).add_(0.5).floor_().copysign_(x)


def _clamped(x, low, high):
    if low.dim() == 0 and low.is_cpu and low.dtype == x.dtype:
        return torch.clamp(x, low.item(), high.item())
    return torch.minimum(torch.maximum(x, low), high)


def _along(bound, axis, x):
    """Bounds `[d]` in the shape in which they meet the axis of the values."""
    if axis == -1:
        return bound
    shape = [1] * x.dim()
    shape[axis] = -1
    return bound.reshape(shape)


def _limits(dtype):
    info = torch.iinfo(dtype)
    return float(info.min), float(info.max)


def _check_bounds(low, high, axis, x, what="input_max_range must be larger than input_min_range."):
    expected = () if axis == -1 else (x.shape[axis],)
    for name, bound in (("min_range", low), ("max_range", high)):
        if tuple(bound.shape) != expected:
            raise _invalid(f"{name} has shape {list(bound.shape)}, expected {list(expected)}")
    if bool((low > high).any()):
        raise _invalid(what)


# QuantizeV2 -----------------------------------------------------------------------------------


@kernel("QuantizeV2", fresh=True)
def _(node):
    dtype = torch_type(node.attrs["T"])
    axis, narrow = node.attrs["axis"], node.attrs["narrow_range"]
    margin = node.attrs["ensure_minimum_range"]
    round_ = torch.round if node.attrs["round_mode"] == "HALF_TO_EVEN" else _away_from_zero
    quantize = {"MIN_COMBINED": _combined, "MIN_FIRST": _min_first, "SCALED": _scaled}[
        node.attrs["mode"]
    ]

    def run(x, low, high):
        _check_bounds(low, high, axis, x)
        # Zero is between the bounds, and they are not too near to each other.
        least = torch.maximum(low.abs(), high.abs()).clamp(min=1.0) * margin
        low = low.clamp(max=0.0)
        high = torch.maximum(high, low + least).clamp(min=0.0)
        values, low, high = quantize(x, low, high, dtype, axis, round_, narrow)
        return values, low, high

    return run


def _combined(x, low, high, dtype, axis, round_, narrow):
    lowest, highest = _limits(dtype)
    half = (highest - lowest + 1) / 2 if lowest < 0 else 0.0
    below, above = _along(low, axis, x), _along(high, axis, x)
    scale = (highest - lowest) / (above - below)
    shifted = _clamped(x, below, above).sub_(below).mul_(scale)
    if half:
        rounded = _away_from_zero(shifted.sub_(half))
    else:
        rounded = shifted.add_(0.5).floor_()
    return _to_integer(rounded, dtype), low, high


def _min_first(x, low, high, dtype, axis, round_, narrow):
    lowest, highest = _limits(dtype)
    steps = highest - lowest + 1
    below, above = _along(low, axis, x).double(), _along(high, axis, x).double()
    scale = steps / ((above - below) * (steps / (steps - 1)))
    placed = _away_from_zero(x.double() * scale) - _away_from_zero(below * scale) + lowest
    return _to_integer(placed, dtype), low, high


def _scaled(x, low, high, dtype, axis, round_, narrow):
    lowest, highest = _limits(dtype)
    lowest += float(narrow)
    biggest = torch.finfo(torch.float32).max
    from_low = torch.where(low * lowest > 0, lowest / low, biggest)
    from_high = torch.where(high * highest > 0, highest / high, biggest)
    scale = torch.minimum(from_low, from_high)
    low, high = lowest / scale, highest / scale
    clipped = _clamped(x, _along(low, axis, x), _along(high, axis, x))
    return _to_integer(round_(clipped.mul_(_along(scale, axis, x))), dtype), low, high


def _to_integer(x, dtype):
    """Overwrites x, which holds whole numbers."""
    lowest, highest = _limits(dtype)
    if dtype.itemsize == 4:  # its limits are no numbers in single precision
        return x.double().clamp_(lowest, highest).to(dtype)
    # ATen's way to 32 bits is vectorised, that to fewer is not.
    return x.clamp_(lowest, highest).to(torch.int32).to(dtype)


# Dequantize -----------------------------------------------------------------------------------


@kernel("Dequantize", fresh=True)
def _(node):
    mode, axis, narrow = (node.attrs[key] for key in ("mode", "axis", "narrow_range"))
    dtype = torch_type(node.attrs["dtype"])

    def run(x, low, high):
        _check_bounds(low, high, axis, x)
        lowest, highest = _limits(x.dtype)
        low, high = _along(low, axis, x), _along(high, axis, x)
        if mode == "MIN_COMBINED":
            half = (highest - lowest + 1) / 2 if lowest < 0 else 0.0
            wide = x.float().add_(half) if half else x.float()
            return wide.mul_((high - low) / (highest - lowest)).add_(low).to(dtype)
        if mode == "MIN_FIRST":
            return _from_min_first(x, low, high, lowest, highest).to(dtype)
        lowest += float(narrow)
        scale = high / highest
        if lowest < 0:
            scale = torch.maximum(scale, low / lowest)
        return x.float().mul_(scale).to(dtype)

    return run


def _from_min_first(x, low, high, lowest, highest):
    steps = highest - lowest + 1
    low, high = low.double(), high.double()
    scale = (high - low) * (steps / (steps - 1)) / steps
    start = torch.where(scale == 0, low, _away_from_zero(low / scale) * scale)
    return x.double().sub_(lowest).mul_(scale).add_(start).float()


# Both -----------------------------------------------------------------------------------------


@kernel("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4", fresh=True)
def _(node):
    bits = node.attrs["num_bits"]
    floor_up = node.attrs["round_mode"] == "HALF_UP"
    there_and_back = _there_and_back(node, floor_up)
    _check_bits(bits, node.attrs["signed_input"])
    return lambda x, low, high: there_and_back(x, low, high, bits)


@kernel("QuantizeAndDequantize", fresh=True)
def _(node):
    bits, bounds = node.attrs["num_bits"], (node.attrs["input_min"], node.attrs["input_max"])
    _check_bits(bits, node.attrs["signed_input"])
    there_and_back = _there_and_back(node, floor_up=False)
    return lambda x: there_and_back(x, *(x.new_tensor(bound) for bound in bounds), bits)


@kernel("QuantizeAndDequantizeV3", fresh=True)
def _(node):
    there_and_back = _there_and_back(node, floor_up=False)

    def run(x, low, high, num_bits):
        bits = int(num_bits)
        _check_bits(bits, node.attrs["signed_input"])
        return there_and_back(x, low, high, bits)

    return run


def _check_bits(bits, signed):
    if not 0 < bits < (62 if signed else 63):
        raise _invalid(f"num_bits is out of range: {bits} with signed_input_ {int(signed)}")


def _there_and_back(node, floor_up):
    signed, narrow = node.attrs["signed_input"], node.attrs.get("narrow_range", False)
    given, axis = node.attrs["range_given"], node.attrs.get("axis", -1)

    def run(x, low, high, bits):
        if given:
            _check_bounds(low, high, axis, x, "Invalid range: input_min > input_max")
        else:
            low, high = _range_of(x, axis)
        lowest = -(2.0 ** (bits - 1)) + narrow if signed else 0.0
        highest = 2.0 ** (bits - 1) - 1 if signed else 2.0**bits - 1
        low, high = _along(low, axis, x), _along(high, axis, x)
        biggest = torch.finfo(x.dtype).max
        from_low = torch.where(low * lowest > 0, lowest / low, biggest)
        from_high = torch.where(high * highest > 0, highest / high, biggest)
        by_low = from_low < from_high
        scale = torch.where(by_low, from_low, from_high)
        inverse = torch.where(by_low, low / lowest if lowest else low, high / highest)
        if given:
            below = torch.where(by_low, low, lowest * inverse)
            above = torch.where(by_low, highest * inverse, high)
            scaled = _clamped(x, below, above).mul_(scale)
        else:
            scaled = x * scale
        rounded = scaled.add_(0.5).floor_() if floor_up else scaled.round_()
        return rounded.mul_(inverse)

    return run


def _range_of(x, axis):
    if axis == -1:
        return x.amin(), x.amax()  # faster than x.min() and torch.aminmax
    rest = [i for i in range(x.dim()) if i != axis]
    return (x.amin(rest), x.amax(rest)) if rest else (x, x)


_is_from = vectorised(torch.ge, np.greater_equal)
_is_to = vectorised(torch.le, np.less_equal)


@kernel("QuantizeAndDequantizeV4Grad", fresh=True)
def _(node):
    axis = node.attrs["axis"]

    def run(grad, x, low, high):
        _check_bounds(low, high, axis, x)
        inside = _is_from(x, _along(low, axis, x)) & _is_to(x, _along(high, axis, x))
        # What is clipped moves with its bound, but TensorFlow gives the bounds no gradient.
        # ATen converts bytes faster than truth values.
        by_x = inside.view(torch.uint8).to(grad.dtype).mul_(grad)
        return by_x, torch.zeros_like(low), torch.zeros_like(high)

    return run
