"""What branches and loop bodies return, as flat tensors and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.ir import nest
from penstock.ir.convert import CompositeTensor
from penstock.ir.tensor import Tensor
from penstock.ops.tensor_array import TensorArray


def leaf_tensors(leaf: Any) -> list[Tensor]:
    """The tensors that a leaf of a structure is made of: none for None, the flow of an array."""
    if leaf is None:
        return []
    if isinstance(leaf, CompositeTensor):
        return leaf._parts()
    return [leaf.flow if isinstance(leaf, TensorArray) else leaf]


def flat_tensors(structure: Any) -> list[Tensor]:
    """The tensors of a structure, left to right."""
    return [tensor for leaf in nest.flatten(structure) for tensor in leaf_tensors(leaf)]


def packed_tensors(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """The inverse of `flat_tensors`: new tensors in the form of a structure."""
    remaining = iter(tensors)

    def rebuilt(leaf: Any) -> Any:
        if leaf is None:
            return None
        if isinstance(leaf, CompositeTensor):
            return leaf._with_parts([next(remaining) for _ in leaf._parts()])
        if isinstance(leaf, TensorArray):
            return leaf._with_flow(next(remaining))
        return next(remaining)

    return nest.pack_as(structure, [rebuilt(leaf) for leaf in nest.flatten(structure)])


def converted(structure: Any, convert: Callable[[Any], Any]) -> Any:
    """A structure whose plain leaves are converted; what is made of tensors stays as it is."""

    def leaf(value: Any) -> Any:
        if value is None or isinstance(value, (CompositeTensor, TensorArray)):
            return value
        return convert(value)

    return nest.map_structure(leaf, structure)
