"""Pieces of clothing, in the format of the digits."""

from __future__ import annotations

import gzip
import os
from typing import Any

import numpy as np

from penstock.keras.datasets.local_files import local_path

_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def load_data() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(images, labels) of 60,000 pieces to train with and of 10,000 to test."""

    def read(name: str, offset: int) -> Any:
        path = local_path(os.path.join("fashion-mnist", name), _ORIGIN + name)
        with gzip.open(path, "rb") as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)

    y_train = read("train-labels-idx1-ubyte.gz", 8)
    x_train = read("train-images-idx3-ubyte.gz", 16).reshape(len(y_train), 28, 28)
    y_test = read("t10k-labels-idx1-ubyte.gz", 8)
    x_test = read("t10k-images-idx3-ubyte.gz", 16).reshape(len(y_test), 28, 28)
    return (x_train, y_train), (x_test, y_test)
