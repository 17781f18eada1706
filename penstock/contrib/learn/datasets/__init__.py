"""`tf.contrib.learn.datasets`."""

from __future__ import annotations

from typing import Any

from penstock.contrib.learn.datasets import base, mnist
from penstock.contrib.learn.datasets.base import load_boston, load_iris

__all__ = ["base", "load_boston", "load_dataset", "load_iris", "mnist"]

_LOADERS = {"boston": load_boston, "iris": load_iris, "mnist": mnist.load_mnist}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """A dataset by its name."""
    if name not in _LOADERS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return _LOADERS[name]()
