"""Nested structures of datasets: tuples, named tuples and dicts. A list is a leaf: a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from penstock.ir.composite import SparseTensorValue

__all__ = [
    "assert_same_structure",
    "assert_shallow_structure",
    "flatten",
    "flatten_up_to",
    "is_sequence",
    "map_structure",
    "map_structure_up_to",
    "pack_sequence_as",
]


def is_sequence(structure: Any) -> bool:
    """Whether a value is a structure, not a leaf."""
    if isinstance(structure, SparseTensorValue):
        return False
    return isinstance(structure, (tuple, Mapping)) or hasattr(type(structure), "__attrs_attrs__")


is_nested = is_sequence


def _is_namedtuple(structure: Any) -> bool:
    return isinstance(structure, tuple) and hasattr(structure, "_fields")


def _keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _children(structure: Any) -> Iterator[Any]:
    if isinstance(structure, Mapping):
        yield from (structure[key] for key in _keys(structure))
    elif hasattr(type(structure), "__attrs_attrs__"):
        yield from (getattr(structure, each.name) for each in type(structure).__attrs_attrs__)
    else:
        yield from structure


def _like(structure: Any, children: list[Any]) -> Any:
    """The children in a structure of the same kind."""
    kind: Any = type(structure)
    if isinstance(structure, Mapping):
        found = dict(zip(_keys(structure), children, strict=True))
        return kind((key, found[key]) for key in structure)
    if _is_namedtuple(structure) or hasattr(kind, "__attrs_attrs__"):
        return kind(*children)
    return kind(children)


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure, left to right; dicts in the order of their keys."""
    if not is_sequence(structure):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child)]


def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """The leaves in the form of `structure`."""
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError("flat_sequence must be a sequence")
    if not is_sequence(structure):
        if len(flat_sequence) != 1:
            raise ValueError(
                f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1"
            )
        return flat_sequence[0]
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had "
            f"{len(flat_sequence)} elements.  Structure: {structure}, flat_sequence: "
            f"{flat_sequence}."
        )
    leaves = iter(flat_sequence)

    def pack(part: Any) -> Any:
        if not is_sequence(part):
            return next(leaves)
        return _like(part, [pack(child) for child in _children(part)])

    return pack(structure)


def _same_kind(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return True
    if _is_namedtuple(a) and _is_namedtuple(b):
        return type(a).__name__ == type(b).__name__ and a._fields == b._fields
    return type(a) is type(b)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raises ValueError or TypeError where two structures don't have the same form."""
    try:
        _assert_same(nest1, nest2, check_types)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_shown(nest1)}\n\nSecond structure: {_shown(nest2)}\n\n"
            f"More specifically: {error}"
        ) from None


def _shown(structure: Any) -> str:
    return f"type={type(structure).__name__} str={structure}"


def _assert_same(nest1: Any, nest2: Any, check_types: bool) -> None:
    if is_sequence(nest1) != is_sequence(nest2):
        sequence, leaf = (nest1, nest2) if is_sequence(nest1) else (nest2, nest1)
        raise ValueError(
            f'Substructure "{_shown(sequence)}" is a sequence, while substructure '
            f'"{_shown(leaf)}" is not'
        )
    if not is_sequence(nest1):
        return
    if check_types and not _same_kind(nest1, nest2):
        raise TypeError(
            "The two namedtuples don't have the same sequence type. First structure "
            f"{_shown(nest1)} has type {type(nest1).__name__}, while second structure "
            f"{_shown(nest2)} has type {type(nest2).__name__}"
        )
    if isinstance(nest1, Mapping) and isinstance(nest2, Mapping) and set(nest1) != set(nest2):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{_shown(list(nest1))}, while second structure has keys {_shown(list(nest2))}"
        )
    first, second = list(_children(nest1)), list(_children(nest2))
    if len(first) != len(second):
        raise ValueError(
            "The two structures don't have the same number of elements. First structure: "
            f"{_shown(nest1)}. Second structure: {_shown(nest2)}"
        )
    for a, b in zip(first, second, strict=True):
        _assert_same(a, b, check_types)


def map_structure(func: Callable[..., Any], *structure: Any, **check_types_dict: Any) -> Any:
    """A function of the corresponding leaves of structures of the same form."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = check_types_dict.pop("check_types", True)
    if check_types_dict:
        raise ValueError("Only valid keyword argument is check_types")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types)
    entries = zip(*map(flatten, structure), strict=True)
    return pack_sequence_as(structure[0], [func(*entry) for entry in entries])


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> None:
    """Raises where `input_tree` does not begin with the form of `shallow_tree`."""
    if not is_sequence(shallow_tree):
        return
    if not is_sequence(input_tree):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(input_tree)}."
        )
    if check_types and not isinstance(input_tree, type(shallow_tree)):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    if len(input_tree) != len(shallow_tree):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(input_tree)}, while shallow structure has length {len(shallow_tree)}."
        )
    if isinstance(shallow_tree, Mapping) and set(input_tree) != set(shallow_tree):
        raise ValueError(
            "The two structures don't have the same keys. Input structure has keys "
            f"{list(input_tree)}, while shallow structure has keys {list(shallow_tree)}."
        )
    for shallow, deep in zip(_children(shallow_tree), _children(input_tree), strict=True):
        assert_shallow_structure(shallow, deep, check_types)


def flatten_up_to(shallow_tree: Any, input_tree: Any) -> list[Any]:
    """The parts of `input_tree` at the leaves of `shallow_tree`."""
    assert_shallow_structure(shallow_tree, input_tree)

    def parts(shallow: Any, deep: Any) -> list[Any]:
        if not is_sequence(shallow):
            return [deep]
        pairs = zip(_children(shallow), _children(deep), strict=True)
        return [part for pair in pairs for part in parts(*pair)]

    return parts(shallow_tree, input_tree)


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any) -> Any:
    """A function of the parts of structures at the leaves of a shallow one."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    flat = [flatten_up_to(shallow_tree, tree) for tree in inputs]
    return pack_sequence_as(shallow_tree, [func(*entry) for entry in zip(*flat, strict=True)])
