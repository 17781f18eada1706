"""Small colour images of a hundred classes."""

from __future__ import annotations

import os
from typing import Any

from penstock.keras.datasets.cifar import column, in_data_format, load_batch
from penstock.keras.datasets.local_files import local_path

_ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz (unpacked)"


def load_data(label_mode: str = "fine") -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(images, labels) of 50,000 images to train with and of 10,000 to test.

    Args:
      label_mode: "fine" for 100 classes, "coarse" for 20.
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    folder = local_path("cifar-100-python", _ORIGIN)
    key = f"{label_mode}_labels"
    x_train, y_train = load_batch(os.path.join(folder, "train"), key)
    x_test, y_test = load_batch(os.path.join(folder, "test"), key)
    return (
        (in_data_format(x_train), column(y_train)),
        (in_data_format(x_test), column(y_test)),
    )
