"""What shape rules demand of shapes, with the words of TensorFlow's errors."""

from __future__ import annotations

from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.tensor import Tensor
from penstock.shapes import Shape
from penstock.shapes import merge as merge_shapes

__all__ = [
    "merge_shapes",
    "merge_sizes",
    "with_rank",
    "with_rank_at_least",
    "with_rank_at_most",
    "with_size",
]


def asked_shape(tensor: Tensor) -> Shape:
    """The shape that a vector of sizes asks for, as far as it is known; -1 is a size not known."""
    value = constant_value(tensor)
    if value is not None and value.size and value.min() < -1:
        raise ValueError(f"Invalid value in tensor used for shape: {value.min()}")
    return constant_shape(tensor)


def with_rank(shape: Shape, rank: int) -> tuple[int | None, ...]:
    """The shape, known to have `rank` dimensions; ValueError where it has another."""
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(shape)}")
    return shape


def with_rank_at_least(shape: Shape, rank: int) -> Shape:
    """The shape; ValueError where it has fewer than `rank` dimensions."""
    if shape is not None and len(shape) < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {len(shape)}")
    return shape


def with_rank_at_most(shape: Shape, rank: int) -> Shape:
    """The shape; ValueError where it has more than `rank` dimensions."""
    if shape is not None and len(shape) > rank:
        raise ValueError(f"Shape must be at most rank {rank} but is rank {len(shape)}")
    return shape


def check_scalar_input(shape: Shape) -> None:
    """ValueError where what gives one number is known to be no scalar."""
    if shape:
        raise ValueError(f"Input must be scalar but has rank {len(shape)}")


def with_size(size: int | None, wanted: int) -> int:
    """The size that a dimension must have; ValueError where it has another."""
    if size not in (None, wanted):
        raise ValueError(f"Dimension must be {wanted} but is {size}")
    return wanted


def merge_sizes(a: int | None, b: int | None) -> int | None:
    """The known one of two sizes that must be equal; ValueError where they differ."""
    if a is None or b is None or a == b:
        return b if a is None else a
    raise ValueError(f"Dimensions must be equal, but are {a} and {b}")
