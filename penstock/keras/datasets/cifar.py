"""The files of CIFAR-10 and CIFAR-100."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.keras import backend as K
from penstock.keras.datasets.plain_pickle import load_objects


def load_batch(path: str, label_key: str = "labels") -> tuple[Any, list[int]]:
    """The images of a file, channels first, and their labels."""
    with open(path, "rb") as file:
        found = load_objects(file)
    data = found[b"data"]
    return data.reshape(data.shape[0], 3, 32, 32), found[label_key.encode()]


def in_data_format(images: Any) -> Any:
    """Images with their channels where Keras has them."""
    is_last = K.image_data_format() == "channels_last"
    return images.transpose(0, 2, 3, 1) if is_last else images


def column(labels: Any) -> Any:
    """Labels as an array of one column."""
    return np.reshape(labels, (len(labels), 1))
