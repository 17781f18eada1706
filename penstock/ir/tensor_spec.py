"""`tf.TensorSpec`: what is known of a tensor before there is one."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.type_spec import TypeSpec
from penstock.shapes import TensorShape


class TensorSpec(TypeSpec):
    """A shape, a type and an optional name."""

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
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def value_type(self) -> Any:
        from penstock.ir.tensor import Tensor

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
        return self._dtype.is_compatible_with(
            spec_or_tensor.dtype
        ) and self._shape.is_compatible_with(spec_or_tensor.shape)

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
