"""What `tensor.experimental_ref()` gives: a key for sets and dictionaries that stands for it."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Reference(Generic[T]):
    """A hashable reference to an object; two are equal if they refer to the same one."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: T):
        self._wrapped = wrapped

    def deref(self) -> T:
        """The object."""
        return self._wrapped

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Reference):
            raise TypeError(f"Cannot compare types {type(self)} and {type(other)}")
        return self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"
