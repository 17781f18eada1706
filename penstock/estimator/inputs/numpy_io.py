"""`tf.estimator.inputs.numpy_input_fn`: arrays as the input of an Estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.estimator.inputs.feeding import check_shuffle, enqueue_columns, next_rows

_SINGLE_FEATURE = "__direct_np_input__"
_SINGLE_TARGET = "__target_key__"


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """A function that gives batches of arrays, for `Estimator.train` and others.

    Args:
      x: arrays of features by name, or one array.
      y: labels: an array, or arrays by name; None for prediction.
      batch_size: how many examples a batch has.
      num_epochs: how often to go through the data; for ever if None.
      shuffle: whether to give examples in random order; must be said.
      queue_capacity: the capacity of the queue.
      num_threads: how many threads fill it.
    """
    check_shuffle(shuffle)

    def input_fn() -> Any:
        features = _features_by_name(x)
        targets = _targets_by_name(y, features)
        columns = {**features, **targets}
        if len({column.shape[0] for column in columns.values()}) != 1:
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y must have the "
                f"same length.\nShapes in x: {_shapes(features)}\nShapes in y: {_shapes(targets)}\n"
            )
        queue = enqueue_columns(
            columns, queue_capacity, bool(shuffle), num_threads, batch_size, num_epochs
        )
        rows = dict(zip(columns, next_rows(queue, batch_size, num_epochs), strict=True))
        given = {key: rows[key] for key in features}
        batch = given if isinstance(x, dict) else given[_SINGLE_FEATURE]
        if y is None:
            return batch
        wanted = {key: rows[key] for key in targets}
        return batch, wanted if isinstance(y, dict) else next(iter(wanted.values()))

    return input_fn


def _shapes(columns: dict[str, Any]) -> dict[str, Any]:
    return {key: column.shape for key, column in columns.items()}


def _features_by_name(x: Any) -> dict[str, Any]:
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return dict(sorted(x.items()))
    if isinstance(x, np.ndarray):
        if x.size == 0:
            raise ValueError("x cannot be an empty array")
        return {_SINGLE_FEATURE: x}
    raise TypeError(f"x must be a dict or array; got {type(x).__name__}")


def _targets_by_name(y: Any, features: dict[str, Any]) -> dict[str, Any]:
    if y is None:
        return {}
    if not isinstance(y, dict):
        key = _SINGLE_TARGET
        while key in features:
            key += "_n"
        return {key: y}
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    duplicates = features.keys() & y.keys()
    if duplicates:
        raise ValueError(
            f"{len(duplicates)} duplicate keys are found in both x and y: {duplicates}"
        )
    return dict(sorted(y.items()))
