"""Patches of images: all that a window sees, glimpses, and the old op of random crops."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import COMPLEX, REAL, SIGNED
from penstock.ops.image_resize import size_from_input
from penstock.ops.shape_checks import merge_sizes, with_rank, with_size
from penstock.ops.window import dilated, output_size_or_nothing
from penstock.shapes import Shape

__all__ = ["extract_glimpse", "extract_image_patches", "extract_patches"]

_GLIMPSE: dict[str, Any] = {
    "centered": True,
    "normalized": True,
    "uniform_noise": True,
    "noise": "uniform",
}
ExtractImagePatches = op(
    "ExtractImagePatches(images: T) -> patches: T",
    ksizes=attr("list(int)", minimum=4),
    strides=attr("list(int)", minimum=4),
    rates=attr("list(int)", minimum=4),
    T=types(REAL, COMPLEX, dtypes.bool),
    padding=attr("string", allowed=("SAME", "VALID")),
)
ExtractGlimpse = op(
    "ExtractGlimpse(input: float32, size: int32, offsets: float32) -> glimpse: float32", **_GLIMPSE
)
ExtractGlimpseV2 = op(
    "ExtractGlimpseV2(input: float32, size: int32, offsets: float32) -> glimpse: float32",
    **_GLIMPSE,
)
RandomCrop = op(
    "RandomCrop(image: T, size: int64) -> output: T",
    STATEFUL,
    T=types(dtypes.uint8, SIGNED, dtypes.float32, dtypes.float64),
    seed=0,
    seed2=0,
)
not_differentiable(ExtractGlimpse, RandomCrop)


@ExtractImagePatches.shape
def _(op: Operation, images: Shape) -> Shape:
    batch, height, width, depth = with_rank(images, 4)
    for key in ("ksizes", "strides", "rates"):
        if len(op.attrs[key]) != 4:
            raise ValueError(
                f"ExtractImagePatches requires the {key} attribute to contain 4 values, but got: "
                f"{len(op.attrs[key])}"
            )
    rows, columns = op.attrs["ksizes"][1:3]
    sizes = [
        output_size_or_nothing(size, dilated(window, rate), stride, op.attrs["padding"])
        for size, window, stride, rate in zip(
            (height, width),
            (rows, columns),
            op.attrs["strides"][1:3],
            op.attrs["rates"][1:3],
            strict=True,
        )
    ]
    return (batch, *sizes, None if depth is None else depth * rows * columns)


@ExtractGlimpse.shape
@ExtractGlimpseV2.shape
def _(op: Operation, images: Shape, size: Shape, offsets: Shape) -> Shape:
    batch, _, _, depth = with_rank(images, 4)
    count, numbers = with_rank(offsets, 2)
    with_size(numbers, 2)
    return (merge_sizes(batch, count), *size_from_input(op, 1), depth)


@RandomCrop.shape
def _(op: Operation, image: Shape, size: Shape) -> Shape:
    *_, depth = with_rank(image, 3)
    with_size(with_rank(size, 1)[0], 2)
    known = constant_value(op.inputs[1])
    return (None, None, depth) if known is None else (int(known[0]), int(known[1]), depth)


@ExtractImagePatches.gradient
def _(op: Operation, grad: Tensor) -> Any:
    """Patches are a convolution whose filters each see one element of the window.

    Each channel is convolved by itself, as an image of its own.
    """
    from penstock.ops.array import concat, reshape, shape, transpose
    from penstock.ops.conv import Conv2DBackpropInput

    rows, columns = op.attrs["ksizes"][1:3]
    elements = rows * columns
    sizes: Any = shape(op.inputs[0])
    batch, depth, inner = sizes[0], sizes[3], sizes[1:3]
    grads: Any = reshape(grad, concat([shape(grad)[:3], [elements, depth]], 0))
    grads = transpose(grads, [0, 4, 1, 2, 3])
    grads = reshape(grads, concat([[batch * depth], shape(grad)[1:3], [elements]], 0))
    filters = np.eye(elements).reshape(rows, columns, 1, elements)
    alone = Conv2DBackpropInput(
        concat([[batch * depth], inner, [1]], 0),
        filters.astype(grad.dtype.as_numpy_dtype),
        grads,
        strides=op.attrs["strides"],
        padding=op.attrs["padding"],
        dilations=op.attrs["rates"],
    )
    result = reshape(alone, concat([[batch, depth], inner], 0))
    return transpose(result, [0, 2, 3, 1])


# Functions ------------------------------------------------------------------------------------


def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    sizes: Any = None,
) -> Tensor:
    """What a window of `ksizes` sees at each of its places, as channels.

    Args:
      images: A batch of images.
      ksizes: [1, rows, columns, 1] of the window (`sizes` is another name).
      strides: [1, rows, columns, 1] from one place to the next.
      rates: [1, rows, columns, 1] between the pixels that the window sees.
      padding: "VALID" or "SAME".
    """
    from penstock.ops.shaping import renamed_argument

    ksizes = renamed_argument("sizes", sizes, "ksizes", ksizes)
    return ExtractImagePatches(
        images, ksizes=ksizes, strides=strides, rates=rates, padding=padding, name=name
    )


def extract_patches(
    images: Any,
    sizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
) -> Tensor:
    """What a window of `sizes` sees at each of its places; see `extract_image_patches`."""
    return ExtractImagePatches(
        images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name
    )


def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """A part of each image at its offset; what lies outside of the image is noise.

    Args:
      input: A batch of images.
      size: Height and width of the glimpses.
      offsets: [batch, 2]: the row and column of each glimpse's center.
      centered: Whether offset 0 is the center of the image rather than its upper left corner.
      normalized: Whether offsets are in units of the image's size rather than pixels.
      uniform_noise: Whether noise is evenly distributed rather than normally.
    """
    return ExtractGlimpse(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=uniform_noise,
        name=name,
    )


def extract_glimpse_v2(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """A part of each image at its offset; see `extract_glimpse`.

    `noise` is "uniform", "gaussian" or "zero".
    """
    return ExtractGlimpseV2(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        noise=noise,
        uniform_noise=False,
        name=name,
    )
