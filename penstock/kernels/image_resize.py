"""Kernels of images in other sizes.

An axis is resized by a table of `image_taps`. The two axes are resized one after the other, in the
order that is less work.
"""

import torch

from penstock import errors
from penstock.kernels.image_taps import area_taps, bicubic_taps, bilinear_taps, nearest_pixels
from penstock.kernels.image_workspace import kept_workspace, new_workspace
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import as_signed
from penstock.kernels.values import torch_type

HEIGHT, WIDTH = 1, 2  # axes of a batch of images
_MOST_TAPS = 16  # more pixels than these are summed by a matrix product
_COLUMN_COST = 3  # of a pixel, if its rows are gathered; whole rows are moved at once


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# Along an axis --------------------------------------------------------------------------------


def _flat(x, axis):
    """A batch of images in a form that a weight per row or column is quickly multiplied with.

    ATen's inner loop should not be over the few channels of a pixel.
    """
    return x.reshape(*x.shape[:2], x.shape[2] * x.shape[3]) if axis == WIDTH else x


def _along(vector, x, axis):
    """A number per row or column of `x` in a form that multiplies `_flat(x, axis)`."""
    if axis == WIDTH:
        return vector if x.shape[3] == 1 else vector.repeat_interleave(x.shape[3])
    return vector.view(-1, 1, 1)


def _wide(x):
    return x if x.dtype is torch.float32 else x.to(torch.float32)


def _selected(x, axis, indices):
    return _wide(as_signed(x).index_select(axis, indices).view(x.dtype))


def _interpolated(x, axis, taps):
    """An axis resized by at most two taps."""
    if not taps.is_pair:
        return resampled(x, axis, taps)
    # Few calls on long lines: a call costs as much as the arithmetic of a small image, and ATen
    # should not loop over the few channels of a pixel.
    count, height, width, channels = x.shape
    if axis == HEIGHT:
        indices, nearer = taps.pairs(1)
        both = _selected(x.reshape(count, height, width * channels), 1, indices)
        nearer = nearer.unsqueeze(1)
    else:
        indices, nearer = taps.pairs(channels)
        both = _wide(x).reshape(count * height, width * channels).index_select(1, indices)
    low, high = both.tensor_split(2, 1)
    sizes = list(x.shape)
    sizes[axis] = taps.indices.shape[1]
    return torch.lerp(low, high, nearer).view(sizes)


def resampled(x, axis, taps):
    """An axis resized by any number of taps."""
    if taps.identical:
        return _wide(x)
    if len(taps.indices) > _MOST_TAPS:
        return _multiplied(x, axis, _as_matrix(taps, x.shape[axis]))
    first = _selected(x, axis, taps.indices[0])
    total = _flat(first, axis).mul_(_along(taps.weights[0], x, axis))
    for indices, weights in zip(taps.indices[1:], taps.weights[1:], strict=True):
        total.addcmul_(_flat(_selected(x, axis, indices), axis), _along(weights, x, axis))
    return total.view(first.shape)


def _as_matrix(taps, size):
    matrix = torch.zeros(taps.indices.shape[1], size, device=taps.weights.device)
    matrix.scatter_add_(1, taps.indices.t(), taps.weights.t())
    return matrix


def _multiplied(x, axis, matrix):
    moved = _wide(x).movedim(axis, -1)
    return torch.matmul(moved, matrix.t()).movedim(-1, axis)


def spread(grad, axis, taps, size):
    """The gradient of `resampled`: what each pixel of the source contributed to."""
    if taps.identical:
        return grad
    if len(taps.indices) > _MOST_TAPS:
        return _multiplied(grad, axis, _as_matrix(taps, size).t())
    shape = list(grad.shape)
    shape[axis] = size
    total = grad.new_zeros(shape)
    for indices, weights in zip(taps.indices, taps.weights, strict=True):
        weighted = _flat(grad, axis) * _along(weights, grad, axis)
        total.index_add_(axis, indices, weighted.view(grad.shape))
    return total


def _both(resize, x, rows, columns):
    """Resizes both axes in the order that is less work: columns cost more than rows."""
    order = ((HEIGHT, rows), (WIDTH, columns))
    for axis, taps in order if _rows_first(x, rows, columns) else reversed(order):
        x = resize(x, axis, taps)
    return x


def _rows_first(x, rows, columns):
    _, height, width, _ = x.shape
    new_height, new_width = rows.indices.shape[1], columns.indices.shape[1]
    first_rows = new_height * (width + _COLUMN_COST * new_width)
    return first_rows <= new_width * (_COLUMN_COST * height + new_height)


def _bilinear(images, rows, columns):
    """Both axes resized by two taps each, a picture of usual size in memory that is kept."""
    workspace = kept_workspace(images, rows, columns)
    by_pairs = workspace is None and rows.is_pair and columns.is_pair
    if by_pairs and _rows_first(images, rows, columns):
        workspace = new_workspace(images, rows, columns)
    if workspace is None:
        return _both(_interpolated, images, rows, columns)
    return workspace.resized(images)


def _both_spread(grad, rows, columns, height, width):
    rows_first = height * grad.shape[WIDTH] <= grad.shape[HEIGHT] * width
    order = ((HEIGHT, rows, height), (WIDTH, columns, width))
    for axis, taps, size in order if rows_first else reversed(order):
        grad = spread(grad, axis, taps, size)
    return grad


# Checks ---------------------------------------------------------------------------------------


def checked_size(images, size):
    """Height and width of the result; InvalidArgumentError for what TensorFlow refuses."""
    if images.dim() != 4:
        raise _invalid(f"input must be 4-dimensional, got shape {list(images.shape)}")
    if size.dim() != 1:
        raise _invalid(f"shape_t must be 1-dimensional, got shape {list(size.shape)}")
    if size.numel() != 2:
        raise _invalid(f"shape_t must have two elements, got shape {list(size.shape)}")
    height, width = size.tolist()
    if height <= 0 or width <= 0:
        raise _invalid(f"output dimensions must be positive, got {height} x {width}")
    if images.shape[HEIGHT] == 0 or images.shape[WIDTH] == 0:
        raise _invalid(f"input image must be of non-zero size, got {list(images.shape)}")
    if images.shape[3] == 0:
        raise _invalid(f"image must have at least one channel, got {list(images.shape)}")
    return height, width


def _checked_gradient(grads, original):
    for what, value in (("input", grads), ("original_image", original)):
        if value.dim() != 4:
            raise _invalid(f"{what} must be 4-dimensional, got shape {list(value.shape)}")
    _, height, width, _ = original.shape
    if 0 in (height, width, grads.shape[HEIGHT], grads.shape[WIDTH]):
        raise _invalid(
            "resized and original images must be of non-zero size, got "
            f"{list(grads.shape)} and {list(original.shape)}"
        )
    return height, width


def _corners(node):
    corners = node.attrs["align_corners"], node.attrs["half_pixel_centers"]
    if all(corners):
        raise _invalid("If half_pixel_centers is True, align_corners must be False.")
    return corners


# Kernels --------------------------------------------------------------------------------------


@kernel("ResizeNearestNeighbor", fresh=True)
def _(node):
    corners = _corners(node)

    def run(images, size):
        height, width = checked_size(images, size)
        _, old_height, old_width, _ = images.shape
        rows = nearest_pixels(old_height, height, *corners, images.device)
        columns = nearest_pixels(old_width, width, *corners, images.device)
        pixels = as_signed(images)
        if height < old_height:
            pixels = pixels.index_select(HEIGHT, rows).index_select(WIDTH, columns)
        else:
            pixels = pixels.index_select(WIDTH, columns).index_select(HEIGHT, rows)
        return pixels.view(images.dtype)

    return run


@kernel("ResizeNearestNeighborGrad", fresh=True)
def _(node):
    corners = _corners(node)

    def run(grads, size):
        height, width = checked_size(grads, size)
        batch, wanted_height, wanted_width, depth = grads.shape
        rows = nearest_pixels(height, wanted_height, *corners, grads.device)
        columns = nearest_pixels(width, wanted_width, *corners, grads.device)
        total = grads.new_zeros(batch, height, wanted_width, depth).index_add_(HEIGHT, rows, grads)
        result = grads.new_zeros(batch, height, width, depth)
        return result.index_add_(WIDTH, columns, total)

    return run


# From so many channels on ATen's own interpolation is faster than ours.
_MANY_CHANNELS = 4


@kernel("ResizeBilinear", fresh=True, takes_offer=True)
def _(node):
    corners = align_corners, half_pixel_centers = _corners(node)

    def run(images, size):
        height, width = checked_size(images, size)
        if images.shape[3] >= _MANY_CHANNELS and not half_pixel_centers and images.numel():
            return _by_aten(images, height, width, align_corners)
        rows = bilinear_taps(images.shape[HEIGHT], height, *corners, images.device)
        columns = bilinear_taps(images.shape[WIDTH], width, *corners, images.device)
        resized = _bilinear(images, rows, columns)
        return resized.clone() if resized is images else resized

    return run


def _by_aten(images, height, width, align_corners):
    """The same by ATen, whose rule for coordinates is TensorFlow's for aligned corners.

    Without them TensorFlow's coordinates are those of an image that is one pixel larger, both
    before and after.
    """
    x = _wide(images).permute(0, 3, 1, 2)
    if align_corners:
        return _upsampled(x, height, width).permute(0, 2, 3, 1)
    x = torch.nn.functional.pad(x, (0, 1, 0, 1), mode="replicate")
    x = x.contiguous(memory_format=torch.channels_last)
    return _upsampled(x, height + 1, width + 1).permute(0, 2, 3, 1)[:, :height, :width].contiguous()


def _upsampled(x, height, width):
    return torch.ops.aten.upsample_bilinear2d(x, [height, width], True)


@kernel("ResizeBilinearGrad", fresh=True)
@kernel("ResizeBicubicGrad", fresh=True)
def _(node):
    corners = _corners(node)
    dtype = torch_type(node.attrs["T"])
    table = bilinear_taps if node.type == "ResizeBilinearGrad" else bicubic_taps

    def run(grads, original):
        height, width = _checked_gradient(grads, original)
        rows = table(height, grads.shape[HEIGHT], *corners, grads.device)
        columns = table(width, grads.shape[WIDTH], *corners, grads.device)
        exact = grads.double() if dtype is torch.float64 else grads
        result = _both_spread(exact, rows, columns, height, width)
        return result.clone() if result is grads and dtype is grads.dtype else result.to(dtype)

    return run


@kernel("ResizeBicubic", fresh=True)
def _(node):
    corners = _corners(node)

    def run(images, size):
        height, width = checked_size(images, size)
        rows = bicubic_taps(images.shape[HEIGHT], height, *corners, images.device)
        columns = bicubic_taps(images.shape[WIDTH], width, *corners, images.device)
        resized = _both(resampled, images, rows, columns)
        return resized.clone() if resized is images else resized

    return run


@kernel("ResizeArea", fresh=True)
def _(node):
    align_corners = node.attrs["align_corners"]

    def run(images, size):
        height, width = checked_size(images, size)
        rows = area_taps(images.shape[HEIGHT], height, align_corners, images.device)
        columns = area_taps(images.shape[WIDTH], width, align_corners, images.device)
        resized = _both(resampled, images, rows, columns)
        return resized.clone() if resized is images else resized

    return run
