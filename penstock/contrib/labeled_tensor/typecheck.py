"""Types of arguments, checked in each call: labeled tensors refuse what they would misread."""

from __future__ import annotations

import collections.abc
import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


#: What messages call types by, where that is not their own name.
_ABBREVIATIONS: dict[Any, str] = {}


def register_type_abbreviation(name: Any, alias: str) -> None:
    """Lets messages call a type by another name."""
    _ABBREVIATIONS[name] = alias


class Error(TypeError):
    """A value has a type that is not allowed."""


class Type:
    """A type that `isinstance` can ask, made of others."""

    def __init__(self, *types: Any):
        self._types = types

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(_shown, self._types))})"


class Union(Type):
    """Any of the types."""

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._types)


class Optional(Type):
    """The type, or None."""

    def __instancecheck__(self, instance: Any) -> bool:
        return instance is None or isinstance(instance, self._types[0])


class List(Type):
    """A list of the type."""

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, list) and _all_are(instance, self._types[0])


class Sequence(Type):
    """A sequence of the type."""

    def __instancecheck__(self, instance: Any) -> bool:
        is_sequence = isinstance(instance, collections.abc.Sequence)
        return is_sequence and _all_are(instance, self._types[0])


class Collection(Type):
    """Anything countable of the type."""

    def __instancecheck__(self, instance: Any) -> bool:
        is_collection = isinstance(instance, collections.abc.Collection)
        return is_collection and _all_are(instance, self._types[0])


class Tuple(Type):
    """A tuple with an element of each type."""

    def __instancecheck__(self, instance: Any) -> bool:
        fits = isinstance(instance, tuple) and len(instance) == len(self._types)
        return fits and all(map(isinstance, instance, self._types))


class Mapping(Type):
    """A mapping from the first type to the second."""

    def __instancecheck__(self, instance: Any) -> bool:
        if not isinstance(instance, collections.abc.Mapping):
            return False
        keys, values = self._types
        return _all_are(instance.keys(), keys) and _all_are(instance.values(), values)


class Dict(Mapping):
    """A dict from the first type to the second."""

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, dict) and super().__instancecheck__(instance)


def accepts(*types: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Checks the positional arguments of a function, in each call."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        names = list(inspect.signature(function).parameters)
        if len(names) != len(types):
            raise Error(
                f"Function {function!r} has {len(names)} arguments but only {len(types)} types "
                "were provided in the annotation."
            )

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for value, allowed in zip(args, types, strict=False):
                _check(value, allowed, function)
            return function(*args, **kwargs)

        return checked

    return decorated


def returns(*types: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Checks what a function returns, in each call."""
    if not types:
        raise TypeError("A return type annotation must contain at least one type")

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            result: Any = function(*args, **kwargs)
            parts = result if len(types) > 1 else [result]
            if len(parts) != len(types):
                raise Error(
                    f"Function {function!r} has {len(parts)} return values but only {len(types)} "
                    "types were provided in the annotation."
                )
            for value, allowed in zip(parts, types, strict=True):
                _check(value, allowed, function)
            returned: R = result
            return returned

        return checked

    return decorated


def _check(value: Any, allowed: Any, function: Any) -> None:
    if not isinstance(value, allowed):
        raise Error(
            f"{value!r} of type {type(value)!r} is not an instance of the allowed type "
            f"{_shown(allowed)} for {function!r}"
        )


def _all_are(values: Any, kind: Any) -> bool:
    return all(isinstance(value, kind) for value in values)


def _shown(kind: Any) -> str:
    if isinstance(kind, tuple):
        return f"({', '.join(map(_shown, kind))})"
    if not isinstance(kind, type):
        return repr(kind)
    full = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    return _ABBREVIATIONS.get(kind, full)
