"""Op types of colours turned in YIQ space, and of the connected parts of images."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.registry import not_differentiable, op
from penstock.ops.shape_checks import with_rank_at_least
from penstock.shapes import Shape

_PIXELS = (
    *(dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
    *(dtypes.float16, dtypes.float32, dtypes.float64),
)
_COMPARED = (
    *(dtypes.int64, dtypes.int32, dtypes.uint16, dtypes.int16, dtypes.uint8, dtypes.int8),
    *(dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bool, dtypes.string),
)

AdjustHsvInYiq = op(
    "AdjustHsvInYiq(images: T, delta_h: float32, scale_s: float32, scale_v: float32) -> output: T",
    T=_PIXELS,
)
ImageConnectedComponents = op(
    "ImageConnectedComponents(image: dtype) -> components: int64", dtype=_COMPARED
)

not_differentiable("AdjustHsvInYiq")
not_differentiable("ImageConnectedComponents")


@AdjustHsvInYiq.shape
def _(op: Any, images: Shape, hue: Shape, saturation: Shape, value: Shape) -> Shape:
    return with_rank_at_least(images, 3)


@ImageConnectedComponents.shape
def _(op: Any, image: Shape) -> Shape:
    return image
