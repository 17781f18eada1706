"""`tf.data.experimental.Optional`: an element, or none."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.data import structure
from penstock.data.dataset import flat_structure
from penstock.data.structure import _Kind, register_kind
from penstock.ir.convert import CompositeTensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.type_spec import TypeSpec
from penstock.ops.datasets import iterators as nodes


class Optional(CompositeTensor):
    """A value that may be missing."""

    def __init__(self, variant_tensor: Tensor, value_structure: Any):
        self._variant_tensor = variant_tensor
        self._value_structure = value_structure

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._value_structure)

    @property
    def value_structure(self) -> Any:
        """The specs of the value."""
        return self._value_structure

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value."""
        tensor: Tensor = nodes.OptionalHasValue(self._variant_tensor, name=name)
        return tensor

    def get_value(self, name: str | None = None) -> Any:
        """The value; an error where there is none."""
        with name_scope(name, "OptionalGetValue", [self._variant_tensor]) as scope:
            tensors = nodes.OptionalGetValue(
                self._variant_tensor, name=scope, **flat_structure(self._value_structure)
            )
        return structure.from_tensor_list(self._value_structure, tensors)

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional that has a value."""
        with name_scope("optional") as scope:
            with name_scope("value"):
                spec = structure.type_spec_from_value(value)
                tensors = structure.to_tensor_list(spec, value)
            return Optional(nodes.OptionalFromValue(tensors, name=scope), spec)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """An optional that has no value of these specs."""
        return Optional(nodes.OptionalNone(), value_structure)


_OptionalImpl = Optional


class OptionalSpec(TypeSpec):
    """What is known of an optional."""

    def __init__(self, value_structure: Any):
        self._value_structure = value_structure

    @property
    def value_type(self) -> Any:
        return Optional

    @staticmethod
    def from_value(value: Optional) -> OptionalSpec:
        return OptionalSpec(value.value_structure)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether an optional or a spec of one has values like these."""
        if isinstance(other, Optional):
            other = OptionalSpec.from_value(other)
        return isinstance(other, OptionalSpec) and structure.are_compatible(
            self._value_structure, other._value_structure
        )

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_structure,)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value: Optional) -> list[Tensor]:
        return [value._variant_tensor]

    def _from_components(self, components: list[Tensor]) -> Optional:
        return Optional(components[0], self._value_structure)

    def _to_legacy_output_types(self) -> OptionalSpec:
        return self

    _to_legacy_output_shapes = _to_legacy_output_classes = _to_legacy_output_types


class _OptionalKind(_Kind):
    def flat(self, spec: OptionalSpec) -> list[TensorSpec]:
        return [TensorSpec([], dtypes.variant)]

    def tensors(self, spec: OptionalSpec, value: Optional) -> list[Tensor]:
        return [value._variant_tensor]

    def value(self, spec: OptionalSpec, tensors: list[Tensor]) -> Optional:
        return Optional(tensors[0], spec._value_structure)


register_kind(OptionalSpec, _OptionalKind(), Optional, OptionalSpec.from_value)


def get_next_as_optional(iterator: Any) -> Optional:
    """The next element of an iterator, none at its end."""
    spec = iterator.element_spec
    variant = nodes.IteratorGetNextAsOptional(iterator._iterator_resource, **flat_structure(spec))
    return Optional(variant, spec)
