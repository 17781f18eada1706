"""Kernels of grayscale morphology: one pass over the image for each tap of the filter."""

from __future__ import annotations

import torch

from penstock.kernels.registry import kernel
from penstock.ops import window

_WIDER = {torch.uint16: torch.int32, torch.uint32: torch.int64, torch.uint64: torch.int64}


class _Taps:
    """How a node's filter lies over its image."""

    def __init__(self, attrs):
        self.strides, self.rates = attrs["strides"][1:3], attrs["rates"][1:3]
        self.padding = attrs["padding"]

    def fit(self, image, filter):
        """The (before, after) pads of height and width, and the output's sizes."""
        sizes, taps = tuple(image.shape[1:3]), filter.shape[:2]
        extents = [(n - 1) * rate + 1 for n, rate in zip(taps, self.rates, strict=True)]
        pairs = window.pads(sizes, extents, self.strides, self.padding, [])
        dims = zip(sizes, extents, self.strides, strict=True)
        return pairs, [window.output_size_or_nothing(*dim, self.padding) for dim in dims]

    def slices(self, filter, outputs):
        """For each tap its position in the filter and the part of the padded image that it sees."""
        if 0 in outputs:
            return
        height, width = outputs
        (stride_y, stride_x), (rate_y, rate_x) = self.strides, self.rates
        for y in range(filter.shape[0]):
            for x in range(filter.shape[1]):
                rows = slice(y * rate_y, y * rate_y + (height - 1) * stride_y + 1, stride_y)
                columns = slice(x * rate_x, x * rate_x + (width - 1) * stride_x + 1, stride_x)
                yield (y, x), (slice(None), rows, columns)

    def maxima(self, image, filter):
        """The dilated image, and for each of its entries the number of the tap that gave it."""
        (top, left), outputs = self.fit(image, filter)
        if 0 in outputs:
            nothing = image.new_empty((image.shape[0], *outputs, image.shape[3]))
            return nothing, nothing.int()
        padded = torch.constant_pad_nd(image, [0, 0, *left, *top], _lowest(image.dtype))
        inside = torch.constant_pad_nd(
            torch.ones(image.shape[1:3], dtype=torch.bool, device=image.device), [*left, *top]
        )
        best = chosen = None
        for number, (tap, part) in enumerate(self.slices(filter, outputs)):
            # Padding never wins, whatever the filter adds to it.
            value = (padded[part] + filter[tap]).masked_fill_(
                ~inside[part[1:]].unsqueeze(-1), _lowest(image.dtype)
            )
            if best is None:
                best, chosen = value, torch.zeros_like(value, dtype=torch.int32)
            else:
                larger = value > best
                best = torch.where(larger, value, best)
                chosen.masked_fill_(larger, number)
        return best, chosen


def _lowest(dtype):
    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def _computable(*tensors):
    """The tensors in a type that ATen can compute in."""
    wide = _WIDER.get(tensors[0].dtype)
    return tensors if wide is None else tuple(tensor.to(wide) for tensor in tensors)


@kernel("Dilation2D", fresh=True)
def _(node):
    taps = _Taps(node.attrs)

    def run(image, filter):
        if image.shape[3] != filter.shape[2]:
            raise ValueError("image and filter must have the same depth")
        best, _ = taps.maxima(*_computable(image, filter))
        if best.dtype.is_floating_point:  # TensorFlow starts from the lowest finite number
            best = best.clamp_(min=torch.finfo(best.dtype).min)
        return best.to(image.dtype)

    return run


@kernel("Dilation2DBackpropInput", fresh=True)
def _(node):
    taps = _Taps(node.attrs)

    def run(image, filter, grad):
        _, height, width, _ = image.shape
        image, filter, flowing = _computable(image, filter, grad)
        (top, left), outputs = taps.fit(image, filter)
        _, chosen = taps.maxima(image, filter)
        padded = torch.constant_pad_nd(torch.zeros_like(image), [0, 0, *left, *top])
        for number, (_, part) in enumerate(taps.slices(filter, outputs)):
            padded[part] += flowing * (chosen == number)
        result = padded[:, top[0] : top[0] + height, left[0] : left[0] + width]
        return result.to(grad.dtype)

    return run


@kernel("Dilation2DBackpropFilter", fresh=True)
def _(node):
    taps = _Taps(node.attrs)

    def run(image, filter, grad):
        image, filter, flowing = _computable(image, filter, grad)
        _, outputs = taps.fit(image, filter)
        _, chosen = taps.maxima(image, filter)
        result = torch.zeros_like(filter)
        for number, (tap, _) in enumerate(taps.slices(filter, outputs)):
            result[tap] = (flowing * (chosen == number)).sum((0, 1, 2), dtype=filter.dtype)
        return result.to(grad.dtype)

    return run
