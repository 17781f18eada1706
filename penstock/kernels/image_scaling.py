"""Kernels of images scaled by a filter: each pixel a weighted mean of those within its reach."""

import functools
import math

import numpy as np
import torch

from penstock import errors
from penstock.kernels.image_resize import HEIGHT, WIDTH, checked_size, resampled, spread
from penstock.kernels.image_taps import Taps
from penstock.kernels.registry import kernel

_single = np.float32
_CACHED_TABLES = 128


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# Filters: their reach, and their height at a distance of at least zero ------------------------


def _lanczos(radius):
    def height(x):
        near = np.where(x <= 1e-3, _single(1), x) * _single(math.pi)
        wave = radius * np.sin(near) * np.sin(near / _single(radius)) / (near * near)
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, wave))

    return radius, height


def _gaussian(x):
    return np.where(x >= 1.5, 0, np.exp(-x * x / _single(2 * 0.5**2)))


def _box(x):
    return np.where(x < 0.5, 1, np.where(x == 0.5, 0.5, 0))


def _triangle(x):
    return np.maximum(1 - x, 0)


def _cubic(near, far):
    """A cubic filter from its polynomials, of distances up to 1 and up to 2."""

    def height(x):
        values = [functools.reduce(lambda y, c: y * x + _single(c), part) for part in (near, far)]
        return np.where(x >= 2, 0, np.where(x >= 1, values[1], values[0]))

    return 2, height


_FILTERS = {
    "lanczos1": _lanczos(1),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "gaussian": (1.5, _gaussian),
    "box": (0.5, _box),
    "triangle": (1, _triangle),
    "keyscubic": _cubic((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2)),
    "mitchellcubic": _cubic((7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9)),
}


@functools.lru_cache(_CACHED_TABLES)
def _table(name, size, wanted, scale, translation, antialias, device):
    radius, height = _FILTERS[name]
    inverse = _single(1) / _single(scale)
    widened = max(inverse, _single(1)) if antialias else _single(1)
    reach = _single(radius) * widened
    centers = (np.arange(wanted, dtype=_single) + _single(0.5)) * inverse - inverse * _single(
        translation
    )
    first = np.clip(np.ceil(centers - reach - _single(0.5)), 0, size - 1)
    last = np.clip(np.floor(centers + reach - _single(0.5)), 0, size - 1)
    taps = int((last - first).max(initial=0)) + 1
    asked = first + np.arange(taps, dtype=_single)[:, None]
    weights = height(np.abs((asked + _single(0.5) - centers) / widened)).astype(_single)
    weights = np.where(asked <= last, weights, _single(0))
    total = weights.sum(0, dtype=_single)
    # Outside of the image there is nothing to see.
    seen = (centers >= 0) & (centers <= size) & (np.abs(total) >= 1000 * np.finfo(_single).tiny)
    weights = np.where(seen, weights / np.where(seen, total, _single(1)), _single(0))
    return Taps.of(np.clip(asked, 0, size - 1), weights, size, device)


def _tables(node, scale, translation, sizes, wanted, device):
    if scale.shape != (2,) or translation.shape != (2,):
        raise _invalid(
            f"scale and translation must have two elements, got shapes {list(scale.shape)} and "
            f"{list(translation.shape)}"
        )
    factors = scale.tolist()
    if any(factor <= 0 for factor in factors):
        raise _invalid(f"scale must be greater than zero, got {factors}")
    name, antialias = node.attrs["kernel_type"], node.attrs["antialias"]
    values = zip(sizes, wanted, factors, translation.tolist(), strict=True)
    return [_table(name, *entry, antialias, device) for entry in values]


def _check_filter(node):
    if node.attrs["kernel_type"] not in _FILTERS:
        known = ", ".join(_FILTERS)
        raise _invalid(f"Unrecognized kernel type: {node.attrs['kernel_type']} (known: {known})")


@kernel("ScaleAndTranslate", fresh=True)
def _(node):
    _check_filter(node)

    def run(images, size, scale, translation):
        wanted = checked_size(images, size)
        sizes = images.shape[HEIGHT], images.shape[WIDTH]
        rows, columns = _tables(node, scale, translation, sizes, wanted, images.device)
        resized = resampled(resampled(images, HEIGHT, rows), WIDTH, columns)
        return resized.clone() if resized is images else resized

    return run


@kernel("ScaleAndTranslateGrad", fresh=True)
def _(node):
    _check_filter(node)

    def run(grads, original, scale, translation):
        for what, value in (("input", grads), ("original_image", original)):
            if value.dim() != 4:
                raise _invalid(f"{what} must be 4-dimensional, got shape {list(value.shape)}")
        sizes = original.shape[HEIGHT], original.shape[WIDTH]
        wanted = grads.shape[HEIGHT], grads.shape[WIDTH]
        rows, columns = _tables(node, scale, translation, sizes, wanted, grads.device)
        result = spread(spread(grads, WIDTH, columns, sizes[1]), HEIGHT, rows, sizes[0])
        return result.clone() if result is grads else result.to(torch.float32)

    return run
