"""`tf.contrib.learn.datasets.mnist`: the handwritten digits of the tutorials."""

from __future__ import annotations

from typing import Any

from penstock.examples.tutorials.mnist.input_data import (
    DEFAULT_SOURCE_URL,
    DataSet,
    dense_to_one_hot,
    extract_images,
    extract_labels,
    read_data_sets,
)

__all__ = [
    "DEFAULT_SOURCE_URL",
    "DataSet",
    "dense_to_one_hot",
    "extract_images",
    "extract_labels",
    "load_mnist",
    "read_data_sets",
]


def load_mnist(train_dir: str = "MNIST-data") -> Any:
    """The digits in a directory."""
    return read_data_sets(train_dir)
