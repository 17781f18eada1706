"""Handwritten digits."""

from __future__ import annotations

from typing import Any

from penstock.keras.datasets.local_files import arrays_of

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"


def load_data(path: str = "mnist.npz") -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(images, labels) of 60,000 digits to train with and of 10,000 to test."""
    with arrays_of(path, _ORIGIN) as file:
        return (file["x_train"], file["y_train"]), (file["x_test"], file["y_test"])
