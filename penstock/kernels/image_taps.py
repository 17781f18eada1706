"""Tables of how an axis of images is resized.

For each pixel of the result a table has the pixels that it is made of, and their weights. It is
computed once per pair of sizes, in single precision, as TensorFlow computes its coordinates.
"""

import functools
from typing import NamedTuple

import numpy as np
import torch

_CACHED_TABLES = 128
_single = np.float32


def _scale(size, wanted, align_corners):
    if align_corners and wanted > 1 and size > 1:
        return _single(size - 1) / _single(wanted - 1)
    return _single(size) / _single(wanted)


def _source(size, wanted, align_corners, half_pixel_centers):
    """Where in the source the pixels of the result are."""
    scale = _scale(size, wanted, align_corners)
    pixels = np.arange(wanted, dtype=_single)
    if half_pixel_centers:
        return (pixels + _single(0.5)) * scale - _single(0.5)
    return pixels * scale


class Taps(NamedTuple):
    """What an axis of the result is made of: `indices` and `weights`, each [taps, wanted size]."""

    indices: torch.Tensor
    weights: torch.Tensor
    identical: bool  # the axis stays as it is
    prepared: dict  # by the number of channels, what `pairs` gives

    @property
    def is_pair(self):
        """Whether each pixel lies between two."""
        return len(self.indices) == 2 and not self.identical

    def pairs(self, channels):
        """Both indices of a pair of taps in one vector, and the weights of the second ones.

        For lines of numbers in which so many channels of the pixels lie side by side.
        """
        if channels not in self.prepared:
            place = torch.arange(channels, device=self.indices.device)
            joined = (self.indices.unsqueeze(2) * channels + place).flatten()
            self.prepared[channels] = joined, self.weights[1].repeat_interleave(channels)
        return self.prepared[channels]

    @classmethod
    def of(cls, indices, weights, size, device):
        used = weights.any(1)
        used[0] |= not used.any()
        indices = np.ascontiguousarray(indices[used], np.int64)
        weights = np.ascontiguousarray(weights[used], _single)
        kept = indices.shape[1] == size and np.array_equal(indices[0], np.arange(size))
        kept = kept and bool((weights[0] == 1).all()) and not weights[1:].any()
        tensors = torch.from_numpy(indices).to(device), torch.from_numpy(weights).to(device)
        return cls(*tensors, kept, {})


@functools.lru_cache(_CACHED_TABLES)
def nearest_pixels(size, wanted, align_corners, half_pixel_centers, device):
    scale = _scale(size, wanted, align_corners)
    pixels = np.arange(wanted, dtype=_single)
    source = (pixels + _single(0.5)) * scale if half_pixel_centers else pixels * scale
    if align_corners:  # halves away from zero
        source = np.floor(source + _single(0.5))
    indices = np.clip(np.floor(source), 0, size - 1)
    return torch.from_numpy(indices.astype(np.int64)).to(device)


@functools.lru_cache(_CACHED_TABLES)
def bilinear_taps(size, wanted, align_corners, half_pixel_centers, device):
    source = _source(size, wanted, align_corners, half_pixel_centers)
    below = np.floor(source)
    nearer = source - below
    indices = np.stack([np.maximum(below, 0), np.minimum(np.ceil(source), size - 1)])
    return Taps.of(indices, np.stack([1 - nearer, nearer]), size, device)


_CUBIC_STEPS = 1024  # weights are looked up in a table of so many steps


@functools.cache
def _cubic_table(a):
    """The cubic kernel at distances 0 to 1, and at distances 1 to 2."""
    a = _single(a)
    x = np.arange(_CUBIC_STEPS + 1, dtype=np.float64) / _CUBIC_STEPS
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x += 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return near.astype(_single), far.astype(_single)


@functools.lru_cache(_CACHED_TABLES)
def bicubic_taps(size, wanted, align_corners, half_pixel_centers, device):
    source = _source(size, wanted, align_corners, half_pixel_centers)
    below = np.floor(source)
    steps = np.rint((source - below) * _single(_CUBIC_STEPS)).astype(np.int64)
    near, far = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    rest = _CUBIC_STEPS - steps
    weights = np.stack([far[steps], near[steps], near[rest], far[rest]])
    asked = below.astype(np.int64) + np.arange(-1, 3)[:, None]
    indices = np.clip(asked, 0, size - 1)
    if half_pixel_centers:  # pixels outside of the image don't count
        weights = np.where(indices == asked, weights, _single(0))
        total = weights.sum(0, dtype=_single)
        usable = np.abs(total) >= 1000 * np.finfo(_single).tiny
        weights = np.where(usable, weights / np.where(usable, total, 1), weights)
    return Taps.of(indices, weights, size, device)


@functools.lru_cache(_CACHED_TABLES)
def area_taps(size, wanted, align_corners, device):
    """How much of each pixel an interval of the source covers, as a share of the interval."""
    scale = _scale(size, wanted, align_corners)
    pixels = np.arange(wanted, dtype=_single)
    begin, end = pixels * scale, (pixels + _single(1)) * scale
    first, last = np.floor(begin), np.ceil(end)
    taps = int((last - first).max())
    asked = first + np.arange(taps, dtype=_single)[:, None]
    low, high = np.maximum(asked, begin), np.minimum(asked + _single(1), end)
    covered = np.where(asked < last, np.maximum(high - low, 0), 0)
    return Taps.of(np.clip(asked, 0, size - 1), covered / scale, size, device)
