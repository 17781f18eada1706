"""`tf.keras.utils.to_categorical` and `normalize`."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["normalize", "to_categorical"]


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> Any:
    """One-hot rows for classes 0, 1, …; a last axis of size 1 goes away."""
    classes = np.array(y, dtype="int")
    shape = classes.shape
    if shape and shape[-1] == 1 and len(shape) > 1:
        shape = shape[:-1]
    classes = classes.ravel()
    num_classes = num_classes or int(np.max(classes)) + 1
    rows = np.zeros((classes.shape[0], num_classes), dtype=dtype)
    rows[np.arange(classes.shape[0]), classes] = 1
    return np.reshape(rows, (*shape, num_classes))


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """An array whose vectors along an axis have norm 1; zeros stay zeros."""
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)
