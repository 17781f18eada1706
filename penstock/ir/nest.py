"""Nested structures: sequences, named tuples, dicts and attrs objects as trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence
from functools import lru_cache
from typing import Any

_STRUCTURES = (list, tuple, Mapping, MappingView, Sequence)
_STRINGS = (str, bytes, bytearray)
# Their types can't be made from a list of children: a list stands for them.
NOT_MADE_FROM_LISTS = (MappingView, range)


def is_nested(value: Any) -> bool:
    """Whether a value is a structure (and not a leaf); strings are leaves."""
    return _has_children(value.__class__)


@lru_cache(maxsize=4096)  # abstract base classes take their time to tell
def _has_children(kind: type) -> bool:
    if issubclass(kind, _STRUCTURES):
        return not issubclass(kind, _STRINGS)
    return hasattr(kind, "__attrs_attrs__")


def _children(structure: Any) -> Iterator[Any]:
    if isinstance(structure, Mapping):
        for key in _sorted_keys(structure):
            yield structure[key]
    elif hasattr(type(structure), "__attrs_attrs__"):
        for attribute in type(structure).__attrs_attrs__:
            yield getattr(structure, attribute.name)
    else:
        yield from structure


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure, left to right; dicts in the order of their keys."""
    if not is_nested(structure):
        return [structure]
    leaves: list[Any] = []
    for child in _children(structure):
        leaves += flatten(child)
    return leaves


def pack_as(structure: Any, leaves: list[Any]) -> Any:
    """The inverse of `flatten`: `leaves` in the form of `structure`."""
    remaining = iter(leaves)
    packed = _pack(structure, remaining)
    if next(remaining, remaining) is not remaining:
        raise ValueError(
            f"Structure had {len(flatten(structure))} elements, but flat_sequence had "
            f"{len(leaves)} elements."
        )
    return packed


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        try:
            return next(leaves)
        except StopIteration:
            raise ValueError("flat_sequence has fewer elements than the structure") from None
    if isinstance(structure, Mapping):
        packed = {key: _pack(structure[key], leaves) for key in _sorted_keys(structure)}
        ordered = {key: packed[key] for key in structure}
        return type(structure)(ordered)  # type: ignore[call-arg]
    children = [_pack(child, leaves) for child in _children(structure)]
    if hasattr(structure, "_fields") or hasattr(type(structure), "__attrs_attrs__"):
        return type(structure)(*children)
    return children if isinstance(structure, NOT_MADE_FROM_LISTS) else type(structure)(children)


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """Applies a function to the corresponding leaves of structures of the same form."""
    flat = [flatten(structure) for structure in structures]
    if any(len(leaves) != len(flat[0]) for leaves in flat):
        raise ValueError("The structures don't have the same number of elements.")
    results = [function(*entries) for entries in zip(*flat, strict=True)]
    return pack_as(structures[0], results)
