"""`tf.TensorArraySpec`: what is known of a TensorArray before there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.type_spec import TypeSpec
from penstock.ops.list_functions import tensor_list_from_tensor
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

    # An array travels as a list of tensors, whatever it was before.

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value: Any) -> list[Tensor]:
        if not isinstance(value, TensorArray):
            raise TypeError(f"value must be a TensorArray, but saw: {type(value)}")
        if value.flow is not None and value.flow.dtype == dtypes.variant:
            return [value.flow]
        return [tensor_list_from_tensor(value.stack(), element_shape=value.element_shape)]

    def _from_components(self, components: Sequence[Tensor]) -> TensorArray:
        array = TensorArray(
            self._dtype,
            flow=components[0],
            dynamic_size=self._dynamic_size,
            infer_shape=self._infer_shape,
        )
        array._known.element_shape = self._element_shape
        return array

    def _to_legacy_output_types(self) -> Any:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        # Where a dataset had one shape to tell it all, the two flags were its first sizes.
        flags = TensorShape([int(self._dynamic_size), int(self._infer_shape)])
        return flags.concatenate(self._element_shape)
