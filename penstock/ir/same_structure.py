"""Whether two nested structures have one form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.ir import nest as trees
from penstock.ir.convert import CompositeTensor
from penstock.ir.type_spec import TypeSpec

Items = list[tuple[Any, Any]]


def is_expanded_spec(structure: Any) -> bool:
    """Whether a value is the spec of tensors of several parts."""
    return isinstance(structure, TypeSpec) and not structure._is_leaf


def is_nested_or_composite(structure: Any) -> bool:
    """Whether a value is a structure, a tensor of several parts, or the spec of such tensors."""
    return (
        trees.is_nested(structure)
        or isinstance(structure, CompositeTensor)
        or is_expanded_spec(structure)
    )


def inner_test(expand_composites: bool) -> Callable[[Any], bool]:
    """Tells structures from leaves; composite tensors are structures if they are expanded."""
    return is_nested_or_composite if expand_composites else trees.is_nested


def items(structure: Any) -> Items:
    """The children of a structure with their keys, in the order of `flatten`.

    A composite tensor and its spec have one, under one key: the structure of their components.
    """
    if isinstance(structure, CompositeTensor):
        return [(type(structure).__name__, structure._to_components())]
    if is_expanded_spec(structure):
        return [(structure.value_type.__name__, structure._component_specs)]
    if isinstance(structure, Mapping):
        return [(key, structure[key]) for key in trees._sorted_keys(structure)]
    if hasattr(type(structure), "__attrs_attrs__"):
        return [(each.name, getattr(structure, each.name)) for each in structure.__attrs_attrs__]
    if hasattr(structure, "_fields"):
        return list(zip(structure._fields, structure, strict=True))
    return list(enumerate(structure))


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises ValueError for structures of another form, TypeError for other types in one form."""
    try:
        _assert_same(nest1, nest2, check_types, inner_test(expand_composites))
    except (TypeError, ValueError) as error:
        first, second = (trees.map_structure(lambda _: _DOT, nest) for nest in (nest1, nest2))
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_typed(nest1)}\n\nSecond structure: {_typed(nest2)}\n\n"
            f"More specifically: {error}\n"
            f"Entire first structure:\n{first}\nEntire second structure:\n{second}"
        ) from None


class _Dot:
    """A leaf in a message that shows the form of a structure."""

    def __repr__(self) -> str:
        return "."


_DOT = _Dot()


def _typed(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _assert_same(
    first: Any, second: Any, check_types: bool, is_inner: Callable[[Any], bool]
) -> None:
    if is_inner(first) != is_inner(second):
        inner, leaf = (first, second) if is_inner(first) else (second, first)
        raise ValueError(
            f'Substructure "{_typed(inner)}" is a sequence, while substructure '
            f'"{_typed(leaf)}" is not'
        )
    if not is_inner(first):
        return
    if check_types:
        _assert_same_type(first, second)
    assert_same_components(first, second)
    children, others = items(first), items(second)
    if isinstance(first, Mapping) and isinstance(second, Mapping) and set(first) != set(second):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{list(first)}, while second structure has keys {list(second)}"
        )
    # A difference below is told before one in number, as it is met first.
    for (_, child), (_, other) in zip(children, others, strict=False):
        _assert_same(child, other, check_types, is_inner)
    if len(children) != len(others):
        raise ValueError(
            "The two structures don't have the same number of elements. "
            f"First structure: {_typed(first)}. Second structure: {_typed(second)}"
        )


def _assert_same_type(first: Any, second: Any) -> None:
    """Named tuples of one name and fields are of one type; lists and dicts of any kind are, too."""
    for kind in (Mapping, list):
        if isinstance(first, kind) and isinstance(second, kind):
            return
    if _spec_of_composite(first) is not None and _spec_of_composite(second) is not None:
        one_is_a_spec = isinstance(first, TypeSpec) != isinstance(second, TypeSpec)
        if one_is_a_spec:
            return
    if is_named_tuple(first) and is_named_tuple(second):
        same = type(first).__name__ == type(second).__name__ and first._fields == second._fields
        if same:
            return
    elif type(first) is type(second):
        return
    raise TypeError(
        "The two structures don't have the same sequence type. First structure "
        f"{_typed(first)} has type {type(first).__name__}, while second structure "
        f"{_typed(second)} has type {type(second).__name__}"
    )


def _spec_of_composite(value: Any) -> Any:
    if isinstance(value, CompositeTensor):
        return value._type_spec
    return value if is_expanded_spec(value) else None


def assert_same_components(first: Any, second: Any) -> None:
    """Raises ValueError for composite tensors, or specs of them, that no spec describes both."""
    spec, other = _spec_of_composite(first), _spec_of_composite(second)
    if spec is None or other is None:
        return
    try:
        spec.most_specific_compatible_type(other)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Incompatible CompositeTensor TypeSpecs: {spec} vs. {other} -- {error}"
        ) from None


def is_named_tuple(value: Any) -> bool:
    """Whether a value is a tuple with named fields."""
    return isinstance(value, tuple) and hasattr(value, "_fields")
