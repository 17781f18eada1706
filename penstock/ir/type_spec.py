"""`tf.TypeSpec`: what is known of a value of TensorFlow's before there is one."""

from __future__ import annotations

from typing import Any

from penstock.dtypes import DType
from penstock.shapes import TensorShape


class TypeSpec:
    """The type of a value, with all that is known of its shape.

    A subclass says what it consists of (`_serialize`), and which values it describes
    (`value_type`, `from_value`).
    """

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

    @classmethod
    def from_value(cls, value: Any) -> TypeSpec:
        """The spec of a value."""
        raise NotImplementedError(f"{cls.__name__}.from_value()")

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a spec, or the spec of a value, allows the same values as this one."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            try:
                other = self.from_value(other)
            except (TypeError, NotImplementedError):
                return False
        return type(self) is type(other) and all(
            _is_compatible(a, b) for a, b in zip(self._serialize(), other._serialize(), strict=True)
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The narrowest spec that allows the values of both."""
        try:
            if type(self) is not type(other):
                raise ValueError("they are of different classes")
            pairs = zip(self._serialize(), other._serialize(), strict=True)
            return self._deserialize(tuple(_in_common(a, b) for a, b in pairs))
        except ValueError as error:
            raise ValueError(
                f"No TypeSpec is compatible with both {self} and {other}: {error}"
            ) from None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


def _is_compatible(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return (
            isinstance(b, tuple)
            and len(a) == len(b)
            and all(_is_compatible(x, y) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, (TensorShape, DType, TypeSpec)):
        return bool(type(a) is type(b) and a.is_compatible_with(b))
    return bool(a == b)


def _in_common(a: Any, b: Any) -> Any:
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(_in_common(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, TensorShape) and isinstance(b, TensorShape):
        if a.rank is None or a.rank != b.rank:
            return TensorShape(None)
        return TensorShape(
            [m if m == n else None for m, n in zip(a.as_list(), b.as_list(), strict=True)]
        )
    if isinstance(a, TypeSpec) and isinstance(b, TypeSpec):
        return a.most_specific_compatible_type(b)
    if a == b:
        return a
    raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")
