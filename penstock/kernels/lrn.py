"""Kernels of local response normalization.

The sum over neighbouring channels is a product with a banded matrix, which the matrix kernels do
nine times as fast as pooling over channels; for many channels, where that product wastes work on
zeros, it is a few shifted sums of doubling width.
"""

from __future__ import annotations

import torch

from penstock.kernels.registry import kernel

_MOST_CHANNELS_OF_BAND = 128


class _Bands:
    """Banded matrices of ones, times a factor, one for each number of channels."""

    def __init__(self, radius, factor):
        self.radius, self.factor = radius, factor
        self._made = {}

    def like(self, rows):
        key = rows.shape[1], rows.dtype, rows.device
        found = self._made.get(key)
        if found is None:
            i = torch.arange(rows.shape[1], device=rows.device)
            near = (i[:, None] - i[None, :]).abs() <= self.radius
            found = self._made[key] = near.to(rows.dtype).mul_(self.factor)
        return found


def _shifted_sums(rows, radius):
    """For each channel the sum over the channels within `radius`, by sums of doubling width."""
    channels = rows.shape[1]
    width = 2 * radius + 1
    padded = torch.constant_pad_nd(rows, [radius, radius])
    total = None
    start, span, partial = 0, 1, padded
    while True:
        if width & span:
            part = partial[:, start : start + channels]
            total = part.clone() if total is None else total.add_(part)
            start += span
        if 2 * span > width:
            return total
        partial = partial[:, :-span] + partial[:, span:]
        span *= 2


class _Neighbours:
    """Scaled sums over neighbouring channels of a matrix of rows."""

    def __init__(self, radius, factor):
        self.radius, self.factor = radius, factor
        self.bands = _Bands(radius, factor)

    def sums(self, rows):
        if rows.shape[1] <= _MOST_CHANNELS_OF_BAND:
            return rows @ self.bands.like(rows)
        return _shifted_sums(rows, self.radius).mul_(self.factor)

    def sums_plus(self, rows, bias):
        """Sums with `bias` added."""
        if rows.shape[1] <= _MOST_CHANNELS_OF_BAND:
            return torch.addmm(rows.new_full((), bias), rows, self.bands.like(rows))
        return _shifted_sums(rows, self.radius).mul_(self.factor).add_(bias)


def _to_minus(beta):
    """A function s -> s ** -beta; the usual exponents need no logarithm."""
    if beta == 0.5:
        return torch.rsqrt
    if beta == 1.0:
        return torch.reciprocal
    if beta == 0.75:  # s ** -0.75 = s ** 0.25 / s

        def power(s):
            root = s.rsqrt()
            return root.rsqrt().mul_(root).mul_(root)

        return power
    return lambda s: s.pow(-beta)


@kernel("LRN", fresh=True)
def _(node):
    attrs = node.attrs
    neighbours = _Neighbours(attrs["depth_radius"], attrs["alpha"])
    bias, power = attrs["bias"], _to_minus(attrs["beta"])

    def run(image):
        if image.dim() != 4:
            raise ValueError("an image batch has four dimensions")
        rows = image.reshape(-1, image.shape[-1])
        wide = rows if rows.dtype.is_floating_point and rows.itemsize >= 4 else rows.float()
        result = power(neighbours.sums_plus(wide * wide, bias)).mul_(wide)
        return result.to(rows.dtype).view(image.shape)

    return run


@kernel("LRNGrad", fresh=True)
def _(node):
    attrs = node.attrs
    bias, beta, power = attrs["bias"], attrs["beta"], _to_minus(attrs["beta"])
    energies = _Neighbours(attrs["depth_radius"], attrs["alpha"])
    reactions = _Neighbours(attrs["depth_radius"], 2 * attrs["alpha"] * beta)

    def run(grad, image, output):
        if not grad.shape == image.shape == output.shape:
            raise ValueError("gradient, input and output must have one shape")
        grads, rows, outputs = (
            entry.reshape(-1, image.shape[-1]) for entry in (grad, image, output)
        )
        if rows.itemsize < 4:
            grads, rows, outputs = grads.float(), rows.float(), outputs.float()
        energy = energies.sums_plus(rows * rows, bias)
        reaction = reactions.sums((grads * outputs).div_(energy))
        result = power(energy).mul_(grads).addcmul_(rows, reaction, value=-1)
        return result.to(image.dtype).view(image.shape)

    return run
