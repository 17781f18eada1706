"""Kernels of patches of images."""

import torch

from penstock import errors
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import moving
from penstock.ops.window import dilated, output_size_or_nothing, same_pads


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


@kernel("ExtractImagePatches", fresh=True)
def _(node):
    for key in ("ksizes", "strides", "rates"):
        first, *_, last = node.attrs[key]
        if (first, last) != (1, 1):
            raise errors.UnimplementedError(
                None, None, f"Only support {key} across space, got {node.attrs[key]}"
            )
    (rows, columns), strides, rates = (
        node.attrs[key][1:3] for key in ("ksizes", "strides", "rates")
    )
    padding = node.attrs["padding"]
    extents = [dilated(size, rate) for size, rate in zip((rows, columns), rates, strict=True)]

    def run(images):
        if images.dim() != 4:
            raise _invalid(f"input must be 4-dimensional: {list(images.shape)}")
        batch, *sizes, depth = images.shape
        counts = [
            output_size_or_nothing(size, extent, stride, padding)
            for size, extent, stride in zip(sizes, extents, strides, strict=True)
        ]
        if padding == "SAME":
            pads = [
                same_pads(size, extent, stride)
                for size, extent, stride in zip(sizes, extents, strides, strict=True)
            ]
            images = torch.constant_pad_nd(images, (0, 0, *pads[1], *pads[0]))
        images = images.contiguous()
        image, row, column, channel = images.stride()
        seen = images.as_strided(
            (batch, *counts, rows, columns, depth),
            (
                image,
                row * strides[0],
                column * strides[1],
                row * rates[0],
                column * rates[1],
                channel,
            ),
        )
        return seen.reshape(batch, *counts, rows * columns * depth).clone()

    return moving(node, run)


# Glimpses -------------------------------------------------------------------------------------


def _corner(offset, size, window, node):
    """The first row (or column) that a glimpse shows."""
    centered, normalized = node.attrs["centered"], node.attrs["normalized"]
    if node.type == "ExtractGlimpse":
        if normalized:
            offset *= size
        if centered:
            offset = offset / 2 + size / 2
        return int(offset - window / 2)
    if normalized:
        offset *= size
        if centered:
            offset = offset / 2 + size / 2 - window / 2
    elif centered:
        offset += size / 2
    return int(offset)


def _noise(node, env):
    """The function that fills what lies outside of an image."""
    kind = node.attrs["noise"]
    kind = kind.decode() if isinstance(kind, bytes) else kind
    if kind not in ("uniform", "gaussian", "zero"):
        raise _invalid(f"The noise should be uniform, gaussian, or zero. Got: {kind}")
    if kind == "zero":
        return lambda glimpse, image: glimpse.zero_()
    if node.attrs["uniform_noise"]:
        return lambda glimpse, image: glimpse.uniform_(
            float(image.min()), float(image.max()), generator=env.generator
        )
    return lambda glimpse, image: glimpse.normal_(
        float(image.mean()), float(image.std(correction=0)), generator=env.generator
    )


@kernel("ExtractGlimpse", "ExtractGlimpseV2", fresh=True)
def _(node, env):
    fill = _noise(node, env)

    def run(images, size, offsets):
        if images.dim() != 4:
            raise _invalid(
                f"input must be 4-dimensional (batch_size, height, width, depth), got "
                f"{list(images.shape)}"
            )
        if size.shape != (2,):
            raise _invalid(f"input size should be a vector of 2, got {list(size.shape)}")
        batch, height, width, depth = images.shape
        if offsets.shape != (batch, 2):
            raise _invalid(f"offsets should be a matrix [{batch}, 2], got {list(offsets.shape)}")
        rows, columns = size.tolist()
        if rows <= 0 or columns <= 0:
            raise _invalid(f"size should be positive, got {rows} x {columns}")
        result = images.new_empty(batch, rows, columns, depth)
        for image, glimpse, (down, across) in zip(images, result, offsets.tolist(), strict=True):
            top, left = _corner(down, height, rows, node), _corner(across, width, columns, node)
            _show(image, glimpse, top, left, fill)
        return result

    return run


def _show(image, glimpse, top, left, fill):
    height, width, _ = image.shape
    rows, columns, _ = glimpse.shape
    first_row, last_row = max(top, 0), min(top + rows, height)
    first_column, last_column = max(left, 0), min(left + columns, width)
    if (last_row - first_row, last_column - first_column) != (rows, columns):
        fill(glimpse, image)
    if last_row > first_row and last_column > first_column:
        glimpse[first_row - top : last_row - top, first_column - left : last_column - left] = image[
            first_row:last_row, first_column:last_column
        ]
