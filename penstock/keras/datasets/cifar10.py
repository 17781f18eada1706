"""Small colour images of ten classes."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from penstock.keras.datasets.cifar import column, in_data_format, load_batch
from penstock.keras.datasets.local_files import local_path

_ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz (unpacked)"


def load_data() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(images, labels) of 50,000 images to train with and of 10,000 to test."""
    folder = local_path("cifar-10-batches-py", _ORIGIN)
    parts = [load_batch(os.path.join(folder, f"data_batch_{i}")) for i in range(1, 6)]
    x_train = np.concatenate([images for images, _ in parts])
    y_train = column([label for _, labels in parts for label in labels]).astype(np.uint8)
    x_test, y_test = load_batch(os.path.join(folder, "test_batch"))
    return (in_data_format(x_train), y_train), (in_data_format(x_test), column(y_test))
