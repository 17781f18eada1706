"""`tf.SparseTensorSpec`: what is known of a sparse tensor before there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir import registry
from penstock.ir.composite import SparseTensor, SparseTensorValue
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.type_spec import BatchableTypeSpec, register_type_spec_from_value_converter
from penstock.shapes import TensorShape


class SparseTensorSpec(BatchableTypeSpec):
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

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.ndims
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value: Any) -> list[Any]:
        sparse = value if isinstance(value, SparseTensor) else SparseTensor.from_value(value)
        return [sparse.indices, sparse.values, sparse.dense_shape]

    def _from_components(self, tensor_list: Sequence[Any]) -> Any:
        if all(isinstance(part, np.ndarray) for part in tensor_list):
            return SparseTensorValue(*tensor_list)
        return SparseTensor(*tensor_list)

    # As elements of datasets: one encoded tensor each ------------------------------------------

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return [_encoded("SerializeSparse", self._to_components(value))]

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        parts = self._to_components(value)
        if self._shape.merge_with(SparseTensor(*parts).shape).ndims == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return [_encoded("SerializeManySparse", parts)]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        (encoded,) = tensor_list
        decode: Any = registry.find("DeserializeSparse")
        indices, values, dense_shape = decode(encoded, dtype=self._dtype)
        rank = self._shape.ndims
        indices.set_shape([None, rank])
        dense_shape.set_shape([rank])
        return SparseTensor(indices, values, dense_shape)

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self) -> Any:
        return self._dtype

    def _to_legacy_output_shapes(self) -> Any:
        return self._shape


def _encoded(op_type: str, parts: Sequence[Any]) -> Any:
    encode: Any = registry.find(op_type)
    return encode(*parts, out_type=dtypes.variant)


register_type_spec_from_value_converter(SparseTensorValue, SparseTensorSpec.from_value)
