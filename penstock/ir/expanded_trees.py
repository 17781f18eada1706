"""Structures whose composite tensors are taken apart, or put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.ir import nest as trees
from penstock.ir.convert import CompositeTensor
from penstock.ir.same_structure import is_expanded_spec, is_nested_or_composite, items

Path = tuple[Any, ...]


def like(structure: Any, children: list[Any]) -> Any:
    """A structure of the same type as another, with other children in the order of `flatten`."""
    if isinstance(structure, CompositeTensor):
        (components,) = children
        return structure._type_spec._from_components(components)
    if is_expanded_spec(structure):
        (components,) = children
        return structure._from_components(components)
    if isinstance(structure, Mapping):
        found = dict(zip(trees._sorted_keys(structure), children, strict=True))
        ordered = {key: found[key] for key in structure}
        if hasattr(structure, "default_factory"):
            return type(structure)(structure.default_factory, ordered)  # type: ignore[call-arg]
        return type(structure)(ordered)  # type: ignore[call-arg]
    if hasattr(structure, "_fields") or hasattr(type(structure), "__attrs_attrs__"):
        return type(structure)(*children)
    if isinstance(structure, trees.NOT_MADE_FROM_LISTS):
        return children
    return type(structure)(children)


def leaves(
    structure: Any, is_inner: Callable[[Any], bool], path: Path = ()
) -> Iterator[tuple[Path, Any]]:
    """The leaves of a structure with the ways to them."""
    if not is_inner(structure):
        yield path, structure
        return
    for key, child in items(structure):
        yield from leaves(child, is_inner, (*path, key))


def packed(structure: Any, remaining: Iterator[Any], is_inner: Callable[[Any], bool]) -> Any:
    """A structure of the form of another, with the leaves that come next."""
    if not is_inner(structure):
        return next(remaining)
    return like(structure, [packed(child, remaining, is_inner) for _, child in items(structure)])


def flatten(structure: Any) -> list[Any]:
    """The tensors of a structure, or the leaves that are none."""
    return [leaf for _, leaf in leaves(structure, is_nested_or_composite)]


def pack(structure: Any, tensors: Sequence[Any]) -> Any:
    """The inverse of `flatten`, for as many tensors."""
    return packed(structure, iter(tensors), is_nested_or_composite)
