"""Colors of images: spaces, contrast, hue, saturation. The op types, and what is made of them."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, SIGNED
from penstock.ops.image_checks import assert_or_raise, require_grayscale
from penstock.ops.random import random_uniform
from penstock.ops.shape_checks import with_rank, with_rank_at_least, with_size
from penstock.shapes import Shape

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "convert_image_dtype",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "random_brightness",
    "random_contrast",
    "random_hue",
    "random_saturation",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "yiq_to_rgb",
    "yuv_to_rgb",
]

_HALF_SINGLE = types(dtypes.float16, dtypes.float32, default=dtypes.float32)

AdjustContrast = op(
    "AdjustContrast(images: T, contrast_factor: float32, min_value: float32, max_value: float32) "
    "-> output: float32",
    T=types(dtypes.uint8, SIGNED, dtypes.float32, dtypes.float64),
)
AdjustContrastv2 = op(
    "AdjustContrastv2(images: T, contrast_factor: float32) -> output: T", T=_HALF_SINGLE
)
AdjustHue = op("AdjustHue(images: T, delta: float32) -> output: T", T=_HALF_SINGLE)
AdjustSaturation = op("AdjustSaturation(images: T, scale: float32) -> output: T", T=_HALF_SINGLE)
RGBToHSV = op("RGBToHSV(images: T) -> output: T", T=types(FLOATING, default=dtypes.float32))
HSVToRGB = op("HSVToRGB(images: T) -> output: T", T=types(FLOATING, default=dtypes.float32))
not_differentiable(HSVToRGB)


@AdjustContrast.shape
@AdjustContrastv2.shape
def _(op: Operation, images: Shape, *numbers: Shape) -> Shape:
    for number in numbers:
        with_rank(number, 0)
    return with_rank_at_least(images, 3)


@AdjustHue.shape
@AdjustSaturation.shape
def _(op: Operation, images: Shape, number: Shape) -> Shape:
    return with_rank_at_least(images, 3)


@RGBToHSV.shape
@HSVToRGB.shape
def _(op: Operation, images: Shape) -> Shape:
    images = with_rank_at_least(images, 1)
    return None if images is None else (*images[:-1], with_size(images[-1], 3))


@RGBToHSV.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.array import expand_dims, gather, one_hot, reverse, split
    from penstock.ops.binary import div_no_nan
    from penstock.ops.reductions import argmax, argmin, reduce_max, reduce_min, reduce_sum

    colors: Any = op.inputs[0]
    dtype = colors.dtype
    # Of equal channels the first is the largest and the last the smallest.
    largest: Any = one_hot(argmax(colors, -1), 3, dtype=dtype)
    smallest: Any = reverse(one_hot(argmin(reverse(colors, [-1]), -1), 3, dtype=dtype), [-1])
    value: Any = expand_dims(reduce_max(colors, -1), -1)
    least: Any = expand_dims(reduce_min(colors, -1), -1)
    by_hue, by_saturation, by_value = split(grad, 3, axis=-1)
    slope_of_saturation = div_no_nan(largest * least, value * value) - div_no_nan(smallest, value)
    # Hue is the difference of the channels after and before the largest, by six times the range.
    before, after = ([2, 0, 1], [1, 2, 0])
    sign: Any = gather(largest, before, axis=-1) - gather(largest, after, axis=-1)
    difference: Any = expand_dims(reduce_sum(sign * colors, -1), -1)
    width: Any = value - least
    slope_of_range = div_no_nan(difference * (largest - smallest), width * width)
    slope_of_hue = (div_no_nan(sign, width) - slope_of_range) / 6
    return by_value * largest + by_saturation * slope_of_saturation + by_hue * slope_of_hue


# Types ----------------------------------------------------------------------------------------


def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """An image in another type, scaled: integers stand for 0 to their largest, floats for 0 to 1.

    `saturate` clips what the new type can't hold.
    """
    from penstock.ops.binary import div, multiply
    from penstock.ops.casts import cast, saturate_cast
    from penstock.ops.identity import identity

    image = convert_to_tensor(image, name="image")
    target, source = dtypes.as_dtype(dtype), image.dtype.base_dtype
    if not target.is_floating and not target.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if not source.is_floating and not source.is_integer:
        raise AttributeError("image dtype must be either floating point or integer")
    if target == source:
        return identity(image, name=name)
    convert = saturate_cast if saturate else cast
    with name_scope(name, "convert_image", [image]) as scope:
        if source.is_floating and target.is_floating:
            return cast(image, target, name=scope)
        if source.is_floating:
            return convert(multiply(image, target.max + 0.5), target, name=scope)
        if target.is_floating:
            return multiply(cast(image, target), 1.0 / source.max, name=scope)
        if source.max > target.max:
            factor = (source.max + 1) // (target.max + 1)
            return convert(div(image, factor), target, name=scope)
        factor = (target.max + 1) // (source.max + 1)
        return multiply(convert(image, target), factor, name=scope)


def _as_float(image: Tensor) -> Tensor:
    """Images are adjusted as they are in float16 and float32, else as float32."""
    if image.dtype.base_dtype in (dtypes.float16, dtypes.float32):
        return image
    return convert_image_dtype(image, dtypes.float32)


# Adjusting ------------------------------------------------------------------------------------


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """An image with `delta`, of the range 0 to 1, added to every pixel."""
    from penstock.ops.binary import add
    from penstock.ops.casts import cast

    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert_to_tensor(image, name="image")
        pixels = _as_float(image)
        adjusted = add(pixels, cast(delta, pixels.dtype), name=scope)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Images whose pixels differ from their channel's mean by `contrast_factor` times as much."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        images = convert_to_tensor(images, name="images")
        adjusted = AdjustContrastv2(_as_float(images), contrast_factor, name=scope)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """`gain * image ** gamma` for pixels of the range 0 to 1."""
    from penstock.ops.control import with_dependencies

    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        pixels: Any = _as_float(image)
        checks = assert_or_raise(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = with_dependencies(checks, gamma)
        return convert_image_dtype(gain * pixels**gamma, image.dtype, saturate=True)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """An RGB image with hues turned by `delta` of the color wheel."""
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(AdjustHue(_as_float(image), delta), image.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """An RGB image with `saturation_factor` times its saturation."""
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(
            AdjustSaturation(_as_float(image), saturation_factor), image.dtype
        )


def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """An image made brighter or darker by up to `max_delta`."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """An image with its contrast times a random factor in [lower, upper)."""
    _check_bounds(lower, upper)
    return adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """An image with hues turned by up to `max_delta`, at most 0.5, of the color wheel."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """An image with its saturation times a random factor in [lower, upper)."""
    _check_bounds(lower, upper)
    return adjust_saturation(image, random_uniform([], lower, upper, seed=seed))


def _check_bounds(lower: Any, upper: Any) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


# Spaces ---------------------------------------------------------------------------------------


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """RGB pixels of the range 0 to 1 as hue, saturation and value, each in [0, 1]."""
    return RGBToHSV(images, name=name)


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Pixels of hue, saturation and value as RGB."""
    return HSVToRGB(images, name=name)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """RGB images as images of one channel, by the brightness of their colors."""
    from penstock.ops.shaping import expand_dims
    from penstock.ops.tensordot import tensordot

    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        pixels = convert_image_dtype(images, dtypes.float32)
        gray = expand_dims(tensordot(pixels, [0.2989, 0.5870, 0.1140], [-1, -1]), -1)
        return convert_image_dtype(gray, images.dtype, name=scope)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Images of one channel as RGB images."""
    from penstock.ops.array import concat, expand_dims, ones, rank, tile

    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = require_grayscale(convert_to_tensor(images, name="images"))
        others: Any = rank(images)
        others = expand_dims(others - 1, 0)
        times = concat([ones(others, dtype=dtypes.int32), expand_dims(3, 0)], 0)
        rgb = tile(images, times, name=scope)
        rgb.set_shape(images.shape[:-1].concatenate([3]))
        return rgb


RGB_TO_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
YIQ_TO_RGB: list[list[float]] = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
RGB_TO_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
YUV_TO_RGB: list[list[float]] = [
    [1, 1, 1],
    [0, -0.394642334, 2.03206185],
    [1.13988303, -0.58062185, 0],
]


def _times_matrix(images: Any, matrix: list[list[float]]) -> Tensor:
    from penstock.ops.tensordot import tensordot

    images = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(matrix, dtype=images.dtype, name="kernel")
    return tensordot(images, kernel, axes=[[images.shape.ndims - 1], [0]])


def rgb_to_yiq(images: Any) -> Tensor:
    """RGB pixels in the YIQ space of NTSC television."""
    return _times_matrix(images, RGB_TO_YIQ)


def yiq_to_rgb(images: Any) -> Tensor:
    """YIQ pixels as RGB."""
    return _times_matrix(images, YIQ_TO_RGB)


def rgb_to_yuv(images: Any) -> Tensor:
    """RGB pixels in the YUV space of PAL television."""
    return _times_matrix(images, RGB_TO_YUV)


def yuv_to_rgb(images: Any) -> Tensor:
    """YUV pixels as RGB."""
    return _times_matrix(images, YUV_TO_RGB)
