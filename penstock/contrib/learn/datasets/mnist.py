"""`tf.contrib.learn.datasets.mnist`: the handwritten digits of the tutorials."""

from __future__ import annotations

from typing import Any

from penstock.examples.tutorials.mnist.input_data import read_data_sets


def load_mnist(train_dir: str = "MNIST-data") -> Any:
    """The digits in a directory."""
    return read_data_sets(train_dir)
