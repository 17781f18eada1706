"""Kernels of quantized images: normalized and resized."""

import numpy as np
import torch

from penstock.kernels.image_resize import HEIGHT, WIDTH, checked_size
from penstock.kernels.image_taps import bilinear_taps
from penstock.kernels.quantized import Levels, invalid, number, range_of
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import torch_type

_single = np.float32
#: The range of a batch normalization's 32-bit results, whatever its inputs are.
_NORMALIZED_RANGE = 1 << 20
_FRACTION_BITS = 7  # of the weights of 8-bit pixels


@kernel("QuantizedBatchNormWithGlobalNormalization", devices=HOST, fresh=True)
def _(node):
    epsilon = _single(node.attrs["variance_epsilon"])
    scales = node.attrs["scale_after_normalization"]
    dtype = torch_type(node.attrs["out_type"])
    results = Levels(dtype, -_NORMALIZED_RANGE, _NORMALIZED_RANGE)

    def numbers(levels, low, high):
        return Levels(levels.dtype, number(low), number(high)).numbers(levels).float()

    def placed(values):
        return results.unbounded_levels(values.double()).long()

    def run(*inputs):
        x, mean, variance, beta, gamma = (
            numbers(*inputs[start : start + 3]) for start in range(0, 15, 3)
        )
        scale = 1 / torch.sqrt(variance + float(epsilon))
        if scales:
            scale = scale * gamma
        product = placed(x) * placed(scale)
        one = results.level(1.0)
        whole = torch.div(product, one, rounding_mode="trunc") + placed(beta - mean * scale)
        return whole.to(dtype), *range_of(-_NORMALIZED_RANGE, _NORMALIZED_RANGE)

    return run


@kernel("QuantizedInstanceNorm", devices=HOST, fresh=True)
def _(node):
    given = node.attrs["output_range_given"]
    bounds = node.attrs["given_y_min"], node.attrs["given_y_max"]
    epsilon, apart = node.attrs["variance_epsilon"], _single(node.attrs["min_separation"])
    if given and bounds[0] >= bounds[1]:
        raise invalid(f"given_y_min must be less than given_y_max : {bounds[0]:g} >= {bounds[1]:g}")

    def run(x, low, high):
        low, high = number(low), number(high)
        if low >= high:
            raise invalid(f"input_min must be less than input_max : {low:g} >= {high:g}")
        values = Levels(x.dtype, low, high).numbers_in_floats(x)
        centred = values - values.mean((1, 2), keepdim=True)
        variance = centred.square().mean((1, 2), keepdim=True)
        result = centred * torch.rsqrt(variance + epsilon)
        if given:
            new_low, new_high = bounds
        else:
            new_low, new_high = _single(result.min()), _single(result.max())
            new_high = max(new_high, new_low + apart)
        return Levels(x.dtype, new_low, new_high).levels_in_floats(result), *range_of(
            new_low, new_high
        )

    return run


@kernel("QuantizedResizeBilinear", devices=HOST, fresh=True)
def _(node):
    corners = node.attrs["align_corners"], node.attrs["half_pixel_centers"]
    resize = {
        torch.uint8: _in_fixed_point,
        torch.int32: lambda x, *taps: _mixed(x.double(), *taps).round().to(torch.int32),
        torch.float32: _mixed,
    }[torch_type(node.attrs["T"])]

    def run(images, size, low, high):
        height, width = checked_size(images, size)
        rows = bilinear_taps(images.shape[HEIGHT], height, *corners, images.device)
        columns = bilinear_taps(images.shape[WIDTH], width, *corners, images.device)
        return resize(images, rows, columns), *range_of(number(low), number(high))

    return run


def _between(x, axis, taps, weights):
    """Values between two neighbours along an axis: the first one, and a part of the difference."""
    first = x.index_select(axis, taps.indices[0])
    if len(taps.indices) == 1:
        return first
    shape = [1] * x.dim()
    shape[axis] = -1
    return first + (x.index_select(axis, taps.indices[1]) - first) * weights.view(shape)


def _mixed(x, rows, columns):
    across = _between(x, WIDTH, columns, columns.weights[-1])
    return _between(across, HEIGHT, rows, rows.weights[-1])


def _in_fixed_point(x, rows, columns):
    one = 1 << _FRACTION_BITS

    def whole(taps):
        return (taps.weights[-1] * one).to(torch.int64)

    # Doubles hold all products exactly.
    across = _between(x.double() * one, WIDTH, columns, whole(columns).double() / one)
    both = _between(across * one, HEIGHT, rows, whole(rows).double() / one)
    return ((both.long() + one * one // 2) >> (2 * _FRACTION_BITS)).to(torch.uint8)
