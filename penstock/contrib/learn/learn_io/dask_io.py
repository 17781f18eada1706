"""Tables of dask as inputs of estimators."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

HAS_DASK = importlib.util.find_spec("dask") is not None


def extract_dask_data(data: Any) -> Any:
    """The rows of a dask table or column, computed; anything else as it is."""
    return data.compute() if _is_of_dask(data) else data


def extract_dask_labels(labels: Any) -> Any:
    """The one column of a dask table, computed; anything else as it is."""
    if _is_of_dask(labels) and len(getattr(labels, "columns", [""])) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return extract_dask_data(labels)


def _is_of_dask(data: Any) -> bool:
    if not HAS_DASK:
        return False
    frames = importlib.import_module("dask.dataframe")
    return isinstance(data, frames.Series | frames.DataFrame)
