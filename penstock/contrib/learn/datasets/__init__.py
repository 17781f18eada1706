"""`tf.contrib.learn.datasets`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.contrib.learn.datasets import base, mnist, synthetic, text_datasets
from penstock.contrib.learn.datasets.base import load_boston, load_iris

__all__ = [
    "DATASETS",
    "SYNTHETIC",
    "base",
    "load_boston",
    "load_dataset",
    "load_iris",
    "make_dataset",
    "mnist",
    "synthetic",
    "text_datasets",
]

DATASETS: dict[str, Callable[..., Any]] = {
    "iris": load_iris,
    "boston": load_boston,
    "mnist": mnist.load_mnist,
    "dbpedia": text_datasets.load_dbpedia,
}
SYNTHETIC: dict[str, Callable[..., Any]] = {
    "circles": synthetic.circles,
    "spirals": synthetic.spirals,
}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """A dataset by its name."""
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    if name == "dbpedia":
        return text_datasets.load_dbpedia(size, test_with_fake_data)
    return DATASETS[name]()


def make_dataset(
    name: str,
    n_samples: int = 100,
    noise: float | None = None,
    seed: int = 42,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A dataset that is made: "circles" or "spirals"."""
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found or not implemeted: {name}")
    return SYNTHETIC[name](*args, n_samples=n_samples, noise=noise, seed=seed, **kwargs)
