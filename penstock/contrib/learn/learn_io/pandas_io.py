"""Tables of pandas as inputs of estimators."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from penstock.estimator.inputs import pandas_io

HAS_PANDAS = importlib.util.find_spec("pandas") is not None

_KINDS_OF_NUMBERS = "biuf"


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """`tf.estimator.inputs.pandas_input_fn`, which shuffles unless told otherwise."""
    return pandas_io.pandas_input_fn(
        x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column
    )


def extract_pandas_data(data: Any) -> Any:
    """The numbers of a table as an array of floats; anything else as it is."""
    if not _is_table(data):
        return data
    _refuse_other_columns(data, "pandas data")
    return data.values.astype(float)


def extract_pandas_matrix(data: Any) -> Any:
    """The values of a table as an array; anything else as it is."""
    return data.values if _is_table(data) else data


def extract_pandas_labels(labels: Any) -> Any:
    """The one column of a table as an array; anything else as it is."""
    if not _is_table(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _refuse_other_columns(labels, "labels")
    return labels.values


def _is_table(data: Any) -> bool:
    return HAS_PANDAS and isinstance(data, importlib.import_module("pandas").DataFrame)


def _refuse_other_columns(table: Any, what: str) -> None:
    others = [name for name in table if table[name].dtype.kind not in _KINDS_OF_NUMBERS]
    if others:
        found = ", ".join(f"'{name}' type='{table[name].dtype.name}'" for name in others)
        raise ValueError(
            f"Data types for extracting {what} must be int, float, or bool. Found: {found}"
        )
