"""Kernels of quantized arithmetic, in the very steps in which TensorFlow rounds.

Single precision (NumPy's float32) stands where TensorFlow computes in floats: the integers depend
on it.
"""

import math

import numpy as np
import torch

from penstock.errors import InvalidArgumentError
from penstock.ir import registry
from penstock.ir.step_graph import Node
from penstock.kernels.registry import HOST, find, kernel
from penstock.kernels.values import torch_type

_single = np.float32


def invalid(message):
    return InvalidArgumentError(None, None, message)


def number(bound, what="range"):
    if bound.numel() != 1:
        raise invalid(f"{what} must have 1 element, got shape {list(bound.shape)}")
    return _single(bound.item())


def range_of(low, high):
    return torch.tensor(float(low)), torch.tensor(float(high))


def _away_from_zero(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


def _round(x):
    """Tensors rounded, halves away from zero; in double precision, which can hold the half."""
    return (torch.sign(x) * torch.floor(torch.abs(x).double() + 0.5)).to(x.dtype)


class Levels:
    """How integers of a torch type stand for numbers between two bounds."""

    def __init__(self, dtype, low, high):
        info = torch.iinfo(dtype)
        self.dtype, self.lowest, self.highest = dtype, info.min, info.max
        self.low, self.high = _single(low), _single(high)
        self.steps = 2**info.bits

    @property
    def _width(self):
        return (float(self.high) - float(self.low)) * (self.steps / (self.steps - 1.0))

    def one(self):
        """The distance between two levels, in single precision."""
        return (self.high - self.low) / _single(self.highest - self.lowest)

    def level(self, number):
        """The level of a number, which may lie outside of the type."""
        if self.low == self.high:
            return 0
        scale = self.steps / self._width
        start = _away_from_zero(float(self.low) * scale)
        return int(_away_from_zero(float(number) * scale) - start) + self.lowest

    def clamped(self, number):
        return min(max(self.level(number), self.lowest), self.highest)

    def numbers(self, levels):
        """The numbers that levels stand for, as float64 of single precision."""
        if self.low == self.high:
            return torch.full(levels.shape, float(self.low), dtype=torch.float64)
        scale = self._width / self.steps
        single_scale = _single(scale)
        start = float(_single(_away_from_zero(float(self.low / single_scale))) * single_scale)
        return (start + (levels.double() - self.lowest) * scale).float().double()

    def levels(self, numbers):
        """The levels of numbers, within the type."""
        return self.unbounded_levels(numbers).clamp(self.lowest, self.highest).to(self.dtype)

    def unbounded_levels(self, numbers):
        """The levels of numbers, which may lie outside of the type, in the numbers' own type."""
        if self.low == self.high:
            return torch.zeros_like(numbers)
        scale = self.steps / self._width
        start = _away_from_zero(float(self.low) * scale)
        return _round(numbers * scale) - start + self.lowest

    # The same in single precision, by which whole arrays are converted.

    def numbers_in_floats(self, levels):
        scale = (self.high - self.low) / _single(self.steps - 1.0)
        start = self.low
        if self.low != self.high:
            start = _single(_away_from_zero(float(self.low / scale))) * scale
        return levels.float() * float(scale) + float(start - _single(self.lowest) * scale)

    def levels_in_floats(self, numbers):
        if self.low == self.high:
            scale, start = 0.0, 0.0
        else:
            scale = float(_single((self.steps - 1.0) / float(self.high - self.low)))
            start = _away_from_zero(float(self.low * _single(scale)))
        placed = _round(numbers * scale) - float(_single(start) - _single(self.lowest))
        # The largest single-precision number that an int32 can be.
        top = self.highest if self.steps < 2**32 else 2147483520
        return placed.clamp(float(self.lowest), float(top)).to(self.dtype)


def _check_order(low, high, what):
    if low > high:
        raise invalid(f"{what}_max must be larger than {what}_min. Given: {high}, {low}")


# Other ranges ---------------------------------------------------------------------------------

_FRACTION_BITS = 16


def _narrowed(x, low, high, new_low, new_high):
    """32-bit levels as 8-bit ones of another range, in fixed point."""
    old_width, width = high - low, new_high - new_low
    one = 1 << _FRACTION_BITS
    if width == 0:
        scale = shift = start = 0
    else:
        scale = int(255.0 * one * float(old_width) / float(width))
        middle = _single(float(low + high) / 2.0)
        shift = int(middle * _single(255.0 / float(width)) * _single(one))
        start = int(_away_from_zero(one * (float(new_low) * 255.0) / float(width)))
    placed = (_scaled_down(x, scale) + (shift - start + one // 2)) >> _FRACTION_BITS
    return placed.clamp(0, 255).to(torch.uint8)


def _scaled_down(x, scale):
    """x * scale >> 32 without overflow: the scale in two halves of 32 bits."""
    x = x.long()
    upper, lower = scale >> 32, scale & 0xFFFFFFFF
    return x * upper + (((x * (lower >> 16)) + ((x * (lower & 0xFFFF)) >> 16)) >> 16)


def _requantized(x, low, high, dtype, new_low, new_high):
    if x.dtype is torch.int32 and dtype is torch.uint8:
        return _narrowed(x, low, high, new_low, new_high)
    numbers = Levels(x.dtype, low, high).numbers_in_floats(x)
    return Levels(dtype, new_low, new_high).levels_in_floats(numbers)


@kernel("Requantize", devices=HOST, fresh=True)
def _(node):
    dtype = torch_type(node.attrs["out_type"])

    def run(x, low, high, new_low, new_high):
        new_low, new_high = number(new_low), number(new_high)
        if new_low > 0:
            raise invalid(f"requested_output_min must be <= 0, but got {new_low:g}")
        if new_high < new_low:
            raise invalid(
                "requested_output_max must be >= requested_output_min, but got "
                f"{new_high:g} and {new_low:g}"
            )
        result = _requantized(x, number(low), number(high), dtype, new_low, new_high)
        return result, *range_of(new_low, new_high)

    return run


def _used_range(x, low, high):
    """The smallest range that holds zero and the numbers."""
    if x.numel() == 0:
        raise invalid("Input must not be empty.")
    levels = Levels(x.dtype, low, high)
    ends = levels.numbers(torch.stack([x.min(), x.max()])).tolist()
    return min(0.0, ends[0]), ends[1]


@kernel("RequantizationRange", devices=HOST, fresh=True)
def _(node):
    return lambda x, low, high: range_of(*_used_range(x, number(low), number(high)))


@kernel("QuantizeDownAndShrinkRange", devices=HOST, fresh=True)
def _(node):
    dtype = torch_type(node.attrs["out_type"])

    def run(x, low, high):
        low, high = number(low), number(high)
        new_low, new_high = _used_range(x, low, high)
        result = _requantized(x, low, high, dtype, _single(new_low), _single(new_high))
        return result, *range_of(new_low, new_high)

    return run


# Products and sums ----------------------------------------------------------------------------


def _product(node, multiply):
    """A kernel that multiplies levels counted from zero; float64 holds every sum of products."""
    result_type = next(
        torch_type(node.attrs[key]) for key in ("Toutput", "out_type") if key in node.attrs
    )

    def run(a, b, min_a, max_a, min_b, max_b):
        for low, high, what in ((min_a, max_a, "a"), (min_b, max_b, "b")):
            _check_order(number(low), number(high), what)
        of_a = Levels(a.dtype, number(min_a), number(max_a))
        of_b = Levels(b.dtype, number(min_b), number(max_b))
        result = multiply(a.double() - of_a.level(0.0), b.double() - of_b.level(0.0))
        one, info = of_a.one() * of_b.one(), torch.iinfo(result_type)
        bounds = range_of(one * _single(info.min), one * _single(info.max))
        return result.to(result_type), *bounds

    return run


@kernel("QuantizedMul", devices=HOST, fresh=True)
def _(node):
    return _product(node, torch.mul)


@kernel("QuantizedMatMul", devices=HOST, fresh=True)
def _(node):
    of_a, of_b = node.attrs["transpose_a"], node.attrs["transpose_b"]

    def multiply(a, b):
        if a.dim() != 2 or b.dim() != 2:
            raise invalid("In[0] and In[1] must be matrices")
        return torch.matmul(a.t() if of_a else a, b.t() if of_b else b)

    return _product(node, multiply)


def _single_op(node, op_type, **attrs):
    """The kernel of another op, with attrs of the node."""
    chosen = {key: node.attrs[key] for key in ("strides", "padding", "ksize") if key in node.attrs}
    single = Node(registry.find(op_type), node.name, {**chosen, **attrs}, node.dtypes, node.shapes)
    single.inputs = node.inputs
    return find(op_type, "CPU").specialise(single, None)


@kernel("QuantizedConv2D", devices=HOST, fresh=True)
def _(node):
    return _product(node, _single_op(node, "Conv2D", dilations=node.attrs["dilations"]))


def _sum_range(low_x, high_x, low_y, high_y, spare_bits):
    """A range around zero in which sums have the bits of both inputs, and some to spare."""
    high = max(high_x, -low_x, high_y, -low_y) * _single(1 << spare_bits)
    return -high, high


def _stretched(x, levels, total):
    """Levels in a finer range, where the distance between two of them is rounded to an integer."""
    zero, one = total.levels(levels.numbers(torch.arange(2))).tolist()
    return x.to(total.dtype) * (one - zero) + zero


@kernel("QuantizedAdd", devices=HOST, fresh=True)
def _(node):
    dtype = torch_type(node.attrs["Toutput"])

    def run(x, y, *bounds):
        low_x, high_x, low_y, high_y = numbers = [number(bound) for bound in bounds]
        _check_order(low_x, high_x, "x")
        _check_order(low_y, high_y, "y")
        low, high = _sum_range(*numbers, spare_bits=14)
        total = Levels(dtype, low, high)
        parts = [
            _stretched(z, Levels(z.dtype, *ends), total)
            for z, ends in ((x, numbers[:2]), (y, numbers[2:]))
        ]
        return parts[0] + parts[1], *range_of(low, high)

    return run


@kernel("QuantizedBiasAdd", devices=HOST, fresh=True)
def _(node):
    dtype = torch_type(node.attrs["out_type"])

    def run(x, bias, *bounds):
        numbers = [number(bound) for bound in bounds]
        if bias.dim() != 1 or x.shape[-1] != bias.shape[0]:
            raise invalid(
                "Must provide as many biases as the last dimension of the input tensor: "
                f"{list(bias.shape)} vs. {list(x.shape)}"
            )
        low, high = _sum_range(*numbers, spare_bits=17)
        total = Levels(dtype, low, high)
        parts = [
            total.levels_in_floats(Levels(z.dtype, *ends).numbers_in_floats(z))
            for z, ends in ((x, numbers[:2]), (bias, numbers[2:]))
        ]
        return parts[0] + parts[1] + total.clamped(0.0), *range_of(low, high)

    return run


# Activations and pooling ----------------------------------------------------------------------


def _clipped(x, low, high, largest=None):
    levels = Levels(x.dtype, number(low), number(high))
    top = None if largest is None else levels.clamped(largest)
    return torch.clamp(x, levels.clamped(0.0), top), low.clone(), high.clone()


@kernel("QuantizedRelu", devices=HOST, fresh=True)
def _(node):
    return _clipped


@kernel("QuantizedRelu6", devices=HOST, fresh=True)
def _(node):
    return lambda x, low, high: _clipped(x, low, high, 6.0)


@kernel("QuantizedReluX", devices=HOST, fresh=True)
def _(node):
    return lambda x, largest, low, high: _clipped(x, low, high, number(largest))


@kernel("QuantizedMaxPool", devices=HOST, fresh=True)
def _(node):
    pool = _single_op(node, "MaxPool", data_format="NHWC", explicit_paddings=[])
    return lambda x, low, high: (pool(x.float()).to(x.dtype), low.clone(), high.clone())


@kernel("QuantizedAvgPool", devices=HOST, fresh=True)
def _(node):
    mean = _single_op(node, "AvgPool", data_format="NHWC")

    def run(x, low, high):
        # Sums in integers, cut off: the mean in double precision lacks at most a last bit.
        means = mean(x.double())
        return torch.trunc(means + torch.sign(means) * 1e-9).to(x.dtype), low.clone(), high.clone()

    return run


# Moving ---------------------------------------------------------------------------------------


@kernel("QuantizedConcat", devices=HOST, fresh=True)
def _(node):
    count = node.attrs["N"]

    def run(axis, *inputs):
        values, bounds = inputs[:count], inputs[count:]
        lows = [number(bound) for bound in bounds[:count]]
        highs = [number(bound) for bound in bounds[count:]]
        low, high = min(_single(0), *lows), max(highs)
        if values[0].dtype.is_signed:
            high = max(abs(low), abs(high))
            low = -high
        parts = [
            value if (a, b) == (low, high) else _requantized(value, a, b, value.dtype, low, high)
            for value, a, b in zip(values, lows, highs, strict=True)
        ]
        return torch.cat(parts, int(axis)), *range_of(low, high)

    return run


@kernel("QuantizedReshape", devices=HOST)
def _(node):
    def run(x, shape, low, high):
        return x.reshape(shape.tolist()), low, high

    return run
