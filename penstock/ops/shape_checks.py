"""What shape rules demand of shapes, with the words of TensorFlow's errors."""

from __future__ import annotations

from penstock.shapes import Shape, text


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


def merge_shapes(a: Shape, b: Shape) -> Shape:
    """What two shapes that must be equal say together; ValueError where they differ."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if len(a) != len(b):
        raise ValueError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    for axis, (m, n) in enumerate(zip(a, b, strict=True)):
        if m is not None and n is not None and m != n:
            raise ValueError(
                f"Dimension {axis} in both shapes must be equal, but are {m} and {n}. Shapes are "
                f"{text(a)} and {text(b)}."
            )
    return tuple([n if m is None else m for m, n in zip(a, b, strict=True)])
