"""Bilinear sampling: each point is a weighted sum of four pixels, those outside being zero."""

import torch

from penstock.errors import InvalidArgumentError, UnimplementedError
from penstock.kernels.registry import kernel


def _check(data, warp):
    shapes = list(data.shape), list(warp.shape)
    if data.dim() != 4:
        raise UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is currently supported. The input data shape must be "
            f"[batch_size, data_height, data_width, data_channels], but is: {shapes[0]}",
        )
    if warp.dim() < 2:
        message = f"warp should be at least a matrix, got shape {shapes[1]}"
        raise InvalidArgumentError(None, None, message)
    if warp.shape[-1] != 2:
        raise UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is supported, warping coordinates must be 2D; warp shape "
            f"last entry should be 2, but shape vector is: {shapes[1]}",
        )
    if data.shape[0] != warp.shape[0]:
        raise InvalidArgumentError(
            None,
            None,
            "Batch size of data and warp tensor must be the same, but input shapes are: "
            f"{shapes[0]}, {shapes[1]}",
        )


class _Corners:
    """The four pixels around each point, and how near the point is to the lower ones."""

    def __init__(self, data, warp):
        self.batch, height, width, self.channels = data.shape
        points = warp.reshape(self.batch, -1, 2)
        size = points.new_tensor([width, height])
        # A point off the image by a pixel or more counts for nothing; NaN is no point at all.
        self.inside = ((points > -1) & (points < size)).all(-1, keepdim=True)
        points = torch.where(self.inside, points, torch.zeros_like(points))
        self._low = points.floor().long()
        self.near = (self._low + 1).to(points.dtype) - points
        self._width, self._height = width, height
        self._flat = data.reshape(self.batch, height * width, self.channels)

    def place(self, right, lower):
        """Indices of one corner among the pixels, and whether it is on the image."""
        x, y = self._low[..., 0] + right, self._low[..., 1] + lower
        on = (x >= 0) & (y >= 0) & (x < self._width) & (y < self._height)
        index = torch.where(on, y * self._width + x, 0)
        return index.unsqueeze(-1).expand(-1, -1, self.channels), on.unsqueeze(-1) & self.inside

    def pixels(self, right, lower):
        index, on = self.place(right, lower)
        if not self._flat.shape[1]:
            return self._flat.new_zeros(index.shape)
        return torch.where(on, self._flat.gather(1, index), self._flat.new_zeros(()))

    def weight(self, right, lower):
        x, y = self.near[..., :1], self.near[..., 1:]
        return (1 - x if right else x) * (1 - y if lower else y)


_CORNERS = ((0, 0), (1, 1), (0, 1), (1, 0))


@kernel("Resampler", fresh=True)
def _(node):
    def run(data, warp):
        _check(data, warp)
        corners = _Corners(data, warp)
        found = sum(corners.weight(*each) * corners.pixels(*each) for each in _CORNERS)
        return found.reshape(*warp.shape[:-1], data.shape[-1])

    return run


@kernel("ResamplerGrad", fresh=True)
def _(node):
    def run(data, warp, grad):
        _check(data, warp)
        corners = _Corners(data, warp)
        grad = grad.reshape(corners.batch, -1, corners.channels)
        return _grad_data(corners, data, grad), _grad_warp(corners, grad).reshape(warp.shape)

    return run


def _grad_data(corners, data, grad):
    total = torch.zeros_like(data).reshape(corners.batch, -1, corners.channels)
    for each in _CORNERS:
        index, on = corners.place(*each)
        part = torch.where(on, grad * corners.weight(*each), grad.new_zeros(()))
        if total.shape[1]:
            total.scatter_add_(1, index, part)
    return total.reshape(data.shape)


def _grad_warp(corners, grad):
    pixel = {each: corners.pixels(*each) for each in _CORNERS}
    x, y = corners.near[..., :1], corners.near[..., 1:]
    by_x = (1 - y) * (pixel[1, 1] - pixel[0, 1]) + y * (pixel[1, 0] - pixel[0, 0])
    by_y = (1 - x) * (pixel[1, 1] - pixel[1, 0]) + x * (pixel[0, 1] - pixel[0, 0])
    return torch.stack([(grad * by_x).sum(-1), (grad * by_y).sum(-1)], dim=-1)
