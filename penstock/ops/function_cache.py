"""Which calls of a `tf.function` share a body: the keys of calls, and what was made for them."""

from __future__ import annotations

import collections
import inspect
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock.ir import expanded_trees, nest
from penstock.ir.convert import CompositeTensor
from penstock.ir.same_structure import items
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.shapes import TensorShape

Shapes = list[TensorShape | None]


class UnhashableArgument(TypeError, AttributeError):
    """An argument that nothing can be kept for: TensorFlow raises either of the two."""


class CacheKey(
    collections.namedtuple(
        "CacheKey",
        "input_signature parent_graph device_functions colocation_stack in_cross_replica_context",
    )
):
    """What calls must have in common to share a body."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(self._comparable)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CacheKey) and self._comparable == other._comparable

    @property
    def _comparable(self) -> tuple[Any, ...]:
        return _hashable(self.input_signature), *self[1:]

    def replace(self, **fields: Any) -> CacheKey:
        """The key with some fields changed."""
        return self._replace(**fields)


def _hashable(element: Any) -> Any:
    """A part of a key; variables, where they have no hash, are told apart by type and shape."""
    if isinstance(element, tuple):
        return tuple(_hashable(each) for each in element)
    if isinstance(element, (bool, int, float, complex)):
        return type(element), element  # 1, 1.0 and True are equal, but not the same argument
    try:
        hash(element)
    except TypeError as error:
        target: Any = element() if isinstance(element, weakref.ref) else element
        if not hasattr(target, "shape"):
            raise UnhashableArgument(
                "Arguments supplied to `defun`-generated functions must be hashable: "
                f"'{type(target).__name__}' object has no attribute 'shape'. {error}"
            ) from None
        return type(target), TensorSpec(target.shape, target.dtype)
    return element


class FunctionCache:
    """The bodies that were made for calls.

    `primary` has them by the keys of calls. Where shapes are relaxed, `arg_relaxed` has those that
    are for tensors of one rank, and `arg_relaxed_shapes` the shapes that they are for.
    """

    def __init__(self) -> None:
        self.missed: set[CacheKey] = set()
        self.primary: dict[CacheKey, Any] = {}
        self.arg_relaxed_shapes: dict[CacheKey, Shapes] = {}
        self.arg_relaxed: dict[CacheKey, Any] = {}

    def all_values(self) -> list[Any]:
        """Each function once, in the order of their making."""
        return list(dict.fromkeys([*self.primary.values(), *self.arg_relaxed.values()]))

    def relaxed(self, key: CacheKey, shapes: Shapes) -> Any:
        """The body for tensors of these ranks, if it is for these shapes, too."""
        known = self.arg_relaxed_shapes.get(key)
        made = self.arg_relaxed.get(key)
        return made if known is not None and _allows(known, shapes) else None

    def relax(self, key: CacheKey, shapes: Shapes) -> Shapes:
        """Notes that there are calls with these shapes; returns those that a body should be for."""
        known = self.arg_relaxed_shapes.get(key)
        if known is not None:
            shapes = [common_shape(a, b) for a, b in zip(shapes, known, strict=True)]
        self.arg_relaxed_shapes[key] = shapes
        return shapes


def flat_shapes(structure: Any) -> Shapes:
    """The shapes of the tensors of a structure; None for leaves that are none."""
    return [
        TensorShape(leaf.shape) if isinstance(leaf, (Tensor, TensorSpec)) else None
        for leaf in expanded_trees.flatten(structure)
    ]


def _allows(relaxed: Shapes, shapes: Shapes) -> bool:
    """Whether a body for some shapes is one for others, which may say more."""
    return all(
        known is None or given is None or common_shape(known, given) == known
        for known, given in zip(relaxed, shapes, strict=True)
    )


def common_shape(x: TensorShape | None, y: TensorShape | None) -> TensorShape | None:
    """The narrowest shape that allows what both allow."""
    return None if x is None or y is None else x.most_specific_compatible_shape(y)


# Keys -----------------------------------------------------------------------------------------


def encoded(inputs: Any, ranks_only: bool = False) -> tuple[str, tuple[Any, ...] | None]:
    """Arguments as a text that tells their form, and the objects among them that are no tensors.

    Args:
      ranks_only: whether tensors of one rank are the same.
    """
    objects: list[Any] = []
    text = "".join(_encode(inputs, objects, ranks_only))
    return text, tuple(objects) or None


def _encode(value: Any, objects: list[Any], ranks_only: bool) -> Iterator[str]:
    if value is None:
        yield "n"
    elif isinstance(value, Tensor):
        yield f"Td{value._dtype.as_datatype_enum}{_shape_text(value.shape, ranks_only)}"
    elif isinstance(value, CompositeTensor):
        objects.append(value._type_spec)
        yield "C"
    elif not nest.is_nested(value):
        objects.append(_object(value))
        yield "R"
    else:
        yield from _encode_structure(value, objects, ranks_only)


def _encode_structure(structure: Any, objects: list[Any], ranks_only: bool) -> Iterator[str]:
    is_mapping = isinstance(structure, Mapping)
    opening, closing = "D" if is_mapping else "L" if isinstance(structure, list) else "U", ""
    if not is_mapping:
        closing = opening.lower()
    if hasattr(type(structure), "__attrs_attrs__"):
        opening, closing = "A", "a"
        objects.append(_object(type(structure)))
    yield opening
    for key, child in items(structure):
        if is_mapping:
            objects.append(_object(key))
            yield "R"
        yield from _encode(child, objects, ranks_only)
    yield closing


def _shape_text(shape: TensorShape, ranks_only: bool) -> str:
    if shape.ndims is None:
        return "n"
    if ranks_only:
        return f"s{shape.ndims}"
    return "s" + "".join("n" if each is None else f"{each}-" for each in shape.as_list())


def _object(value: Any) -> Any:
    """An argument as a part of a key, which does not keep it alive."""
    if isinstance(value, TensorSpec):
        return value
    try:
        return weakref.WeakMethod(value) if inspect.ismethod(value) else weakref.ref(value)
    except TypeError:
        return value


def is_same_structure(first: Any, second: Any, check_values: bool = False) -> bool:
    """Whether two structures have one form and, if asked for, equal leaves."""
    from penstock.ir.same_structure import assert_same_structure

    try:
        assert_same_structure(first, second, expand_composites=True)
    except (TypeError, ValueError):
        return False
    if not check_values:
        return True
    leaves: Sequence[Any] = expanded_trees.flatten(first)
    others = expanded_trees.flatten(second)
    pairs = list(zip(leaves, others, strict=True))
    return all(type(a) is type(b) for a, b in pairs) and all(a == b for a, b in pairs)
