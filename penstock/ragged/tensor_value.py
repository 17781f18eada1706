"""`tf.ragged.RaggedTensorValue`: what a session gives for a ragged tensor, and what is fed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np


class RaggedTensorValue:
    """The NumPy form of a ragged tensor: values, and where in them each row begins and ends."""

    def __init__(self, values: Any, row_splits: Any):
        if not (
            isinstance(row_splits, (np.ndarray, np.generic))
            and row_splits.dtype in (np.int64, np.int32)
            and row_splits.ndim == 1
        ):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values: Any = values
        self._row_splits: Any = row_splits

    @property
    def values(self) -> Any:
        """The rows put together: an array, or ragged again."""
        return self._values

    @property
    def row_splits(self) -> Any:
        """Row i is `values[row_splits[i]:row_splits[i + 1]]`."""
        return self._row_splits

    @property
    def dtype(self) -> Any:
        return self._values.dtype

    @property
    def flat_values(self) -> Any:
        """The array of all elements."""
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all ragged dimensions, the outermost first."""
        inner = self._values
        rest = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self._row_splits, *rest)

    @property
    def ragged_rank(self) -> int:
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes of the dimensions; None for a ragged one."""
        return (self._row_splits.shape[0] - 1, None, *self._values.shape[1:])

    def to_list(self) -> list[Any]:
        """The same as nested Python lists."""
        inner = self._values
        rows = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        bounds = self._row_splits.tolist()
        return [rows[start:end] for start, end in pairwise(bounds)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"
