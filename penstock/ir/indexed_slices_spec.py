"""`tf.IndexedSlicesSpec`: what is known of some rows of a tensor before there are any."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, shapes
from penstock.ir.composite import IndexedSlices, IndexedSlicesValue
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

    @classmethod
    def from_value(cls, value: Any) -> IndexedSlicesSpec:
        if not isinstance(value, (IndexedSlices, IndexedSlicesValue)):
            raise TypeError(f"Expected an IndexedSlices, got {type(value).__name__}")
        dense = value.dense_shape
        return cls(
            TensorShape([None]).concatenate(TensorShape(value.values.shape)[1:]),
            value.values.dtype,
            value.indices.dtype,
            None if dense is None else dense.dtype,
            TensorShape(value.indices.shape),
        )
