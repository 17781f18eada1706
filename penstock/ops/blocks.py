"""Blocks of space moved into the batch or depth dimension, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.constants import constant
from penstock.ops.filling import zeros
from penstock.ops.shape_checks import merge_shapes, with_rank, with_rank_at_least
from penstock.ops.shaping import renamed_argument
from penstock.shapes import Shape, TensorShape

__all__ = [
    "batch_to_space",
    "batch_to_space_nd",
    "depth_to_space",
    "required_space_to_batch_paddings",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
]

_FORMATS = ("NHWC", "NCHW", "NCHW_VECT_C")

SpaceToBatch = op(
    "SpaceToBatch(input: T, paddings: Tpaddings) -> output: T",
    Tpaddings=types(INDEX, default=dtypes.int32),
    block_size=attr("int", minimum=2),
)
SpaceToBatchND = op(
    "SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> output: T",
    Tblock_shape=types(INDEX, default=dtypes.int32),
    Tpaddings=types(INDEX, default=dtypes.int32),
)
BatchToSpace = op(
    "BatchToSpace(input: T, crops: Tidx) -> output: T",
    block_size=attr("int", minimum=2),
    Tidx=types(INDEX, default=dtypes.int32),
)
BatchToSpaceND = op(
    "BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> output: T",
    Tblock_shape=types(INDEX, default=dtypes.int32),
    Tcrops=types(INDEX, default=dtypes.int32),
)
SpaceToDepth = op(
    "SpaceToDepth(input: T) -> output: T",
    block_size=attr("int", minimum=2),
    data_format=attr("string", "NHWC", allowed=_FORMATS),
)
DepthToSpace = op(
    "DepthToSpace(input: T) -> output: T",
    block_size=attr("int", minimum=2),
    data_format=attr("string", "NHWC", allowed=_FORMATS),
)


def _quotient(size: int | None, by: int) -> int | None:
    if size is not None and size % by:
        raise ValueError(f"Dimension size must be evenly divisible by {by} but is {size}")
    return None if size is None else size // by


def _product(size: int | None, by: int) -> int | None:
    return None if size is None else size * by


# Batch ----------------------------------------------------------------------------------------


def _block_and_edges(
    op: Operation, x: Shape, block_shape: Shape, edges: Shape
) -> tuple[int | None, list[int] | None, list[list[int]] | None]:
    """How many dimensions are cut into blocks, the blocks' sizes and the paddings or crops."""
    if block_shape is None or len(block_shape) != 1:
        raise ValueError("block_shape must have rank 1.")
    count = block_shape[0]
    merge_shapes(with_rank(edges, 2), (count, 2))
    if count is not None:
        with_rank_at_least(x, count + 1)
    block, borders = (constant_value(tensor) for tensor in op.inputs[1:3])
    if block is not None and (block < 1).any():
        raise ValueError("block_shape must be positive")
    if borders is not None and (borders < 0).any():
        name = op.spec.inputs[2].name
        raise ValueError(f"{name} cannot be negative")
    return (
        count,
        None if block is None else block.tolist(),
        None if borders is None else borders.tolist(),
    )


@SpaceToBatchND.shape
def _(op: Operation, x: Shape, block_shape: Shape, paddings: Shape) -> Shape:
    count, block, borders = _block_and_edges(op, x, block_shape, paddings)
    return _to_batch(x, count, block, borders)


@BatchToSpaceND.shape
def _(op: Operation, x: Shape, block_shape: Shape, crops: Shape) -> Shape:
    count, block, borders = _block_and_edges(op, x, block_shape, crops)
    return _to_space(x, count, block, borders)


def _to_batch(
    x: Shape, count: int | None, block: list[int] | None, borders: list[list[int]] | None
) -> Shape:
    if x is None or count is None:
        return None
    rest = x[count + 1 :]
    if block is None:
        return (None,) * (count + 1) + rest
    batch = _product(x[0], math.prod(block))
    if borders is None:
        return (batch,) + (None,) * count + rest
    padded = [
        None if size is None else size + sum(border)
        for size, border in zip(x[1 : count + 1], borders, strict=True)
    ]
    return (batch, *map(_quotient, padded, block), *rest)


def _to_space(
    x: Shape, count: int | None, block: list[int] | None, borders: list[list[int]] | None
) -> Shape:
    if x is None or count is None:
        return None
    rest = x[count + 1 :]
    if block is None:
        return (None,) * (count + 1) + rest
    batch = _quotient(x[0], math.prod(block))
    if borders is None:
        return (batch,) + (None,) * count + rest
    whole = map(_product, x[1 : count + 1], block)
    return (batch, *map(_cropped, whole, borders), *rest)


def _cropped(size: int | None, crops: list[int]) -> int | None:
    if size is None:
        return None
    for crop in crops:
        if crop > size:
            raise ValueError(f"Negative dimension size caused by subtracting {crop} from {size}")
        size -= crop
    return size


@SpaceToBatch.shape
def _(op: Operation, x: Shape, paddings: Shape) -> Shape:
    return _to_batch(with_rank(x, 4), 2, [op.attrs["block_size"]] * 2, _borders(op, paddings))


@BatchToSpace.shape
def _(op: Operation, x: Shape, crops: Shape) -> Shape:
    return _to_space(with_rank(x, 4), 2, [op.attrs["block_size"]] * 2, _borders(op, crops))


def _borders(op: Operation, edges: Shape) -> list[list[int]] | None:
    merge_shapes(with_rank(edges, 2), (2, 2))
    known = constant_value(op.inputs[1])
    return None if known is None else known.tolist()


@SpaceToBatch.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [batch_to_space(grad, op.inputs[1], op.attrs["block_size"]), None]


@BatchToSpace.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [space_to_batch(grad, op.inputs[1], op.attrs["block_size"]), None]


@SpaceToBatchND.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [batch_to_space_nd(grad, op.inputs[1], op.inputs[2]), None, None]


@BatchToSpaceND.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [space_to_batch_nd(grad, op.inputs[1], op.inputs[2]), None, None]


def space_to_batch_nd(
    input: Any, block_shape: Any, paddings: Any, name: str | None = None
) -> Tensor:
    """Pads the dimensions after the first, cuts them into blocks of `block_shape`, and makes each
    position within a block a batch entry of its own.
    """
    return SpaceToBatchND(input, block_shape, paddings, name=name)


def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """Undoes `space_to_batch_nd`; `crops` are its paddings."""
    return BatchToSpaceND(input, block_shape, crops, name=name)


def space_to_batch(
    input: Any,
    paddings: Any,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """`space_to_batch_nd` of images, with square blocks."""
    size = renamed_argument("block_shape", block_shape, "block_size", block_size)
    blocks = np.array([size, size], dtype=np.int64)
    return _of_images(space_to_batch_nd(input, blocks, paddings, name=name))


def batch_to_space(
    input: Any,
    crops: Any,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """`batch_to_space_nd` of images, with square blocks."""
    size = renamed_argument("block_shape", block_shape, "block_size", block_size)
    blocks = np.array([size, size], dtype=np.int64)
    return _of_images(batch_to_space_nd(input, blocks, crops, name=name))


def _of_images(result: Tensor) -> Tensor:
    result.set_shape(result.shape.with_rank(4))
    return result


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The smallest paddings that make spatial sizes divisible by the blocks, and the crops that
    `batch_to_space_nd` needs to undo them.
    """
    values = [input_shape, block_shape]
    with name_scope(name, "required_space_to_batch_paddings", values):
        sizes = convert_to_tensor(input_shape, dtypes.int32, name="input_shape")
        block = convert_to_tensor(block_shape, dtypes.int32, name="block_shape")
        count = TensorShape._of(with_rank(block._shape, 1))
        count.assert_is_fully_defined()
        (length,) = count.as_list()
        if length == 0:
            empty = zeros([0, 2], dtypes.int32)
            return empty, empty
        TensorShape._of(sizes._shape).assert_is_compatible_with([length])
        if base_paddings is None:
            base = zeros([length, 2], dtypes.int32)
        else:
            base = convert_to_tensor(base_paddings, dtypes.int32, name="base_paddings")
            base.shape.assert_is_compatible_with([length, 2])
        known = [constant_value(tensor) for tensor in (sizes, block, base)]
        if all(value is not None for value in known):
            return _known_paddings(*known)
        return _symbolic_paddings(sizes, block, base, length)


def _known_paddings(sizes: Any, block: Any, base: Any) -> tuple[Tensor, Tensor]:
    missing = -(sizes + base.sum(axis=1, dtype=base.dtype)) % block
    paddings = base + np.stack([np.zeros_like(missing), missing], axis=1)
    crops = np.stack([np.zeros_like(missing), missing], axis=1)
    return constant(paddings, name="paddings"), constant(crops, name="crops")


def _symbolic_paddings(
    sizes: Any, block: Any, base: Any, count: int | None
) -> tuple[Tensor, Tensor]:
    from penstock.ops.joining import stack

    assert count is not None
    before, given_after = base[:, 0], base[:, 1]
    missing = (block - (sizes + before + given_after) % block) % block
    after = given_after + missing
    paddings = stack([[before[i], after[i]] for i in range(count)], name="paddings")
    crops = stack([[0, missing[i]] for i in range(count)], name="crops")
    return paddings, crops


# Depth ----------------------------------------------------------------------------------------


def _as_nhwc(x: Shape, data_format: str) -> tuple[int | None, ...]:
    if data_format == "NCHW_VECT_C":
        raise ValueError("NCHW_VECT_C is a layout of int8 convolutions on GPUs alone")
    dims = with_rank(x, 4)
    return dims if data_format == "NHWC" else (dims[0], dims[2], dims[3], dims[1])


def _as_given(dims: tuple[int | None, ...], data_format: str) -> Shape:
    return dims if data_format == "NHWC" else (dims[0], dims[3], dims[1], dims[2])


@SpaceToDepth.shape
def _(op: Operation, x: Shape) -> Shape:
    block, data_format = op.attrs["block_size"], op.attrs["data_format"]
    n, h, w, c = _as_nhwc(x, data_format)
    found = n, _quotient(h, block), _quotient(w, block), _product(c, block * block)
    return _as_given(found, data_format)


@DepthToSpace.shape
def _(op: Operation, x: Shape) -> Shape:
    block, data_format = op.attrs["block_size"], op.attrs["data_format"]
    n, h, w, c = _as_nhwc(x, data_format)
    found = n, _product(h, block), _product(w, block), _quotient(c, block * block)
    return _as_given(found, data_format)


@SpaceToDepth.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return depth_to_space(grad, op.attrs["block_size"], data_format=op.attrs["data_format"])


@DepthToSpace.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return space_to_depth(grad, op.attrs["block_size"], data_format=op.attrs["data_format"])


def space_to_depth(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """Images with each block of pixels as the channels of one pixel."""
    return SpaceToDepth(input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """Undoes `space_to_depth`: channels become blocks of pixels."""
    return DepthToSpace(input, block_size=block_size, data_format=data_format, name=name)
