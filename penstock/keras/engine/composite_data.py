"""Values of sparse and ragged tensors as data: rows are taken from them as from arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.ragged.tensor import RaggedTensor
from penstock.ragged.tensor_value import RaggedTensorValue


class CompositeArray:
    """The value of a sparse or ragged tensor, with the shape and the rows of an array.

    Args:
      value: SparseTensorValue or RaggedTensorValue; what a session is fed with.
    """

    def __init__(self, value: Any):
        self.value = value

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.value, tf.SparseTensorValue)

    @property
    def shape(self) -> tuple[Any, ...]:
        sizes = self.value.dense_shape if self.is_sparse else self.value.shape
        return tuple(None if size is None else int(size) for size in sizes)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return np.asarray(self.value.values).dtype if self.is_sparse else self.value.dtype

    def __len__(self) -> int:
        count = self.shape[0]
        return 0 if count is None else count

    def __getitem__(self, index: Any) -> CompositeArray:
        """The rows in a slice or of these numbers."""
        numbers = np.arange(len(self))[index]
        take = _sparse_rows if self.is_sparse else _ragged_rows
        return CompositeArray(take(self.value, numbers))

    def tensor(self, dtype: Any) -> Any:
        """The tensor of this value, of a type."""
        if self.is_sparse:
            indices, values, shape = self.value
            return tf.SparseTensor(indices, tf.cast(values, dtype), shape)
        return tf.cast(_ragged_tensor(self.value), dtype)


def as_data(value: Any) -> Any:
    """A sparse or ragged value, or an eager tensor of such, as data; others as they are."""
    if isinstance(value, tf.SparseTensorValue | RaggedTensorValue):
        return CompositeArray(value)
    if isinstance(value, tf.SparseTensor) and hasattr(value.values, "numpy"):
        parts = (value.indices, value.values, value.dense_shape)
        return CompositeArray(tf.SparseTensorValue(*(part.numpy() for part in parts)))
    if isinstance(value, RaggedTensor) and value._is_eager():
        return CompositeArray(value._value())
    return value


def run_values(session: Any, structure: Any) -> Any:
    """The values of a structure of tensors, those of sparse and ragged ones as data."""
    values = session.run(tf.nest.flatten(structure))
    return tf.nest.pack_sequence_as(structure, [as_data(each) for each in values])


def _sparse_rows(value: Any, numbers: Any) -> Any:
    places = np.full(int(value.dense_shape[0]), -1)
    places[numbers] = np.arange(len(numbers))
    rows = places[value.indices[:, 0]]
    kept = rows >= 0
    indices = np.concatenate([rows[kept, None], value.indices[kept, 1:]], axis=1)
    order = np.lexsort(indices.T[::-1])
    shape = np.array([len(numbers), *value.dense_shape[1:]], np.int64)
    return tf.SparseTensorValue(indices[order], np.asarray(value.values)[kept][order], shape)


def _ragged_rows(value: Any, numbers: Any) -> Any:
    splits = np.asarray(value.row_splits)
    parts = [np.arange(splits[number], splits[number + 1]) for number in numbers]
    inner = np.concatenate([np.zeros(0, splits.dtype), *parts])
    is_nested = isinstance(value.values, RaggedTensorValue)
    values = _ragged_rows(value.values, inner) if is_nested else value.values[inner]
    lengths = [len(part) for part in parts]
    return RaggedTensorValue(values, np.cumsum([0, *lengths], dtype=splits.dtype))


def _ragged_tensor(value: Any) -> Any:
    inner = value.values
    values = _ragged_tensor(inner) if isinstance(inner, RaggedTensorValue) else inner
    return RaggedTensor.from_row_splits(values, value.row_splits, validate=False)
