"""`tf.estimator.inputs.pandas_input_fn`: data frames as the input of an Estimator."""

from __future__ import annotations

import importlib.util
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.estimator.inputs.feeding import check_shuffle, enqueue_columns, next_rows


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """A function that gives batches of a data frame, for `Estimator.train` and others.

    Args:
      x: a DataFrame of features.
      y: labels: a Series, or a DataFrame; None for prediction.
      batch_size: how many examples a batch has.
      num_epochs: how often to go through the data; for ever if None.
      shuffle: whether to give examples in random order; must be said.
      queue_capacity: the capacity of the queue; None for one that fits the data.
      num_threads: how many threads fill it.
      target_column: a name for the labels that no feature has.
    """
    if not _has_pandas():
        raise TypeError("pandas_input_fn should not be called without pandas installed")
    check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    targets = _targets(x, y, target_column)
    columns = {name: x[name].to_numpy() for name in x.columns}
    columns.update({unique: series.to_numpy() for unique, _, series in targets})
    if queue_capacity is None:
        queue_capacity = 4 * len(x) if shuffle else len(x)
    capacity = queue_capacity

    def input_fn() -> Any:
        queue = enqueue_columns(
            columns,
            capacity,
            bool(shuffle),
            num_threads,
            batch_size,
            num_epochs,
            min_after_dequeue=max(capacity / 4, 1),
            index=x.index.to_numpy(),
        )
        rows = dict(zip(columns, next_rows(queue, batch_size, num_epochs), strict=True))
        labels = {name: rows.pop(unique) for unique, name, _ in targets}
        if y is None:
            return rows
        return rows, labels if y.ndim == 2 else next(iter(labels.values()))

    return input_fn


def _has_pandas() -> bool:
    return importlib.util.find_spec("pandas") is not None


def _targets(x: Any, y: Any, target_column: str) -> list[tuple[str, str, Any]]:
    """The columns of the labels: a name that is unique, their name, and their values."""
    if y is None:
        return []
    if target_column in x:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already has a column "
            f"with that name: {x.columns}"
        )
    if not np.array_equal(x.index, y.index):
        raise ValueError(
            f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n"
        )
    if y.ndim == 1:
        return [(target_column, target_column, y)]
    return [(f"{name}_{uuid.uuid4()}" if name in x else name, name, y[name]) for name in y.columns]
