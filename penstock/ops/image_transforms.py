"""Images under projective transforms: turned, shifted, seen from another side.

A transform is eight numbers [a0, a1, a2, b0, b1, b2, c0, c1]: the pixel (x, y) of the result is
that at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) of the image, where k = c0 x + c1 y + 1.
"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING
from penstock.ops.image_resize import size_from_input
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = [
    "angles_to_projective_transforms",
    "compose_transforms",
    "flat_transforms_to_matrices",
    "matrices_to_flat_transforms",
    "rotate",
    "transform",
    "translate",
    "translations_to_projective_transforms",
]

_TRANSFORMED: dict[str, Any] = {
    "dtype": types(dtypes.uint8, dtypes.int32, dtypes.int64, FLOATING),
    "interpolation": attr("string"),
    "fill_mode": "CONSTANT",
}
ImageProjectiveTransformV2 = op(
    "ImageProjectiveTransformV2(images: dtype, transforms: float32, output_shape: int32) "
    "-> transformed_images: dtype",
    **_TRANSFORMED,
)
ImageProjectiveTransformV3 = op(
    "ImageProjectiveTransformV3(images: dtype, transforms: float32, output_shape: int32, "
    "fill_value: float32) -> transformed_images: dtype",
    **_TRANSFORMED,
)
_IMAGE_TYPES = (dtypes.uint8, dtypes.int32, dtypes.int64, *FLOATING)


@ImageProjectiveTransformV2.shape
@ImageProjectiveTransformV3.shape
def _(op: Operation, images: Shape, transforms: Shape, size: Shape, *fill_value: Shape) -> Shape:
    batch, _, _, depth = with_rank(images, 4)
    with_rank(transforms, 2)
    for value in fill_value:
        with_rank(value, 0)
    return (batch, *size_from_input(op, 2), depth)


@ImageProjectiveTransformV2.gradient
@ImageProjectiveTransformV3.gradient
def _(op: Operation, grad: Tensor) -> Any:
    """The gradient is the image of the inverse transform, without what came from outside."""
    from penstock.ops.filling import zeros
    from penstock.ops.linear_systems import matrix_inverse
    from penstock.ops.shaping import shape as shape_of

    images, transforms, _, *fill_value = op.inputs
    sizes: Any = shape_of(images)
    inverse = matrices_to_flat_transforms(matrix_inverse(flat_transforms_to_matrices(transforms)))
    attrs = {key: op.attrs[key] for key in ("interpolation", "fill_mode")}
    if not fill_value:
        by_images = ImageProjectiveTransformV2(grad, inverse, sizes[1:3], **attrs)
        return [by_images, None, None]
    nothing = zeros([], dtypes.float32)
    by_images = ImageProjectiveTransformV3(grad, inverse, sizes[1:3], nothing, **attrs)
    return [by_images, None, None, None]


# Functions ------------------------------------------------------------------------------------


def _as_batch(images: Tensor) -> Any:
    """Images of rank 2, 3 or 4 as a batch."""
    if images.dtype.base_dtype not in _IMAGE_TYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    ndims = images.shape.ndims
    if ndims is None:
        raise TypeError("image_or_images rank must be statically known")
    given: Any = images
    if ndims == 2:
        return given[None, :, :, None]
    if ndims == 3:
        return given[None, :, :, :]
    if ndims == 4:
        return given
    raise TypeError("Images should have rank between 2 and 4.")


def _as_given(output: Any, images: Tensor) -> Tensor:
    """A batch in the rank of the images that it was made of."""
    if images.shape.ndims == 2:
        return output[0, :, :, 0]
    return output[0, :, :, :] if images.shape.ndims == 3 else output


def transform(
    images: Any,
    transforms: Any,
    interpolation: str = "NEAREST",
    output_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """Images under one projective transform, or under one for each; zeros outside of them.

    Args:
      images: [height, width], [height, width, channels], or a batch.
      transforms: [8] or [batch, 8], from places of the result to places of the image.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: Height and width of the result, those of the image if None.
    """
    from penstock.ops.shaping import shape as shape_of

    with name_scope(name, "transform"):
        given = convert_to_tensor(images, name="images")
        numbers: Any = convert_to_tensor(transforms, dtypes.float32, name="transforms")
        batch = _as_batch(given)
        if output_shape is None:
            sizes: Any = shape_of(batch)
            output_shape = sizes[1:3]
            known = constant_value(output_shape)
            output_shape = output_shape if known is None else known
        size = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        if not size.shape.is_compatible_with([2]):
            raise ValueError(
                "output_shape must be a 1-D Tensor of 2 elements: new_height, new_width"
            )
        if numbers.shape.ndims is None:
            raise TypeError("transform_or_transforms rank must be statically known")
        if numbers.shape.ndims not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        if numbers.shape.ndims == 1:
            numbers = numbers[None]
        output = ImageProjectiveTransformV2(
            batch, numbers, size, interpolation=interpolation.upper()
        )
        return _as_given(output, given)


def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Images turned about their centers, against the clock, by angles in radians."""
    from penstock.ops.casts import cast
    from penstock.ops.shaping import shape as shape_of

    with name_scope(name, "rotate"):
        given = convert_to_tensor(images)
        batch = _as_batch(given)
        sizes: Any = shape_of(batch)
        height = cast(sizes[1], dtypes.float32)[None]
        width = cast(sizes[2], dtypes.float32)[None]
        transforms = angles_to_projective_transforms(angles, height, width)
        return _as_given(transform(batch, transforms, interpolation=interpolation), given)


def translate(
    images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Images shifted by [dx, dy], or each by its own."""
    with name_scope(name, "translate"):
        transforms = translations_to_projective_transforms(translations)
        return transform(images, transforms, interpolation=interpolation)


def angles_to_projective_transforms(
    angles: Any, image_height: Any, image_width: Any, name: str | None = None
) -> Tensor:
    """The transforms, [angles, 8], that turn images of a size about their centers."""
    from penstock.ops.array import concat, zeros
    from penstock.ops.shaping import shape as shape_of
    from penstock.ops.trigonometry import cos, sin

    with name_scope(name, "angles_to_projective_transforms"):
        turns: Any = convert_to_tensor(angles, dtypes.float32, name="angles")
        if turns.shape.ndims not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        if turns.shape.ndims == 0:
            turns = turns[None]
        width, height = image_width - 1, image_height - 1
        cosine: Any = cos(turns)
        sine: Any = sin(turns)
        x_offset = (width - (cosine * width - sine * height)) / 2.0
        y_offset = (height - (sine * width + cosine * height)) / 2.0
        sizes: Any = shape_of(turns)
        columns = [cosine, -sine, x_offset, sine, cosine, y_offset]
        last = zeros((sizes[0], 2), dtypes.float32)
        return concat([*(column[:, None] for column in columns), last], axis=1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Tensor:
    """The transforms, [translations, 8], that shift images."""
    from penstock.ops.array import concat, ones, zeros
    from penstock.ops.shaping import shape as shape_of

    with name_scope(name, "translations_to_projective_transforms"):
        shifts: Any = convert_to_tensor(translations, dtypes.float32, name="translations")
        if shifts.shape.ndims is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if shifts.shape.ndims not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        if shifts.shape.ndims == 1:
            shifts = shifts[None]
        count: Any = shape_of(shifts)[0]
        one = ones((count, 1), dtypes.float32)
        zero = zeros((count, 1), dtypes.float32)
        last = zeros((count, 2), dtypes.float32)
        across, down = -shifts[:, 0, None], -shifts[:, 1, None]
        return concat([one, zero, across, zero, one, down, last], axis=1)


def compose_transforms(*transforms: Any) -> Tensor:
    """The transform that applies all of the given ones, one after the other."""
    from penstock.ops.matmul import matmul

    if not transforms:
        raise AssertionError("transforms cannot be empty")
    with name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for entry in transforms[1:]:
            composed = matmul(composed, flat_transforms_to_matrices(entry))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: Any) -> Tensor:
    """Transforms, [8] or [count, 8], as matrices [count, 3, 3]."""
    from penstock.ops.array import concat, ones, reshape
    from penstock.ops.constants import constant
    from penstock.ops.shaping import shape as shape_of

    with name_scope("flat_transforms_to_matrices"):
        numbers = convert_to_tensor(transforms, name="transforms")
        if numbers.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {numbers}")
        flat = reshape(numbers, constant([-1, 8]))
        count: Any = shape_of(flat)[0]
        whole = concat([flat, ones([count, 1])], axis=1)
        return reshape(whole, constant([-1, 3, 3]))


def matrices_to_flat_transforms(transform_matrices: Any) -> Tensor:
    """Matrices, [3, 3] or [count, 3, 3], as transforms [count, 8]."""
    from penstock.ops.constants import constant
    from penstock.ops.shaping import reshape

    with name_scope("matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat: Any = reshape(matrices, constant([-1, 9]))
        flat /= flat[:, 8:9]
        return flat[:, :8]
