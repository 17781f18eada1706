"""Tensors repeated along dimensions, and the arithmetic on shapes that broadcasting needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.ir.constants import constant_shape, reads_partial_shapes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import SAME_IF_SAME_SHAPE, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.constants import constant
from penstock.ops.filling import ones
from penstock.ops.filling import range as range_
from penstock.ops.joining import stack
from penstock.ops.shape_checks import asked_shape, with_rank
from penstock.ops.shaping import reshape, shape, size
from penstock.shapes import Shape, TensorShape

__all__ = [
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "meshgrid",
    "tile",
]

BroadcastTo = op(
    "BroadcastTo(input: T, shape: Tidx) -> output: T",
    SAME_IF_SAME_SHAPE,
    Tidx=types(INDEX, default=dtypes.int32),
)
BroadcastArgs = op("BroadcastArgs(s0: T, s1: T) -> r0: T", T=types(INDEX, default=dtypes.int32))
BroadcastGradientArgs = op(
    "BroadcastGradientArgs(s0: T, s1: T) -> r0: T, r1: T", T=types(INDEX, default=dtypes.int32)
)
Tile = op(
    "Tile(input: T, multiples: Tmultiples) -> output: T",
    SAME_IF_SAME_SHAPE,
    Tmultiples=types(INDEX, default=dtypes.int32),
)

not_differentiable(BroadcastArgs, BroadcastGradientArgs)


# Broadcasting ---------------------------------------------------------------------------------


@BroadcastTo.shape
def _(op: Operation, x: Shape, wanted: Shape) -> Shape:
    with_rank(wanted, 1)
    sizes = asked_shape(op.inputs[1])
    if sizes is None or x is None:
        return sizes
    if len(x) > len(sizes):
        raise ValueError(f"Shape must be at most rank {len(sizes)} but is rank {len(x)}")
    kept = len(sizes) - len(x)
    # From the last one on, as TensorFlow does: the error names the first that differs.
    last = [_broadcast_size(given, wanted) for given, wanted in zip(x[::-1], sizes[::-1])]  # noqa: B905
    return (*sizes[:kept], *reversed(last))


def _broadcast_size(given: int | None, wanted: int | None) -> int | None:
    if given in (None, 1) or given == wanted:
        return wanted
    if wanted is None:
        return given
    raise ValueError(f"Dimensions must be equal, but are {given} and {wanted}")


@BroadcastTo.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.reductions import reduce_sum

    x, wanted = op.inputs
    given = shape(x, out_type=wanted.dtype)
    sizes = constant_shape(wanted)
    if shapes.is_full(sizes):
        wanted = constant(list(sizes or ()), wanted.dtype)
    _, summed = BroadcastGradientArgs(wanted, given)
    return [reshape(reduce_sum(grad, summed, keepdims=True), given), None]


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` repeated along new dimensions and dimensions of size 1, to have `shape`."""
    return BroadcastTo(input, shape, name=name)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The static shape of an elementwise op on tensors of two static shapes."""
    x, y = shapes.raw(shape_x), shapes.raw(shape_y)
    try:
        return TensorShape._of(shapes.broadcast(x, y))
    except ValueError:
        raise ValueError(
            f"Incompatible shapes for broadcasting: {TensorShape._of(x)} and {TensorShape._of(y)}"
        ) from None


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape, as a tensor, of an elementwise op on tensors of two shapes (as tensors)."""
    return BroadcastArgs(shape_x, shape_y)


@BroadcastArgs.shape
def _(op: Operation, s0: Shape, s1: Shape) -> Shape:
    (m,), (n,) = with_rank(s0, 1), with_rank(s1, 1)
    return (None,) if m is None or n is None else (max(m, n),)


@BroadcastArgs.fold
def _(op: Operation, s0: Any, s1: Any) -> Any:
    try:
        return np.broadcast_shapes(tuple(s0), tuple(s1))
    except ValueError:
        return None  # the step says so, naming the node


@BroadcastGradientArgs.shape
def _(op: Operation, s0: Shape, s1: Shape) -> list[Shape]:
    with_rank(s0, 1)
    with_rank(s1, 1)
    return [(None,), (None,)]


@BroadcastGradientArgs.fold
@reads_partial_shapes
def _(op: Operation) -> Any:
    s0, s1 = (constant_shape(tensor) for tensor in op.inputs)
    return None if s0 is None or s1 is None else broadcast_axes(s0, s1)


def broadcast_axes(s0: Sequence[int | None], s1: Sequence[int | None]) -> list[list[int]] | None:
    """For each of two operands, the axes along which an elementwise op stretches it.

    Sizes may be unknown. None where the shapes don't broadcast or where the axes depend on an
    unknown size. An operand of unknown size beside one of size 1 is not stretched: should its size
    turn out to be 1 as well, a sum along the axis would change nothing.
    """
    if s0 == s1 and None not in s0:
        return [[], []]
    rank = max(len(s0), len(s1))
    x = [1] * (rank - len(s0)) + list(s0)
    y = [1] * (rank - len(s1)) + list(s1)
    if any((m is None or m != n) and 1 not in (m, n) for m, n in zip(x, y, strict=True)):
        return None
    return [[i for i in range(rank) if operand[i] == 1] for operand in (x, y)]


# Tile -----------------------------------------------------------------------------------------


@Tile.shape
def _(op: Operation, x: Shape, multiples: Shape) -> Shape:
    (length,) = with_rank(multiples, 1)
    if x is None:
        return None if length is None else (None,) * length
    if length is not None:
        with_rank((None,) * length, len(x))  # of the multiples: that is what is wrong
    times = constant_shape(op.inputs[1])
    if times is None:
        return (None,) * len(x)
    pairs = zip(x, times, strict=True)
    return tuple([None if size is None or n is None else size * n for size, n in pairs])


@Tile.fold
def _(op: Operation, x: Any, multiples: Any) -> Any:
    return np.tile(x, multiples) if not multiples.size or multiples.min() >= 0 else None


@Tile.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.permuting import transpose
    from penstock.ops.reductions import reduce_sum

    # Each dimension becomes two, the number of repetitions and the size; the sum is over the
    # repetitions, which stand at the even positions.
    x, multiples = op.inputs
    sizes = shape(x, out_type=multiples.dtype)
    interleaved = reshape(transpose(stack([multiples, sizes])), [-1])
    axes = range_(0, size(interleaved), 2)
    return [reduce_sum(reshape(grad, interleaved), axes), None]


@dispatched
def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` repeated `multiples[i]` times along each dimension i."""
    return Tile(input, multiples, name=name)


# Grids ----------------------------------------------------------------------------------------


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """The coordinates of every point of a grid, given the coordinates along each axis.

    With `indexing="xy"` (the default) the first two axes are swapped, as in a picture; with "ij"
    the first output varies along the first axis.
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing`: indexing parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    with name_scope(name, "meshgrid", args):
        axes = [_along(stack(arg), i, len(args)) for i, arg in enumerate(args)]
        if not args:
            return []
        sizes = [size(arg) for arg in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and len(args) > 1:
            axes[0], axes[1] = _along(axes[0], 1, len(args)), _along(axes[1], 0, len(args))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        everywhere: Any = ones(sizes, dtype)
        return [axis * everywhere for axis in axes]


def _along(coordinates: Tensor, axis: int, ndims: int) -> Any:
    return reshape(coordinates, [-1 if place == axis else 1 for place in range(ndims)])
