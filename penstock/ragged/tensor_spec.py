"""`tf.RaggedTensorSpec`: what is known of a ragged tensor before there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.type_spec import BatchableTypeSpec
from penstock.ragged.tensor_value import RaggedTensorValue


class RaggedTensorSpec(BatchableTypeSpec):
    """A shape, a type, the number of ragged dimensions, and the type of the row splits."""

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = tf.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = tf.int64,
    ):
        self._shape = tf.TensorShape(shape)
        self._dtype = tf.as_dtype(dtype)
        self._row_splits_dtype = tf.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and ragged_rank >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self._ragged_rank = ragged_rank

    @property
    def value_type(self) -> Any:
        from penstock.ragged.tensor import RaggedTensor

        return RaggedTensor if self._ragged_rank > 0 else tf.Tensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a ragged tensor, or of a session's value of one."""
        if not hasattr(value, "ragged_rank"):
            raise TypeError(f"{value!r} is not a ragged tensor")
        dtype = tf.as_dtype(value.dtype)
        return cls(value.shape, dtype, value.ragged_rank, tf.as_dtype(value.row_splits.dtype))

    @property
    def _component_specs(self) -> list[Any]:
        if self._ragged_rank == 0:
            return [tf.TensorSpec(self._shape, self._dtype)]
        inner = self._shape[self._ragged_rank + 1 :]
        rows = None if self._shape.ndims is None else self._shape.as_list()[0]
        splits = [None if rows is None else rows + 1, *[None] * (self._ragged_rank - 1)]
        return [
            tf.TensorSpec(tf.TensorShape([None]).concatenate(inner), self._dtype),
            *(tf.TensorSpec([size], self._row_splits_dtype) for size in splits),
        ]

    def _to_components(self, value: Any) -> list[Any]:
        if hasattr(value, "nested_row_splits"):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, tensor_list: Sequence[Any]) -> Any:
        from penstock.ragged.tensor import RaggedTensor

        result, *nested_splits = tensor_list
        arrays = all(isinstance(each, np.ndarray) for each in tensor_list)
        for splits in reversed(nested_splits):
            if arrays:
                result = RaggedTensorValue(result, splits)
            else:
                result = RaggedTensor(result, splits, internal=True)
        return result

    # As elements of datasets: one encoded tensor each ------------------------------------------

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [tf.TensorSpec(None, tf.variant)]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return [value._to_variant(batched_input=False)]

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        return [value._to_variant(batched_input=True)]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        from penstock.ragged.tensor import RaggedTensor

        if self._ragged_rank < 0:
            raise ValueError(f"ragged_rank must be non-negative; got {self._ragged_rank}.")
        result = RaggedTensor._from_variant(tensor_list[0], self._dtype, self._ragged_rank)
        if self._ragged_rank == 0:
            result.set_shape(self._shape)
        elif self._shape.ndims is not None:
            rows = self._shape.as_list()[0]
            if rows is not None:
                result.row_splits.set_shape([rows + 1])
            inner = self._shape[1 + self._ragged_rank :]
            result.flat_values.set_shape(tf.TensorShape([None]).concatenate(inner))
        return result

    def _batch(self, batch_size: Any) -> RaggedTensorSpec:
        shape = tf.TensorShape([batch_size]).concatenate(self._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank + 1)

    def _unbatch(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1)

    def _to_legacy_output_types(self) -> Any:
        return self._dtype

    def _to_legacy_output_shapes(self) -> Any:
        return self._shape

    def _to_legacy_output_classes(self) -> Any:
        return self


class RaggedTensorType:
    """The type of a ragged result, as `map_fn` is told it."""

    def __init__(self, dtype: Any, ragged_rank: int, row_splits_dtype: Any = tf.int64):
        self.dtype = dtype
        self.ragged_rank = ragged_rank
        self.row_splits_dtype = tf.as_dtype(row_splits_dtype)
