"""How images differ, from each other and within themselves; and their standardization."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.image_checks import require_image
from penstock.ops.image_color import convert_image_dtype

__all__ = [
    "image_gradients",
    "per_image_standardization",
    "psnr",
    "sobel_edges",
    "ssim",
    "ssim_multiscale",
    "total_variation",
]


def per_image_standardization(image: Any) -> Tensor:
    """An image, or each one of a batch, with mean 0 and a standard deviation of 1, in its own type.

    The deviation is taken as at least the inverse root of the number of pixels, so that an even
    image gives zeros. Integers are scaled to the range 0 to 1 before, and back after.
    """
    from penstock.ops.aggregates import reduce_std
    from penstock.ops.binary import div, maximum
    from penstock.ops.casts import cast
    from penstock.ops.elementwise import rsqrt
    from penstock.ops.reductions import reduce_mean, reduce_prod
    from penstock.ops.shaping import shape as shape_of

    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = require_image(convert_to_tensor(image, name="image"))
        narrow = image.dtype.base_dtype in (dtypes.float16, dtypes.float32)
        pixels: Any = image if narrow else convert_image_dtype(image, dtypes.float32)
        sizes: Any = shape_of(pixels)
        count = reduce_prod(sizes[-3:])
        mean = reduce_mean(pixels, axis=[-1, -2, -3], keepdims=True)
        deviation = reduce_std(pixels, axis=[-1, -2, -3], keepdims=True)
        least = rsqrt(cast(count, pixels.dtype))
        deviation = maximum(deviation, least)
        standard = div(pixels - mean, deviation, name=scope)
        return convert_image_dtype(standard, image.dtype, saturate=True)


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the differences of neighbouring pixels of an image, or of each one of a batch."""
    from penstock.ops.elementwise import abs as abs_
    from penstock.ops.reductions import reduce_sum

    with name_scope(name, "total_variation"):
        ndims = images.shape.ndims
        if ndims == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            across = images[:, 1:, :] - images[:, :-1, :]
            axes = None
        elif ndims == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            across = images[:, :, 1:, :] - images[:, :, :-1, :]
            axes = [1, 2, 3]
        else:
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        by_rows: Any = reduce_sum(abs_(down), axis=axes)
        return by_rows + reduce_sum(abs_(across), axis=axes)


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """The differences of each pixel to the one below and to the one on its right.

    The last row, and the last column, are zeros.
    """
    from penstock.ops.filling import zeros
    from penstock.ops.joining import concat, stack, unstack
    from penstock.ops.shaping import reshape
    from penstock.ops.shaping import shape as shape_of

    if image.shape.ndims != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}."
        )
    sizes = shape_of(image)
    batch, height, width, depth = unstack(sizes)
    down = image[:, 1:, :, :] - image[:, :-1, :, :]
    across = image[:, :, 1:, :] - image[:, :, :-1, :]
    last_row = zeros(stack([batch, 1, width, depth]), image.dtype)
    down = reshape(concat([down, last_row], 1), sizes)
    last_column = zeros(stack([batch, height, 1, depth]), image.dtype)
    across = reshape(concat([across, last_column], 2), sizes)
    return down, across


_SOBEL = [[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]]


def sobel_edges(image: Any) -> Tensor:
    """Sobel's edges, down and across: the shape of the batch of images, and a dimension of 2."""
    from penstock.ops.array import concat, pad, reshape, tile
    from penstock.ops.constants import constant
    from penstock.ops.depthwise import depthwise_conv2d
    from penstock.ops.shaping import shape as shape_of

    known = image.shape
    sizes: Any = shape_of(image)
    filters = np.expand_dims(np.transpose(_SOBEL, (1, 2, 0)), -2)
    kernels = constant(filters, dtype=image.dtype)
    kernels = tile(kernels, [1, 1, sizes[-1], 1], name="sobel_filters")
    padded = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, kernels, [1, 1, 1, 1], "VALID")
    edges = reshape(edges, shape=concat([sizes, [2]], 0))
    edges.set_shape(known.concatenate([2]))
    return edges


# Of two images --------------------------------------------------------------------------------


def compared_shapes(a: Any, b: Any) -> tuple[Any, Any, list[Any]]:
    """The shapes of two images, and the assertions that they can be compared."""
    from penstock.ops.comparison import equal, greater_equal
    from penstock.ops.debugging import Assert
    from penstock.ops.reductions import reduce_all
    from penstock.ops.shaping import shape_n, size

    one, other = a.shape.with_rank_at_least(3), b.shape.with_rank_at_least(3)
    one[-3:].assert_is_compatible_with(other[-3:])
    if one.ndims is not None and other.ndims is not None:
        pairs = zip(reversed(one.dims[:-3]), reversed(other.dims[:-3]), strict=False)
        for m, n in pairs:
            if not (m == 1 or n == 1 or m.is_compatible_with(n)):
                raise ValueError(f"Two images are not compatible: {one} and {other}")
    first, second = shape_n([a, b])
    sides: Any = first
    others: Any = second
    checks = [
        Assert(greater_equal(size(first), 3), [first, second], summarize=10),
        Assert(reduce_all(equal(sides[-3:], others[-3:])), [first, second], summarize=10),
    ]
    return first, second, checks


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio of images, in decibels; `max_val` is the largest pixel."""
    from penstock.ops.binary import squared_difference, subtract
    from penstock.ops.casts import cast
    from penstock.ops.elementwise import log
    from penstock.ops.identity import identity
    from penstock.ops.reductions import reduce_mean

    with name_scope(name, "PSNR", [a, b]):
        largest = convert_image_dtype(cast(max_val, a.dtype), dtypes.float32)
        a = convert_image_dtype(a, dtypes.float32)
        b = convert_image_dtype(b, dtypes.float32)
        error = reduce_mean(squared_difference(a, b), [-3, -2, -1])
        peak: Any = log(largest)
        peak = 20 * peak / log(10.0)
        noise: Any = log(error)
        ratio = subtract(peak, np.float32(10 / np.log(10)) * noise, name="psnr")
        _, _, checks = compared_shapes(a, b)
        with get_default_graph().control_dependencies(checks):
            return identity(ratio)


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: Any = 11,
    filter_sigma: Any = 1.5,
    k1: Any = 0.01,
    k2: Any = 0.03,
) -> Tensor:
    """The structural similarity of images, at most 1, one number for each pair.

    Z. Wang et al., Image quality assessment: from error visibility to structural similarity (2004).
    """
    from penstock.ops.reductions import reduce_mean

    with name_scope(None, "SSIM", [img1, img2]):
        img1, img2, max_val, _, _ = _comparable(img1, img2, max_val)
        similarity, _ = per_channel(img1, img2, max_val, filter_size, filter_sigma, k1, k2)
        return reduce_mean(similarity, [-1])


def _comparable(img1: Any, img2: Any, max_val: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Two images as float32, the largest pixel in that range, and the images' shapes."""
    from penstock.ops.casts import cast
    from penstock.ops.identity import identity

    img1 = convert_to_tensor(img1, name="img1")
    img2 = convert_to_tensor(img2, name="img2")
    first, second, checks = compared_shapes(img1, img2)
    with get_default_graph().control_dependencies(checks):
        img1 = identity(img1)
    largest = convert_image_dtype(cast(max_val, img1.dtype), dtypes.float32)
    img1 = convert_image_dtype(img1, dtypes.float32)
    img2 = convert_image_dtype(img2, dtypes.float32)
    return img1, img2, largest, first, second


def gaussian_window(size: Tensor, sigma: Tensor) -> Tensor:
    """A filter [size, size, 1, 1] of normally distributed weights."""
    from penstock.ops.casts import cast
    from penstock.ops.elementwise import square
    from penstock.ops.filling import range as range_
    from penstock.ops.shaping import reshape
    from penstock.ops.softmax import softmax

    size = convert_to_tensor(size, dtypes.int32)
    sigma = convert_to_tensor(sigma)
    places: Any = cast(range_(size), sigma.dtype)
    last: Any = size
    places -= cast(last - 1, sigma.dtype) / 2.0
    log_weights: Any = square(places)
    log_weights *= -0.5 / square(sigma)
    across: Any = reshape(log_weights, shape=[1, -1])
    log_weights = across + reshape(log_weights, shape=[-1, 1])
    weights = softmax(reshape(log_weights, shape=[1, -1]))
    return reshape(weights, shape=[size, size, 1, 1])


def per_channel(
    img1: Any,
    img2: Any,
    max_val: Any = 1.0,
    filter_size: Any = 11,
    filter_sigma: Any = 1.5,
    k1: Any = 0.01,
    k2: Any = 0.03,
) -> tuple[Any, Any]:
    """Similarity and contrast of each channel, means over the pixels."""
    from penstock.ops.array import concat, reshape, shape_n, tile
    from penstock.ops.comparison import greater_equal
    from penstock.ops.constants import constant
    from penstock.ops.debugging import Assert
    from penstock.ops.depthwise import depthwise_conv2d
    from penstock.ops.identity import identity
    from penstock.ops.reductions import reduce_all, reduce_mean
    from penstock.ops.shaping import shape as shape_of

    size = constant(filter_size, dtype=dtypes.int32)
    sigma = constant(filter_sigma, dtype=img1.dtype)
    first, second = (sizes for sizes in shape_n([img1, img2]))
    checks = [
        Assert(
            reduce_all(greater_equal(sizes[-3:-1], size)),
            [sizes, size],
            summarize=8,
        )
        for sizes in (first, second)
    ]
    with get_default_graph().control_dependencies(checks):
        img1 = identity(img1)
    window = gaussian_window(size, sigma)
    channels: Any = first
    window = tile(window, multiples=[1, 1, channels[-1], 1])

    def mean(x: Any) -> Any:
        sizes: Any = shape_of(x)
        images = reshape(x, shape=concat([[-1], sizes[-3:]], 0))
        blurred = depthwise_conv2d(images, window, strides=[1, 1, 1, 1], padding="VALID")
        outer = sizes[:-3]
        inner: Any = shape_of(blurred)
        return reshape(blurred, concat([outer, inner[1:]], 0))

    luminance, contrast = _similarities(img1, img2, mean, max_val, k1, k2)
    axes = constant([-3, -2], dtype=dtypes.int32)
    return reduce_mean(luminance * contrast, axes), reduce_mean(contrast, axes)


def _similarities(x: Any, y: Any, mean: Any, max_val: Any, k1: Any, k2: Any) -> tuple[Any, Any]:
    """How alike two images are around each pixel: in brightness, and in structure."""
    from penstock.ops.elementwise import square

    c1 = (k1 * max_val) ** 2
    c2 = (k2 * max_val) ** 2
    mean_x, mean_y = mean(x), mean(y)
    product = mean_x * mean_y * 2.0
    squares: Any = square(mean_x) + square(mean_y)
    luminance = (product + c1) / (squares + c1)
    product_of_pixels = mean(x * y) * 2.0
    squares_of_pixels = mean(square(x) + square(y))
    c2 *= 1.0
    contrast = (product_of_pixels - product + c2) / (squares_of_pixels - squares + c2)
    return luminance, contrast


SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = SCALE_WEIGHTS,
    filter_size: Any = 11,
    filter_sigma: Any = 1.5,
    k1: Any = 0.01,
    k2: Any = 0.03,
) -> Tensor:
    """The structural similarity of images at several scales, each half of the one before.

    Z. Wang et al., Multiscale structural similarity for image quality assessment (2003).
    """
    from penstock.ops.activations import relu
    from penstock.ops.binary import pow as pow_
    from penstock.ops.constants import constant
    from penstock.ops.joining import stack
    from penstock.ops.reductions import reduce_mean, reduce_prod

    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2, max_val, *shapes = _comparable(img1, img2, max_val)
        images = [img1, img2]
        heads = [shape[:-3] for shape in shapes]
        tails = [shape[-3:] for shape in shapes]
        halves = constant([2, 2, 1], dtype=dtypes.int32)
        contrasts: list[Any] = []
        similarity: Any = None
        for number in range(len(power_factors)):
            with name_scope(None, f"Scale{number}", images):
                if number > 0:
                    images, tails = _halved(images, heads, tails, halves)
                one, other = images
                similarity, contrast = per_channel(
                    one, other, max_val, filter_size, filter_sigma, k1, k2
                )
                contrasts.append(relu(contrast))
        contrasts.pop()  # the last scale counts with its brightness
        factors = stack([*contrasts, relu(similarity)], axis=-1)
        combined = reduce_prod(pow_(factors, power_factors), [-1])
        return reduce_mean(combined, [-1])


def _halved(
    images: list[Any], heads: list[Any], tails: list[Any], halves: Tensor
) -> tuple[list[Any], list[Any]]:
    """Images of half the size; those of odd sides are mirrored by a pixel before."""
    from penstock.ops.array import concat, expand_dims, pad, reshape, shape_n
    from penstock.ops.comparison import not_equal
    from penstock.ops.conditionals import cond
    from penstock.ops.pooling import avg_pool
    from penstock.ops.reductions import reduce_any

    window = [1, 2, 2, 1]
    flat = [
        reshape(image, concat([[-1], tail], 0)) for image, tail in zip(images, tails, strict=True)
    ]
    odd = tails[0] % halves

    def mirrored() -> list[Any]:
        borders = pad(expand_dims(odd, -1), [[1, 0], [1, 0]])
        return [pad(image, borders, mode="SYMMETRIC") for image in flat]

    padded = cond(reduce_any(not_equal(odd, 0)), mirrored, lambda: flat)
    smaller = [avg_pool(image, ksize=window, strides=window, padding="VALID") for image in padded]
    inner: list[Any] = [shape[1:] for shape in shape_n(smaller)]
    restored = [
        reshape(image, concat([head, tail], 0))
        for image, head, tail in zip(smaller, heads, inner, strict=True)
    ]
    return restored, inner
