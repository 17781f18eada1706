"""`tf.image.resize_images` and its kin: any method, one image or a batch, aspect ratios kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_shape
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.image_checks import assert_or_raise, image_checks, sizes_of
from penstock.ops.image_geometry import as_batch, either, pad_to_bounding_box, without_batch
from penstock.ops.image_resize import (
    ResizeArea,
    ResizeBicubic,
    ResizeBilinear,
    ResizeNearestNeighbor,
    ScaleAndTranslate,
)

__all__ = ["ResizeMethod", "resize_image_with_pad", "resize_images"]


class ResizeMethod:
    """How the pixels of a resized image come about."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


class ResizeMethodV2:
    """How the pixels of an image come about that `resize_images_v2` resizes."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_METHODS = {
    ResizeMethod.BILINEAR: ResizeBilinear,
    ResizeMethod.NEAREST_NEIGHBOR: ResizeNearestNeighbor,
    ResizeMethod.BICUBIC: ResizeBicubic,
    ResizeMethod.AREA: ResizeArea,
    ResizeMethodV2.BILINEAR: ResizeBilinear,
    ResizeMethodV2.NEAREST_NEIGHBOR: ResizeNearestNeighbor,
    ResizeMethodV2.BICUBIC: ResizeBicubic,
    ResizeMethodV2.AREA: ResizeArea,
}
# Filters of ScaleAndTranslate: of methods that have no op of their own, and without aliasing.
_FILTERS = {
    ResizeMethodV2.LANCZOS3: "lanczos3",
    ResizeMethodV2.LANCZOS5: "lanczos5",
    ResizeMethodV2.GAUSSIAN: "gaussian",
    ResizeMethodV2.MITCHELLCUBIC: "mitchellcubic",
}
_ANTIALIASING = {ResizeMethodV2.BILINEAR: "triangle", ResizeMethodV2.BICUBIC: "keyscubic"}


def resize_images(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """An image, or a batch, in another size.

    Args:
      images: [height, width, channels], or a batch of them.
      size: The new height and width.
      method: A member of `tf.image.ResizeMethod`.
      align_corners: Whether the centers of the corner pixels stay where they are.
      preserve_aspect_ratio: Whether the image keeps its ratio of width to height: then it is as
        large as fits into `size`.

    Returns:
      The resized images, of type float32 but for nearest neighbors; images that have the size
      already are returned as they are.
    """

    def resize(batch: Tensor, wanted: Any) -> Any:
        if method not in _METHODS:
            raise ValueError(f"Resize method is not implemented: {method}")
        return _METHODS[method](batch, wanted, align_corners=align_corners)

    with name_scope(name, "resize", [images, size]):
        batch, is_batch = _image_batch(images)
        resized = _resized(batch, size, resize, preserve_aspect_ratio, keep_if_same=True)
        return resized if is_batch else without_batch(resized)


def resize_images_v2(
    images: Any,
    size: Any,
    method: Any = ResizeMethodV2.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """An image, or a batch, in another size, with the centers of pixels half a pixel inside.

    See `resize_images`; `antialias` filters what is made smaller.
    """

    def resize(batch: Tensor, wanted: Any) -> Any:
        filter = _ANTIALIASING.get(method) if antialias else None
        filter = filter or _FILTERS.get(method)
        if filter is not None:
            return _filtered(batch, wanted, filter, antialias)
        if method not in _METHODS:
            raise ValueError(f"Resize method is not implemented: {method}")
        if method == ResizeMethodV2.AREA:
            return ResizeArea(batch, wanted)
        return _METHODS[method](batch, wanted, half_pixel_centers=True)

    with name_scope(name, "resize", [images, size]):
        batch, is_batch = _image_batch(images)
        resized = _resized(batch, size, resize, preserve_aspect_ratio, keep_if_same=False)
        return resized if is_batch else without_batch(resized)


def _filtered(batch: Tensor, size: Any, filter: str, antialias: bool) -> Any:
    from penstock.ops.casts import cast
    from penstock.ops.filling import zeros
    from penstock.ops.shaping import shape as shape_of

    sides: Any = shape_of(batch)
    scale = cast(size, dtypes.float32) / cast(sides[1:3], dtypes.float32)
    return ScaleAndTranslate(
        batch, size, scale, zeros([2]), kernel_type=filter, antialias=antialias
    )


def _image_batch(images: Any) -> tuple[Any, bool]:
    images = convert_to_tensor(images, name="images")
    if images.shape.ndims is None:
        raise ValueError("'images' contains no shape.")
    if images.shape.ndims not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    return as_batch(images)


def _resized(
    batch: Any,
    size: Any,
    resize: Callable[[Tensor, Any], Any],
    preserve_aspect_ratio: bool,
    keep_if_same: bool,
) -> Any:
    try:
        wanted: Any = convert_to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if not wanted.shape.is_compatible_with([2]):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if preserve_aspect_ratio:
        wanted = _largest_of_ratio(batch, wanted)
    new_height, new_width = constant_shape(wanted) or (None, None)
    _, height, width, _ = batch.shape.as_list()
    same = None not in (height, width) and (height, width) == (new_height, new_width)
    if same and keep_if_same:
        return batch
    resized = resize(batch, wanted)
    resized.set_shape([None, new_height, new_width, None])
    return resized


def _largest_of_ratio(batch: Any, size: Any) -> Tensor:
    """The largest size within `size` that has the ratio of the images."""
    from penstock.ops.binary import minimum
    from penstock.ops.casts import cast
    from penstock.ops.elementwise import round as round_

    _, height, width, _ = sizes_of(batch, 4)
    by_height = cast(size[0], dtypes.float32) / cast(height, dtypes.float32)
    by_width = cast(size[1], dtypes.float32) / cast(width, dtypes.float32)
    scale: Any = minimum(by_height, by_width)
    sides = [
        cast(round_(scale * cast(side, dtypes.float32)), dtypes.int32) for side in (height, width)
    ]
    return convert_to_tensor(sides, dtypes.int32, name="size")


def resize_image_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """An image, or a batch, as large as fits into the target, its ratio kept, the rest zeros."""

    def resize(batch: Any, size: Any) -> Any:
        return resize_images(batch, size, method, align_corners=align_corners)

    return _with_pad(image, target_height, target_width, resize)


def resize_image_with_pad_v2(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethodV2.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """As `resize_image_with_pad`, by the methods of `resize_images_v2`."""

    def resize(batch: Any, size: Any) -> Any:
        return resize_images_v2(batch, size, method, antialias=antialias)

    return _with_pad(image, target_height, target_width, resize)


def _with_pad(
    image: Any, target_height: Any, target_width: Any, resize: Callable[[Any, Any], Any]
) -> Tensor:
    from penstock.ops.binary import maximum
    from penstock.ops.casts import cast
    from penstock.ops.control import with_dependencies
    from penstock.ops.elementwise import floor

    with name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = image_checks(image)
        checks += assert_or_raise(target_width > 0, "target_width must be > 0.")
        checks += assert_or_raise(target_height > 0, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        _, height, width, _ = sizes_of(image, 4)
        sides = (height, width, target_height, target_width)
        rows, columns, most_rows, most_columns = (cast(side, dtypes.float64) for side in sides)
        ratio = either(columns / most_columns, rows / most_rows, maximum, max)
        new_rows, new_columns = rows / ratio, columns / ratio
        new_height = cast(floor(new_rows), dtypes.int32)
        new_width = cast(floor(new_columns), dtypes.int32)
        down, across = (most_rows - new_rows) / 2, (most_columns - new_columns) / 2
        down, across = floor(down), floor(across)
        top = either(0, cast(down, dtypes.int32), maximum, max)
        left = either(0, cast(across, dtypes.int32), maximum, max)
        resized = resize(image, [new_height, new_width])
        padded = pad_to_bounding_box(resized, top, left, target_height, target_width)
        sizes_of(padded, 4)
        return padded if is_batch else without_batch(padded)
