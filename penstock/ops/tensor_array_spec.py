"""`tf.TensorArraySpec`: what is known of a TensorArray before there is one."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.type_spec import TypeSpec
from penstock.ops.tensor_array import TensorArray
from penstock.shapes import TensorShape


class TensorArraySpec(TypeSpec):
    """The spec of a `tf.TensorArray`.

    Args:
      element_shape: what is known of the elements' shapes.
      dtype: the elements' type.
      dynamic_size: whether the array grows.
      infer_shape: whether all elements have one shape; arrays may differ in this.
    """

    _is_leaf = True  # arrays are one tensor each, their flow, and are not taken apart

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = dtypes.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ):
        self._element_shape = TensorShape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @property
    def value_type(self) -> Any:
        return TensorArray

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    @classmethod
    def from_value(cls, value: Any) -> TensorArraySpec:
        if not isinstance(value, TensorArray):
            raise TypeError(f"value must be a TensorArray, but saw: {type(value)}")
        return cls(value._known.element_shape, value.dtype, value._dynamic_size, value._infer_shape)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            if not isinstance(other, TensorArray):
                return False
            other = self.from_value(other)
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype.is_compatible_with(other._dtype)
            and self._element_shape.is_compatible_with(other._element_shape)
            and self._dynamic_size == other._dynamic_size
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        if not isinstance(other, TensorArraySpec) or not self.is_compatible_with(other):
            raise ValueError("Types are not compatible")
        one_shape = self._infer_shape and other._infer_shape
        mine, theirs = (
            TensorArraySpec(each._element_shape, each._dtype, each._dynamic_size, one_shape)
            for each in (self, other)
        )
        return TypeSpec.most_specific_compatible_type(mine, theirs)
