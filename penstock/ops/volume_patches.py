"""Patches of volumes: all that a window over three dimensions sees."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.ir.registry import attr, op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import REAL
from penstock.ops.conv import Conv3DBackpropInputV2
from penstock.ops.joining import concat
from penstock.ops.permuting import transpose
from penstock.ops.shape_checks import with_rank
from penstock.ops.shaping import reshape, shape
from penstock.ops.window import output_size_or_nothing
from penstock.shapes import Shape

__all__ = ["extract_volume_patches"]

ExtractVolumePatches = op(
    "ExtractVolumePatches(input: T) -> patches: T",
    ksizes=attr("list(int)", minimum=5),
    strides=attr("list(int)", minimum=5),
    T=REAL,
    padding=attr("string", allowed=("SAME", "VALID")),
)


@ExtractVolumePatches.shape
def _(op: Any, input: Shape) -> Shape:
    batch, *sizes, depth = with_rank(input, 5)
    for key in ("ksizes", "strides"):
        if len(op.attrs[key]) != 5:
            raise ValueError(
                f"ExtractVolumePatches requires the {key} attribute to contain 5 values, but got: "
                f"{len(op.attrs[key])}"
            )
    windows = op.attrs["ksizes"][1:4]
    counts = [
        output_size_or_nothing(size, window, stride, op.attrs["padding"])
        for size, window, stride in zip(sizes, windows, op.attrs["strides"][1:4], strict=True)
    ]
    elements = windows[0] * windows[1] * windows[2]
    return (batch, *counts, None if depth is None else depth * elements)


@ExtractVolumePatches.gradient
def _(op: Any, grad: Any) -> Any:
    """Patches are a convolution whose filters each see one element of the window.

    Each channel is convolved by itself, as a volume of its own.
    """
    windows = op.attrs["ksizes"][1:4]
    elements = windows[0] * windows[1] * windows[2]
    sizes: Any = shape(op.inputs[0])
    batch, depth, inner = sizes[0], sizes[4], sizes[1:4]
    outer = shape(grad)[1:4]
    grads = reshape(grad, concat([[batch], outer, [elements, depth]], 0))
    grads = transpose(grads, [0, 5, 1, 2, 3, 4])
    grads = reshape(grads, concat([[batch * depth], outer, [elements]], 0))
    filters = np.eye(elements).reshape(*windows, 1, elements)
    alone = Conv3DBackpropInputV2(
        concat([[batch * depth], inner, [1]], 0),
        filters.astype(grad.dtype.as_numpy_dtype),
        grads,
        strides=op.attrs["strides"],
        padding=op.attrs["padding"],
    )
    result = reshape(alone, concat([[batch, depth], inner], 0))
    return transpose(result, [0, 2, 3, 4, 1])


def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Tensor:
    """What a window of `ksizes` sees at each of its places in a volume, as channels.

    Args:
      input: A batch of volumes [batch, planes, rows, columns, channels].
      ksizes: [1, planes, rows, columns, 1] of the window.
      strides: [1, planes, rows, columns, 1] from one place to the next.
      padding: "VALID" or "SAME".
    """
    return ExtractVolumePatches(input, ksizes=ksizes, strides=strides, padding=padding, name=name)
