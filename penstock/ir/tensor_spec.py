"""`tf.TensorSpec`: what is known of a tensor before there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.ir.type_spec import (
    BatchableTypeSpec,
    TypeSpec,
    register_type_spec_from_value_converter,
)
from penstock.shapes import TensorShape


class TensorSpec(BatchableTypeSpec):
    """A shape, a type and an optional name."""

    _is_leaf = True

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None):
        self._shape = shapes.TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """A copy of another spec, under another name if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor: its static shape, its type, the name of its node."""
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, got {tensor!r}")
        node = getattr(tensor, "op", None)  # a tensor that has its value already has none
        return cls(tensor.shape, tensor.dtype, name or (None if node is None else node.name))

    @property
    def value_type(self) -> Any:
        return Tensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def name(self) -> str | None:
        return self._name

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor or spec has this type and a shape that this one allows."""
        if not hasattr(spec_or_tensor, "dtype"):
            return super().is_compatible_with(spec_or_tensor)
        return self._dtype.is_compatible_with(
            spec_or_tensor.dtype
        ) and self._shape.is_compatible_with(spec_or_tensor.shape)

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest spec that allows the tensors of both; a name that both have."""
        if not isinstance(other, TensorSpec) or self._dtype != other._dtype:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        shape = self._shape.most_specific_compatible_shape(other._shape)
        return TensorSpec(shape, self._dtype, self._name if self._name == other._name else None)

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: Any) -> Any:
        problem = (
            f"Value {value!r} is not convertible to a tensor with dtype {self._dtype} and shape "
            f"{self._shape}."
        )
        try:
            tensor: Tensor = convert_to_tensor(value, self._dtype)
        except (TypeError, ValueError):
            raise ValueError(problem) from None
        if not tensor.shape.is_compatible_with(self._shape):
            raise ValueError(problem)
        return tensor

    def _from_components(self, components: Any) -> Any:
        return components

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        (tensor,) = tensor_list
        tensor.set_shape(self._shape)
        return tensor

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        tensor = self._to_components(value)
        if tensor.shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return [tensor]

    def _batch(self, batch_size: int | None) -> TensorSpec:
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self) -> Any:
        return self._dtype

    def _to_legacy_output_shapes(self) -> Any:
        return self._shape

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self._shape.is_compatible_with(other._shape)
            and (self._shape.rank, self._dtype, self._name)
            == (other._shape.rank, other._dtype, other._name)
            and repr(self._shape) == repr(other._shape)
        )

    def __hash__(self) -> int:
        return hash((repr(self._shape), self._dtype, self._name))

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorSpec, (self._shape, self._dtype, self._name)


register_type_spec_from_value_converter(
    Tensor, lambda value: TensorSpec(value.shape, value.dtype), allow_subclass=True
)
