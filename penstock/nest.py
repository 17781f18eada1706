"""`tf.nest` and TensorFlow's internal `nest`: nested structures as trees.

`penstock.ir.nest` has the two basic walks, for the layers below; here are the checks, the paths,
and the functions that stop at a shallow structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.ir import nest as trees
from penstock.ir.expanded_trees import leaves as _leaves
from penstock.ir.expanded_trees import like as _like
from penstock.ir.expanded_trees import packed as _packed
from penstock.ir.same_structure import (
    Items,
    assert_same_components,
    assert_same_structure,
    inner_test,
    is_named_tuple,
    is_nested_or_composite,
    items,
)
from penstock.ir.type_spec import TypeSpec

__all__ = [
    "assert_same_structure",
    "assert_shallow_structure",
    "flatten",
    "flatten_dict_items",
    "flatten_up_to",
    "flatten_with_joined_string_paths",
    "flatten_with_tuple_paths",
    "flatten_with_tuple_paths_up_to",
    "get_traverse_shallow_structure",
    "is_nested",
    "is_sequence",
    "is_sequence_or_composite",
    "list_to_tuple",
    "map_structure",
    "map_structure_up_to",
    "map_structure_with_paths",
    "map_structure_with_tuple_paths",
    "map_structure_with_tuple_paths_up_to",
    "pack_sequence_as",
    "yield_flat_paths",
]


# What is wrong with a shallow structure; TensorFlow's names, which code that expects an error uses.
_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ = (
    "If shallow structure is a sequence, input must also be a sequence. Input has type: {}."
)
_STRUCTURES_HAVE_MISMATCHING_TYPES = (
    "The two structures don't have the same sequence type. Input structure has type {input_type}, "
    "while shallow structure has type {shallow_type}."
)
_STRUCTURES_HAVE_MISMATCHING_LENGTHS = (
    "The two structures don't have the same sequence length. Input structure has length "
    "{input_length}, while shallow structure has length {shallow_length}."
)
_INPUT_TREE_SMALLER_THAN_SHALLOW_TREE = (
    "The input_tree has fewer elements than the shallow_tree. Input structure has length "
    "{input_size}, while shallow structure has length {shallow_size}."
)
_SHALLOW_TREE_HAS_INVALID_KEYS = (
    "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the "
    "following keys that are not in the input_tree: {}."
)


def is_nested(structure: Any) -> bool:
    """Whether a value is a structure (list, tuple, dict, attrs object), not a leaf."""
    return trees.is_nested(structure)


is_sequence = is_nested
is_sequence_or_composite = is_nested_or_composite


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure, left to right; dicts in the order of their keys."""
    if not expand_composites:
        return trees.flatten(structure)
    return [leaf for _, leaf in _leaves(structure, is_sequence_or_composite)]


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """The inverse of `flatten`: the leaves of `flat_sequence` in the form of `structure`."""
    is_inner = inner_test(expand_composites)
    if not is_nested(flat_sequence):
        raise TypeError(f"flat_sequence must be a sequence, got {flat_sequence!r}")
    leaves = list(flat_sequence)
    if not is_inner(structure):
        if len(leaves) != 1:
            raise ValueError(
                f"Structure is a scalar but len(flat_sequence) == {len(leaves)} > 1: the target "
                f"structure is of type `{type(structure)}`, the input is {leaves}."
            )
        return leaves[0]
    wanted = len(flatten(structure, expand_composites))
    if wanted != len(leaves):
        raise ValueError(
            f"Could not pack sequence. Structure had {wanted} elements, but flat_sequence had "
            f"{len(leaves)} elements.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _packed(structure, iter(leaves), is_inner)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to the corresponding leaves of structures of the same form."""
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand_composites)
    flat = [flatten(each, expand_composites) for each in structure]
    results = [func(*entries) for entries in zip(*flat, strict=True)]
    return pack_sequence_as(structure[0], results, expand_composites)


def flatten_dict_items(dictionary: Mapping[Any, Any]) -> dict[Any, Any]:
    """A flat dict from one whose keys and values are structures of the same form."""
    if not isinstance(dictionary, Mapping):
        raise TypeError("input must be a dictionary")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = flatten(key), flatten(value)
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had "
                f"{len(values)} elements. Key: {keys}, value: {values}."
            )
        for each, item in zip(keys, values, strict=True):
            if each in flat:
                raise ValueError(f"Could not flatten dictionary: key {each} is not unique.")
            flat[each] = item
    return flat


# Paths --------------------------------------------------------------------------------------------


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """The path of keys and indices to each leaf, in the order of `flatten`."""
    for path, _ in _leaves(nest, inner_test(expand_composites)):
        yield path


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> Items:
    """Pairs of a leaf's path and the leaf."""
    return list(_leaves(structure, inner_test(expand_composites)))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Pairs of a leaf's path as text and the leaf."""
    found = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in found]


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """As `map_structure`; the function gets the leaf's path as its first argument."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """As `map_structure`; the function gets the leaf's path, joined by slashes, first."""

    def with_text(path: tuple[Any, ...], *leaves: Any) -> Any:
        return func("/".join(map(str, path)), *leaves)

    return map_structure_with_tuple_paths_up_to(structure[0], with_text, *structure, **kwargs)


# Up to a shallow structure ------------------------------------------------------------------------


def assert_shallow_structure(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> None:
    """Raises unless `shallow_tree` is the upper part of `input_tree`."""
    is_inner = inner_test(expand_composites)
    if not is_inner(shallow_tree):
        return
    if not is_inner(input_tree):
        raise TypeError(_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ.format(type(input_tree)))
    if check_types:
        _assert_types_allow(shallow_tree, input_tree)
    if expand_composites and (_is_composite(shallow_tree) or _is_composite(input_tree)):
        _assert_components_allow(shallow_tree, input_tree)
    else:
        _assert_children_allow(shallow_tree, input_tree, check_subtrees_length)
    children = dict(items(input_tree)) if isinstance(shallow_tree, Mapping) else None
    others = [child for _, child in items(input_tree)]
    for index, (key, child) in enumerate(items(shallow_tree)):
        below = others[index] if children is None else children[key]
        assert_shallow_structure(
            child, below, check_types, expand_composites, check_subtrees_length
        )


def _is_composite(structure: Any) -> bool:
    return is_nested_or_composite(structure) and not is_nested(structure)


def _assert_components_allow(shallow: Any, deep: Any) -> None:
    """A composite tensor, or the spec of one, has only such above and below it."""
    if not (_is_composite(shallow) and _is_composite(deep)):
        raise TypeError(
            _STRUCTURES_HAVE_MISMATCHING_TYPES.format(
                input_type=type(deep), shallow_type=type(shallow)
            )
        )
    assert_same_components(shallow, deep)


def _assert_types_allow(shallow: Any, deep: Any) -> None:
    if isinstance(shallow, Mapping) and isinstance(deep, Mapping):
        return
    if isinstance(shallow, TypeSpec) != isinstance(deep, TypeSpec):
        return  # a composite tensor and a spec, of which more is asked
    if is_named_tuple(shallow) and is_named_tuple(deep):
        if shallow._fields == deep._fields and type(shallow).__name__ == type(deep).__name__:
            return
    elif isinstance(deep, type(shallow)):
        return
    raise TypeError(
        _STRUCTURES_HAVE_MISMATCHING_TYPES.format(input_type=type(deep), shallow_type=type(shallow))
    )


def _assert_children_allow(shallow: Any, deep: Any, same_length: bool) -> None:
    given, wanted = len(items(deep)), len(items(shallow))
    if same_length and given != wanted:
        raise ValueError(
            _STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=given, shallow_length=wanted)
        )
    if given < wanted:
        raise ValueError(
            _INPUT_TREE_SMALLER_THAN_SHALLOW_TREE.format(input_size=given, shallow_size=wanted)
        )
    if isinstance(shallow, Mapping):
        absent = sorted(key for key in shallow if key not in deep)
        if absent:
            raise ValueError(_SHALLOW_TREE_HAS_INVALID_KEYS.format(absent))


def _leaves_up_to(
    shallow: Any, deep: Any, is_inner: Callable[[Any], bool], path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if not is_inner(shallow):
        yield path, deep
        return
    keyed = dict(items(deep)) if isinstance(shallow, Mapping) else None
    others = [child for _, child in items(deep)]
    for index, (key, child) in enumerate(items(shallow)):
        below = others[index] if keyed is None else keyed[key]
        yield from _leaves_up_to(child, below, is_inner, (*path, key))


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> Items:
    """Pairs of path and subtree of `input_tree` where `shallow_tree` has its leaves."""
    assert_shallow_structure(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return list(_leaves_up_to(shallow_tree, input_tree, inner_test(expand_composites)))


def flatten_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[Any]:
    """The subtrees of `input_tree` where `shallow_tree` has its leaves."""
    found = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return [subtree for _, subtree in found]


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """Applies a function to the subtrees of the inputs where `shallow_tree` has its leaves."""
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *subtrees: func(*subtrees), *inputs, **kwargs
    )


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """As `map_structure_up_to`; the function gets the subtree's path as its first argument."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    expand_composites = kwargs.get("expand_composites", False)
    found = [flatten_with_tuple_paths_up_to(shallow_tree, each, **kwargs) for each in inputs]
    results = [
        func(entries[0][0], *(subtree for _, subtree in entries))
        for entries in zip(*found, strict=True)
    ]
    return pack_sequence_as(shallow_tree, results, expand_composites)


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """A shallow structure with True and False at its leaves: where `traverse_fn` said to go on."""
    is_inner = inner_test(expand_composites)
    wanted = traverse_fn(structure)
    if not is_inner(structure):
        if not isinstance(wanted, bool):
            raise TypeError(f"traverse_fn returned structure: {wanted} for non-structure input")
        return wanted
    children = [child for _, child in items(structure)]
    if isinstance(wanted, bool):
        if not wanted:
            return False
        below_wanted = [True] * len(children)
    elif not is_inner(wanted):
        raise TypeError(f"traverse_fn returned a non-bool scalar: {wanted} for input: {structure}")
    else:
        assert_shallow_structure(wanted, structure, expand_composites=expand_composites)
        below_wanted = [traverse for _, traverse in items(wanted)]
    results = []
    for traverse, child in zip(below_wanted, children, strict=True):
        if not isinstance(traverse, bool):
            raise TypeError(
                f"traverse_fn didn't return a depth=1 structure of bools.  saw: {wanted}"
            )
        below = (
            get_traverse_shallow_structure(traverse_fn, child, expand_composites)
            if traverse
            else False
        )
        results.append(below)
    return _like(structure, results)


def list_to_tuple(structure: Any) -> Any:
    """The structure with tuples in place of its lists."""
    if not is_nested(structure):
        return structure
    children = [list_to_tuple(child) for _, child in items(structure)]
    return tuple(children) if isinstance(structure, list) else _like(structure, children)


def _sequence_like(instance: Any, args: Sequence[Any]) -> Any:
    return _like(instance, list(args))


def _is_attrs(value: Any) -> bool:
    return hasattr(type(value), "__attrs_attrs__")


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


_is_namedtuple = is_named_tuple
yield_flattened_paths = yield_flat_paths
