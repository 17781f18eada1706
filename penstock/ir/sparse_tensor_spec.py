"""`tf.SparseTensorSpec`: what is known of a sparse tensor before there is one."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.composite import SparseTensor, SparseTensorValue
from penstock.ir.type_spec import TypeSpec
from penstock.shapes import TensorShape


class SparseTensorSpec(TypeSpec):
    """A dense shape and a type."""

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32):
        self._shape = shapes.TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a sparse tensor, or of the value of one."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            import numpy as np

            if not isinstance(value.values, np.ndarray):  # its parts may be tensors
                return cls.from_value(SparseTensor.from_value(value))
            return cls(tuple(value.dense_shape), dtypes.as_dtype(value.values.dtype))
        raise TypeError(f"Expected a SparseTensor or SparseTensorValue, got {type(value).__name__}")

    @property
    def value_type(self) -> Any:
        return SparseTensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def rank(self) -> int | None:
        return self._shape.rank

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a sparse tensor or spec has this type and a shape that this one allows."""
        other = spec_or_value
        if not isinstance(other, SparseTensorSpec):
            if not isinstance(other, (SparseTensor, SparseTensorValue)):
                return False
            other = SparseTensorSpec.from_value(other)
        return self._dtype is other._dtype and self._shape.is_compatible_with(other._shape)

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self._shape}, {self._dtype!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseTensorSpec) and (
            (repr(self._shape), self._dtype) == (repr(other._shape), other._dtype)
        )

    def __hash__(self) -> int:
        return hash((repr(self._shape), self._dtype))

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseTensorSpec, (self._shape, self._dtype)
