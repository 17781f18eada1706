"""`tf.IndexedSlicesSpec`: what is known of some rows of a tensor before there are any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.ir.composite import IndexedSlices, IndexedSlicesValue
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.type_spec import TypeSpec
from penstock.shapes import TensorShape


class IndexedSlicesSpec(TypeSpec):
    """The spec of a `tf.IndexedSlices`.

    Args:
      shape: the dense shape.
      dtype: the type of the values.
      indices_dtype: the type of the indices, tf.int32 or tf.int64.
      dense_shape_dtype: the type of `dense_shape`; None where there is none.
      indices_shape: the shape of the indices.
    """

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ):
        self._shape = shapes.TensorShape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = (
            None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        )
        self._indices_shape = shapes.TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> Any:
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._values_dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rows = self._indices_shape.concatenate(self._shape[1:])
        specs = (
            TensorSpec(rows, self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        )
        if self._dense_shape_dtype is None:
            return specs
        return *specs, TensorSpec([self._shape.ndims], self._dense_shape_dtype)

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        parts = value.values, value.indices
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, tensor_list: Sequence[Any]) -> Any:
        if all(isinstance(part, np.ndarray) for part in tensor_list):
            values, indices, *rest = tensor_list
            return IndexedSlicesValue(values, indices, rest[0] if rest else None)
        return IndexedSlices(*tensor_list)

    @classmethod
    def from_value(cls, value: Any) -> IndexedSlicesSpec:
        if not isinstance(value, (IndexedSlices, IndexedSlicesValue)):
            raise TypeError(f"Expected an IndexedSlices, got {type(value).__name__}")
        if isinstance(value, IndexedSlices):
            spec: IndexedSlicesSpec = value._type_spec
            return spec
        dense = value.dense_shape
        return cls(
            TensorShape([None]).concatenate(TensorShape(value.values.shape)[1:]),
            value.values.dtype,
            value.indices.dtype,
            None if dense is None else dense.dtype,
            TensorShape(value.indices.shape),
        )
