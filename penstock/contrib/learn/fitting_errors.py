"""What `tf.contrib.learn` takes of scikit-learn's functions, and of its errors."""

from __future__ import annotations

from typing import Any

import numpy as np


class NotFittedError(ValueError, AttributeError):
    """A model was used before it was trained."""


def accuracy_score(y_true: Any, y_pred: Any) -> Any:
    """The share of predictions that are right."""
    return np.average(np.asarray(y_true) == np.asarray(y_pred))


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of squared differences, of one column or of several."""
    difference = np.squeeze(y_true) - np.squeeze(y_pred)
    return np.average(difference**2)


def train_test_split(*args: Any, **options: Any) -> tuple[Any, ...]:
    """Arrays cut into a part for training and one for tests, in an order drawn at random.

    Args:
      test_size, train_size: the shares of the parts; 0.25 and the rest by default.
      random_state: the seed of that order.
    """
    train_size = options.get("train_size")
    if train_size is None:
        test_size = options.get("test_size")
        train_size = 0.75 if test_size is None else 1 - test_size
    order = np.random.RandomState(options.get("random_state")).permutation(args[0].shape[0])
    count = int(train_size * len(order))
    parts = ((array[order[:count]], array[order[count:]]) for array in args)
    return tuple(part for pair in parts for part in pair)
