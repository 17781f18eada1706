"""Datasets that are made: points on circles and on spirals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.contrib.learn.datasets.base import Dataset


def circles(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    factor: float = 0.8,
    n_classes: int = 2,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Points on circles around the origin, one for each class.

    Args:
      noise: the standard deviation of what is added to points.
      factor: how much smaller each circle is than the one before.
    """
    random = np.random.RandomState(seed)
    angles = np.linspace(0, 2 * np.pi, n_samples // n_classes)
    unit = np.stack([np.cos(angles), np.sin(angles)])
    scales = factor ** np.arange(n_classes)
    extra = n_samples % n_classes
    along_x = np.cos(random.rand(extra) * 2 * np.pi)
    along_y = np.sin(random.rand(extra) * 2 * np.pi)
    points = np.hstack([*(unit * scale for scale in scales), np.stack([along_x, along_y])])
    return _shuffled(points, n_classes, n_samples, noise, random)


def spirals(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    mode: str = "archimedes",
    n_loops: int = 2,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Points on two spirals, one for each class.

    Args:
      noise: the standard deviation of what is added to points.
      mode: "archimedes", "bernoulli" (with `exp_scale`) or "fermat".
      n_loops: how often a spiral goes around.
    """
    if mode not in _RADII:
        raise ValueError(f"Cannot generate spiral with mode {mode}")
    random = np.random.RandomState(seed)
    n_classes = 2
    angles = np.linspace(0, 2 * n_loops * np.pi, n_samples // n_classes)
    parts = [_spiral(mode, angles, label * np.pi, **kwargs) for label in range(n_classes)]
    extra = n_samples % n_classes
    if extra:
        parts.append(_spiral(mode, random.rand(extra) * 2 * np.pi, 0.0, **kwargs))
    return _shuffled(np.hstack(parts), n_classes, n_samples, noise, random)


_RADII: dict[str, Callable[[Any, float], Any]] = {
    "archimedes": lambda angles, exp_scale: angles,
    "bernoulli": lambda angles, exp_scale: np.exp(exp_scale * angles),
    "fermat": lambda angles, exp_scale: np.sqrt(angles),
}


def _spiral(mode: str, angles: Any, offset: float, exp_scale: float = 0.1, **_: Any) -> Any:
    """Points of a spiral, both coordinates scaled to at most 1."""
    turned = angles + offset
    points = _RADII[mode](angles, exp_scale) * np.stack([np.cos(turned), np.sin(turned)])
    return points / np.max(np.abs(points), axis=1, keepdims=True)


def _shuffled(
    points: Any, n_classes: int, n_samples: int, noise: float | None, random: Any
) -> Dataset:
    labels = np.repeat(np.arange(n_classes), n_samples // n_classes)
    labels = np.hstack([labels, np.zeros(n_samples % n_classes, dtype=labels.dtype)])
    order = random.permutation(range(n_samples))
    points = points.T
    if noise is not None:
        points = points + random.normal(scale=noise, size=points.shape)
    return Dataset(data=points[order], target=labels[order].astype(np.int32))
