"""Images turned, mirrored, cropped and padded; one, [height, width, channels], or a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor, is_dense_tensor_like
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.image_checks import assert_or_raise, image_checks, require_image, sizes_of
from penstock.ops.random import random_uniform

__all__ = [
    "central_crop",
    "crop_to_bounding_box",
    "flip_left_right",
    "flip_up_down",
    "pad_to_bounding_box",
    "random_flip_left_right",
    "random_flip_up_down",
    "resize_image_with_crop_or_pad",
    "rot90",
    "transpose_image",
]


def _by_rank(image: Tensor, of_one: Callable[[], Any], of_batch: Callable[[], Any]) -> Any:
    """Builds for one image or for a batch; what has no known rank is taken for one image."""
    ndims = image.shape.ndims
    if ndims in (3, None):
        return of_one()
    if ndims == 4:
        return of_batch()
    raise ValueError(f"'image' must have either 3 or 4 dimensions. Got shape {image.shape}")


def as_batch(image: Any) -> tuple[Tensor, bool]:
    """The image as a batch, and whether it was one already."""
    from penstock.ops.shaping import expand_dims

    shape = image.shape
    if shape.ndims == 4:
        return image, True
    if shape.ndims not in (3, None):
        raise ValueError(f"'image' must have either 3 or 4 dimensions. Got shape {shape}")
    batch = expand_dims(image, 0)
    if shape.ndims is None:
        batch.set_shape([None] * 4)
    return batch, False


def without_batch(images: Tensor) -> Tensor:
    """The only image of a batch."""
    from penstock.ops.shaping import squeeze

    return squeeze(images, axis=[0])


def set_sizes(image: Any, sizes: list[Any]) -> None:
    """Tells an image its sizes, as far as they are numbers."""
    image.set_shape([None if is_dense_tensor_like(size) else size for size in sizes])


# Mirrored and turned --------------------------------------------------------------------------


def flip_left_right(image: Any) -> Tensor:
    """An image, or a batch, with the first column last."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """An image, or a batch, with the first row last."""
    return _flip(image, 0, "flip_up_down")


def _with_shape_of(image: Any, flipped: Any) -> Tensor:
    flipped.set_shape([None] * 3 if image.shape.ndims is None else image.shape)
    return flipped


def _flip(image: Any, axis: int, scope: str) -> Tensor:
    from penstock.ops.permuting import reverse

    with name_scope(None, scope, [image]):
        image = require_image(convert_to_tensor(image, name="image"))
        return _by_rank(
            image,
            lambda: _with_shape_of(image, reverse(image, [axis])),
            lambda: reverse(image, [axis + 1]),
        )


def random_flip_left_right(image: Any, seed: Any = None) -> Tensor:
    """An image that is mirrored left to right with a chance of one half, each one of a batch."""
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: Any = None) -> Tensor:
    """An image that is mirrored up and down with a chance of one half, each one of a batch."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


def _random_flip(image: Any, axis: int, seed: Any, name: str) -> Tensor:
    from penstock.ops.casts import cast
    from penstock.ops.comparison import less
    from penstock.ops.conditionals import cond
    from penstock.ops.elementwise import round as round_
    from penstock.ops.permuting import reverse
    from penstock.ops.shaping import reshape
    from penstock.ops.shaping import shape as shape_of

    with name_scope(None, name, [image]) as scope:
        image = require_image(convert_to_tensor(image, name="image"))

        def one() -> Any:
            mirrored = less(random_uniform([], 0, 1.0, seed=seed), 0.5)
            flipped = cond(mirrored, lambda: reverse(image, [axis]), lambda: image, name=scope)
            return _with_shape_of(image, flipped)

        def batch() -> Any:
            sizes: Any = shape_of(image)
            count = sizes[0]
            drawn = random_uniform([count], 0, 1.0, seed=seed)
            flips: Any = cast(round_(reshape(drawn, [count, 1, 1, 1])), image.dtype)
            flipped: Any = reverse(image, [axis + 1])
            return flips * flipped + (1 - flips) * image

        return _by_rank(image, one, batch)


def transpose_image(image: Any, name: str | None = None) -> Tensor:
    """An image, or a batch, with rows and columns exchanged."""
    from penstock.ops.permuting import transpose

    inner: dict[str, Any] = {} if name is None else {"name": name}
    with name_scope(name, "transpose", [image]):
        image = require_image(convert_to_tensor(image, name="image"))
        return _by_rank(
            image,
            lambda: transpose(image, [1, 0, 2], **inner),
            lambda: transpose(image, [0, 2, 1, 3], **inner),
        )


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """An image, or a batch, turned `k` times by 90 degrees against the clock."""
    from penstock.ops.binary import FloorMod

    with name_scope(name, "rot90", [image, k]) as scope:
        image = require_image(convert_to_tensor(image, name="image"))
        turns: Any = convert_to_tensor(k, dtypes.int32, name="k")
        turns.shape.assert_has_rank(0)
        turns = FloorMod(turns, 4)
        return _by_rank(
            image,
            lambda: _turned(image, turns, 0, scope),
            lambda: _turned(image, turns, 1, scope),
        )


def _turned(image: Any, turns: Tensor, first: int, scope: str) -> Tensor:
    """An image turned; its rows are dimension number `first`."""
    from penstock.ops.comparison import equal
    from penstock.ops.conditionals import case
    from penstock.ops.permuting import reverse, transpose

    exchanged = [1, 0, 2] if first == 0 else [0, 2, 1, 3]
    rows, columns = first, first + 1
    cases = [
        (equal(turns, 1), lambda: transpose(reverse(image, [columns]), exchanged)),
        (equal(turns, 2), lambda: reverse(image, [rows, columns])),
        (equal(turns, 3), lambda: reverse(transpose(image, exchanged), [columns])),
    ]
    result = case(cases, default=lambda: image, exclusive=True, name=scope)
    if first == 0:
        result.set_shape([None, None, image.shape[2]])
    else:
        result.set_shape([result.shape[0], None, None, result.shape[3]])
    return result


# Cropped and padded ---------------------------------------------------------------------------


def central_crop(image: Any, central_fraction: Any) -> Tensor:
    """The part in the middle of an image, or a batch: `central_fraction` of each side."""
    from penstock.ops.comparison import logical_or
    from penstock.ops.control import with_dependencies
    from penstock.ops.joining import stack
    from penstock.ops.slicing import slice as slice_

    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        fraction = _known_number(central_fraction)
        message = "central_fraction must be within (0, 1]"
        if fraction is None:
            within = logical_or(central_fraction > 0.0, central_fraction <= 1.0)
            image = with_dependencies(assert_or_raise(within, message), image)
        elif not 0.0 < fraction <= 1.0:
            raise ValueError(message)
        elif fraction == 1.0:
            return image
        require_image(image)
        ndims = image.shape.ndims
        if ndims not in (3, 4):
            raise ValueError(
                f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {ndims}."
            )
        first = ndims - 3
        rows = _side(image, first)
        columns = _side(image, first + 1)
        top, left = (_margin(side, central_fraction, fraction) for side in (rows, columns))
        begin = [0, top, left, 0][1 - first :]
        height, width = rows - top * 2, columns - left * 2
        known = image.shape
        part: Any = slice_(image, stack(begin), stack([-1, height, width, -1][1 - first :]))
        set_sizes(part, [*known[:first], height, width, known[-1]])
        return part


def _known_number(value: Any) -> float | None:
    if not is_dense_tensor_like(value):
        return float(value)
    known = constant_value(value)
    return None if known is None else float(known)


def _side(image: Any, axis: int) -> Any:
    from penstock.ops.shaping import shape as shape_of

    known = image.shape.as_list()[axis]
    if known is not None:
        return known
    sizes: Any = shape_of(image)
    return sizes[axis]


def _margin(side: Any, given: Any, fraction: float | None) -> Any:
    """How many rows (or columns) a central crop leaves out on each side."""
    from penstock.ops.casts import cast

    if fraction is not None and not is_dense_tensor_like(side):
        return int((float(side) - float(side) * fraction) / 2)
    exact: Any = cast(side, dtypes.float64)
    if is_dense_tensor_like(given):
        given = cast(given, dtypes.float64)
    return cast((exact - exact * given) / 2, dtypes.int32)


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """An image, or a batch, put into zeros of the target size at an offset."""
    from penstock.ops.control import with_dependencies
    from penstock.ops.joining import stack
    from penstock.ops.padding import pad
    from penstock.ops.shaping import reshape

    with name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = image_checks(image)
        batch, height, width, depth = sizes_of(image, 4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        checks += assert_or_raise(offset_height >= 0, "offset_height must be >= 0")
        checks += assert_or_raise(offset_width >= 0, "offset_width must be >= 0")
        checks += assert_or_raise(right >= 0, "width must be <= target - offset")
        checks += assert_or_raise(below >= 0, "height must be <= target - offset")
        image = with_dependencies(checks, image)
        borders = stack([0, 0, offset_height, below, offset_width, right, 0, 0])
        padded: Any = pad(image, reshape(borders, [4, 2]))
        set_sizes(padded, [batch, target_height, target_width, depth])
        return padded if is_batch else without_batch(padded)


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """The part of an image, or of a batch, of the target size at an offset."""
    from penstock.ops.control import with_dependencies
    from penstock.ops.joining import stack
    from penstock.ops.slicing import slice as slice_

    with name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = image_checks(image)
        batch, height, width, depth = sizes_of(image, 4)
        checks += assert_or_raise(offset_width >= 0, "offset_width must be >= 0.")
        checks += assert_or_raise(offset_height >= 0, "offset_height must be >= 0.")
        checks += assert_or_raise(target_width > 0, "target_width must be > 0.")
        checks += assert_or_raise(target_height > 0, "target_height must be > 0.")
        fits = width >= target_width + offset_width
        checks += assert_or_raise(fits, "width must be >= target + offset.")
        fits = height >= target_height + offset_height
        checks += assert_or_raise(fits, "height must be >= target + offset.")
        image = with_dependencies(checks, image)
        begin = stack([0, offset_height, offset_width, 0])
        cropped: Any = slice_(image, begin, stack([-1, target_height, target_width, -1]))
        set_sizes(cropped, [batch, target_height, target_width, depth])
        return cropped if is_batch else without_batch(cropped)


def either(
    x: Any, y: Any, of_tensors: Callable[[Any, Any], Any], of_numbers: Callable[[Any, Any], Any]
) -> Any:
    """One function of tensors, another of plain numbers."""
    if is_dense_tensor_like(x) or is_dense_tensor_like(y):
        return of_tensors(x, y)
    return of_numbers(x, y)


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """An image, or a batch, cropped or padded with zeros, evenly on both sides, to a size."""
    from penstock.ops.binary import maximum, minimum
    from penstock.ops.comparison import equal
    from penstock.ops.control import with_dependencies

    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = image_checks(image)
        checks += assert_or_raise(target_width > 0, "target_width must be > 0.")
        checks += assert_or_raise(target_height > 0, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        if is_dense_tensor_like(target_height):
            target_height = with_dependencies(checks, target_height)
        if is_dense_tensor_like(target_width):
            target_width = with_dependencies(checks, target_width)
        _, height, width, _ = sizes_of(image, 4)
        wider = target_width - width
        left_out = either(-wider // 2, 0, maximum, max)
        left_border = either(wider // 2, 0, maximum, max)
        higher = target_height - height
        top_out = either(-higher // 2, 0, maximum, max)
        top_border = either(higher // 2, 0, maximum, max)
        cropped = crop_to_bounding_box(
            image,
            top_out,
            left_out,
            either(target_height, height, minimum, min),
            either(target_width, width, minimum, min),
        )
        resized = pad_to_bounding_box(cropped, top_border, left_border, target_height, target_width)
        _, new_height, new_width, _ = sizes_of(resized, 4)
        right = either(new_height, target_height, equal, lambda x, y: x == y)
        checks = assert_or_raise(right, "resized height is not correct.")
        right = either(new_width, target_width, equal, lambda x, y: x == y)
        checks += assert_or_raise(right, "resized width is not correct.")
        resized = with_dependencies(checks, resized)
        return resized if is_batch else without_batch(resized)
