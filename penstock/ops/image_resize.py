"""Images in other sizes: the op types, and the functions that add one node each."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.operation import Operation
from penstock.ir.registry import not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, SIGNED, SINGLE_DOUBLE
from penstock.ops.shape_checks import with_rank, with_size
from penstock.shapes import Shape

__all__ = [
    "resize_area",
    "resize_bicubic",
    "resize_bilinear",
    "resize_nearest_neighbor",
]

_PIXELS = types(SIGNED, dtypes.uint8, dtypes.uint16, FLOATING)

ResizeBilinear = op(
    "ResizeBilinear(images: T, size: int32) -> resized_images: float32",
    T=_PIXELS,
    align_corners=False,
    half_pixel_centers=False,
)
ResizeBilinearGrad = op(
    "ResizeBilinearGrad(grads: float32, original_image: T) -> output: T",
    T=FLOATING,
    align_corners=False,
    half_pixel_centers=False,
)
ResizeNearestNeighbor = op(
    "ResizeNearestNeighbor(images: T, size: int32) -> resized_images: T",
    T=_PIXELS,
    align_corners=False,
    half_pixel_centers=False,
)
ResizeNearestNeighborGrad = op(
    "ResizeNearestNeighborGrad(grads: T, size: int32) -> output: T",
    T=types(dtypes.uint8, dtypes.int8, dtypes.int32, FLOATING),
    align_corners=False,
    half_pixel_centers=False,
)
ResizeBicubic = op(
    "ResizeBicubic(images: T, size: int32) -> resized_images: float32",
    T=_PIXELS,
    align_corners=False,
    half_pixel_centers=False,
)
ResizeBicubicGrad = op(
    "ResizeBicubicGrad(grads: float32, original_image: T) -> output: T",
    T=SINGLE_DOUBLE,
    align_corners=False,
    half_pixel_centers=False,
)
ResizeArea = op(
    "ResizeArea(images: T, size: int32) -> resized_images: float32",
    T=_PIXELS,
    align_corners=False,
)
ScaleAndTranslate = op(
    "ScaleAndTranslate(images: T, size: int32, scale: float32, translation: float32) "
    "-> resized_images: float32",
    T=_PIXELS,
    kernel_type="lanczos3",
    antialias=True,
)
ScaleAndTranslateGrad = op(
    "ScaleAndTranslateGrad(grads: T, original_image: T, scale: float32, translation: float32) "
    "-> output: T",
    T=types(dtypes.float32),
    kernel_type="lanczos3",
    antialias=True,
)
not_differentiable(ResizeBilinearGrad)


# Shapes ---------------------------------------------------------------------------------------


def size_from_input(op: Operation, index: int) -> tuple[int | None, int | None]:
    """The height and width that an input of two numbers asks for."""
    (length,) = with_rank(op.inputs[index]._shape, 1)
    with_size(length, 2)
    known = constant_value(op.inputs[index])
    if known is not None and (known <= 0).any():
        # TensorFlow leaves this to the kernel, which says "output dimensions must be positive".
        return None, None
    sizes = constant_shape(op.inputs[index])
    return (None, None) if sizes is None else (sizes[0], sizes[1])


@ResizeBilinear.shape
@ResizeNearestNeighbor.shape
@ResizeBicubic.shape
@ResizeArea.shape
def _(op: Operation, images: Shape, size: Shape) -> Shape:
    batch, _, _, depth = with_rank(images, 4)
    return (batch, *size_from_input(op, 1), depth)


@ScaleAndTranslate.shape
def _(op: Operation, images: Shape, size: Shape, scale: Shape, translation: Shape) -> Shape:
    batch, _, _, depth = with_rank(images, 4)
    for vector in (scale, translation):
        with_size(with_rank(vector, 1)[0], 2)
    return (batch, *size_from_input(op, 1), depth)


@ResizeBilinearGrad.shape
@ResizeBicubicGrad.shape
@ScaleAndTranslateGrad.shape
def _(op: Operation, grads: Shape, original: Shape, *others: Shape) -> Shape:
    return original


@ResizeNearestNeighborGrad.shape
def _(op: Operation, grads: Shape, size: Shape) -> Shape:
    batch, _, _, depth = with_rank(grads, 4)
    return (batch, *size_from_input(op, 1), depth)


# Gradients ------------------------------------------------------------------------------------


def _corners(op: Operation) -> dict[str, Any]:
    return {key: op.attrs[key] for key in ("align_corners", "half_pixel_centers")}


@ResizeBilinear.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [ResizeBilinearGrad(grad, op.inputs[0], **_corners(op)), None]


@ResizeBicubic.gradient
def _(op: Operation, grad: Tensor) -> Any:
    image = op.inputs[0]
    if image.dtype not in SINGLE_DOUBLE:
        return [None, None]
    return [ResizeBicubicGrad(grad, image, **_corners(op)), None]


@ResizeNearestNeighbor.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.shaping import shape as shape_of

    image: Any = op.inputs[0]
    size = image.shape[1:3]
    if not size.is_fully_defined():
        size = shape_of(image)[1:3]
    return [ResizeNearestNeighborGrad(grad, size, **_corners(op)), None]


@ScaleAndTranslate.gradient
def _(op: Operation, grad: Tensor) -> Any:
    images, _, scale, translation = op.inputs
    attrs = {key: op.attrs[key] for key in ("kernel_type", "antialias")}
    return [ScaleAndTranslateGrad(grad, images, scale, translation, **attrs), None, None, None]


# Functions ------------------------------------------------------------------------------------


def resize_bilinear(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """A batch of images in another size, each pixel between its four nearest ones.

    With `align_corners` the centers of the corner pixels stay where they are; with
    `half_pixel_centers` a pixel's center is half a pixel inside its edges.
    """
    return ResizeBilinear(
        images,
        size,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
        name=name,
    )


def resize_nearest_neighbor(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """A batch of images in another size, each pixel a copy of the nearest one."""
    return ResizeNearestNeighbor(
        images,
        size,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
        name=name,
    )


def resize_bicubic(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """A batch of images in another size, by cubic interpolation of sixteen pixels."""
    return ResizeBicubic(
        images,
        size,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
        name=name,
    )


def resize_area(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None
) -> Tensor:
    """A batch of images in another size, each pixel the mean of the area that it covers."""
    return ResizeArea(images, size, align_corners=align_corners, name=name)
