"""`tf.TypeSpec`: what is known of a value of TensorFlow's before there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.dtypes import DType
from penstock.shapes import TensorShape


class TypeSpec:
    """The type of a value, with all that is known of its shape.

    A subclass says what it consists of (`_serialize`), which values it describes (`value_type`),
    and of which tensors they are made (`_component_specs`, `_to_components`, `_from_components`).
    """

    #: Whether its values are single tensors, which structures are not taken apart below.
    _is_leaf = False

    @property
    def value_type(self) -> Any:
        """The Python class of the values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def _serialize(self) -> tuple[Any, ...]:
        """What makes such a spec: the arguments of the constructor."""
        raise NotImplementedError(f"{type(self).__name__}._serialize()")

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> TypeSpec:
        return cls(*serialization)

    # What values are made of ----------------------------------------------------------------------

    @property
    def _component_specs(self) -> Any:
        """The specs of a value's parts, in a structure."""
        raise NotImplementedError(f"{type(self).__name__}._component_specs()")

    def _to_components(self, value: Any) -> Any:
        """A value's parts, in the structure of their specs."""
        raise NotImplementedError(f"{type(self).__name__}._to_components()")

    def _from_components(self, components: Any) -> Any:
        """The value with these parts."""
        raise NotImplementedError(f"{type(self).__name__}._from_components()")

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        """The specs of `_to_tensor_list`."""
        from penstock.ir.expanded_trees import flatten

        return flatten(self._component_specs)

    def _to_tensor_list(self, value: Any) -> list[Any]:
        """A value as tensors alone."""
        from penstock.ir.expanded_trees import flatten

        return flatten(self._to_components(value))

    def _from_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        """The value of such tensors, which must fit the specs."""
        expected = self._flat_tensor_specs
        if len(tensor_list) != len(expected):
            raise ValueError("Incompatible input: wrong number of tensors")
        for index, (tensor, spec) in enumerate(zip(tensor_list, expected, strict=True)):
            if not type_spec_from_value(tensor).is_compatible_with(spec):
                raise ValueError(
                    f"Incompatible input: tensor {index} ({tensor}) is incompatible with {spec}"
                )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        from penstock.ir.expanded_trees import pack

        return self._from_components(pack(self._component_specs, tensor_list))

    # Datasets' former way to say a type -----------------------------------------------------------

    def _to_legacy_output_types(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._to_legacy_output_types()")

    def _to_legacy_output_shapes(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._to_legacy_output_shapes()")

    def _to_legacy_output_classes(self) -> Any:
        return self.value_type

    # Comparing ------------------------------------------------------------------------------------

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a spec, or the spec of a value, allows the same values as this one."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            other = type_spec_from_value(other)
        return type(self) is type(other) and _is_compatible(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest spec that allows the values of both."""
        try:
            if type(self) is not type(other):
                raise ValueError("Types are not compatible: they are of different classes")
            return self._deserialize(_in_common(self._serialize(), other._serialize()))
        except ValueError as error:
            raise ValueError(
                f"No TypeSpec is compatible with both {self} and {other}: {error}"
            ) from None

    def _key(self) -> Any:
        return _comparable(self._serialize(), self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


class BatchableTypeSpec(TypeSpec):
    """A spec whose tensor lists can be stacked to those of a batch, and unstacked."""

    def _batch(self, batch_size: int | None) -> TypeSpec:
        """The spec of batches of values."""
        raise NotImplementedError(f"{type(self).__name__}._batch")

    def _unbatch(self) -> TypeSpec:
        """The spec of a batch's rows."""
        raise NotImplementedError(f"{type(self).__name__}._unbatch")

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        """A batch as tensors with a row for each of its values."""
        tensors = self._to_tensor_list(value)
        if any(tensor.shape.ndims == 0 for tensor in tensors):
            raise ValueError(f"Value {value} has insufficient rank for batching.")
        return tensors


def _comparable(value: Any, spec: TypeSpec) -> Any:
    """A part of a serialization in a form that has equality and a hash."""
    if value is None or isinstance(value, (int, float, str, bytes, DType, TypeSpec)):
        return value
    if isinstance(value, dict):
        return tuple(
            (_comparable(key, spec), _comparable(value[key], spec)) for key in sorted(value)
        )
    if isinstance(value, tuple):
        return tuple(_comparable(each, spec) for each in value)
    if isinstance(value, TensorShape):
        return TensorShape, None if value.rank is None else tuple(value.as_list())
    if isinstance(value, np.ndarray):
        return np.ndarray, value.shape, tuple(value.ravel().tolist())
    raise ValueError(
        f"Unsupported value type {type(value).__name__} returned by {type(spec).__name__}"
        "._serialize"
    )


def _is_compatible(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(_is_compatible(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_is_compatible(a[key], b[key]) for key in a)
    if isinstance(a, (TensorShape, DType, TypeSpec)):
        return bool(a.is_compatible_with(b))
    return bool(a == b)


def _in_common(a: Any, b: Any) -> Any:
    """What both parts of a serialization allow; a shape allows more than its two sides."""
    if type(a) is type(b):
        if isinstance(a, tuple) and len(a) == len(b):
            return tuple(_in_common(x, y) for x, y in zip(a, b, strict=True))
        if isinstance(a, dict) and a.keys() == b.keys():
            return {key: _in_common(a[key], b[key]) for key in sorted(a)}
        if isinstance(a, TensorShape):
            return a.most_specific_compatible_shape(b)
        if isinstance(a, list):
            raise AssertionError("_serialize() should not return list values.")
        if isinstance(a, TypeSpec):
            return a.most_specific_compatible_type(b)
        if not isinstance(a, (tuple, dict)) and a == b:
            return a
    raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")


# The spec of a value ------------------------------------------------------------------------------

_converters: list[tuple[type, Callable[[Any], TypeSpec], bool]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec], allow_subclass: bool = False
) -> None:
    """Says how the spec of a value of a type is found; the last one said counts.

    Args:
      type_object: the class of the values.
      converter_fn: a function from a value to its spec.
      allow_subclass: whether values of its subclasses are meant, too.
    """
    _converters.append((type_object, converter_fn, allow_subclass))


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a value: of a tensor, of one of several parts, or of what a tensor is made of."""
    found = _type_spec_from_value(value)
    if found is None:
        from penstock.ir.convert import convert_to_tensor

        try:
            found = _type_spec_from_value(convert_to_tensor(value))
        except (TypeError, ValueError):
            found = None
    if found is None:
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}"
        )
    return found


def _type_spec_from_value(value: Any) -> TypeSpec | None:
    own = getattr(value, "_type_spec", None)
    if isinstance(own, TypeSpec):
        return own
    if isinstance(value, list) and value:
        together = _of_list([_type_spec_from_value(each) for each in value])
        if together is not None:
            return together
    for kind, converter, with_subclasses in reversed(_converters):
        if type(value) is kind or (with_subclasses and isinstance(value, kind)):
            return converter(value)
    return None


def _of_list(specs: list[TypeSpec | None]) -> TypeSpec | None:
    """The spec of a batch of values, where theirs have something in common."""
    common: Any = specs[0]
    if not isinstance(common, BatchableTypeSpec):
        return None
    try:
        for spec in specs[1:]:
            common = common.most_specific_compatible_type(spec)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return common._batch(len(specs))
