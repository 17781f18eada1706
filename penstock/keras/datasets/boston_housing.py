"""Houses' prices and what they depend on."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.keras.datasets.local_files import arrays_of

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/boston_housing.npz"


def load_data(
    path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(features, prices) to train with and to test."""
    with arrays_of(path, _ORIGIN) as file:
        x, y = file["x"], file["y"]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    at = int(len(x) * (1 - test_split))
    return (x[:at], y[:at]), (x[at:], y[at:])
