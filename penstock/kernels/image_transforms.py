"""Kernels of projective transforms of images."""

import torch

from penstock import errors
from penstock.kernels.registry import kernel


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# What lies beyond the edges of `size` pixels, by the name of the fill mode: places inside.


def _constant(places, size):
    return places


def _nearest_edge(places, size):
    return places.clamp(0, size - 1)


def _reflected(places, size):
    """Mirrored at the edges: d c b a | a b c d | d c b a."""
    if size <= 1:
        return torch.zeros_like(places)
    period = 2 * size
    before = period * (-places / period).trunc() + places
    before = torch.where(before < -size, before + period, -before - 1)
    after = places - period * (places / period).trunc()
    after = torch.where(after >= size, period - after - 1, after)
    mapped = torch.where(places < 0, before, torch.where(places > size - 1, after, places))
    return mapped.clamp(0, size - 1)


def _wrapped(places, size):
    """Repeated: a b c d | a b c d | a b c d."""
    if size <= 1:
        return torch.zeros_like(places)
    span = size - 1
    before = places + size * ((-places / span).trunc() + 1)
    after = places - size * (places / span).trunc()
    mapped = torch.where(places < 0, before, torch.where(places > span, after, places))
    return mapped.clamp(0, size - 1)


_FILLED = {
    "CONSTANT": _constant,
    "NEAREST": _nearest_edge,
    "REFLECT": _reflected,
    "WRAP": _wrapped,
}


@kernel("ImageProjectiveTransformV2", "ImageProjectiveTransformV3", fresh=True)
def _(node):
    interpolation, mode = (_text(node.attrs[key]) for key in ("interpolation", "fill_mode"))
    if interpolation not in ("NEAREST", "BILINEAR"):
        raise _invalid(f"Invalid interpolation {interpolation}. Supported types: NEAREST, BILINEAR")
    if mode not in _FILLED:
        raise _invalid(f"Invalid mode {mode}. Supported types: {', '.join(_FILLED)}")
    place, sample = _FILLED[mode], _SAMPLED[interpolation]

    def run(images, transforms, output_shape, fill_value=None):
        _check(images, transforms, output_shape)
        height, width = output_shape.tolist()
        x, y, finite = _sources(transforms, height, width)
        x, y = place(x, images.shape[2]), place(y, images.shape[1])
        outside = 0.0 if fill_value is None else fill_value.item()
        wide = images if images.dtype in (torch.float64, torch.float32) else images.double()
        result = sample(wide, x, y, outside)
        result = torch.where(finite[..., None], result, outside)
        return result.to(images.dtype)

    return run


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _check(images, transforms, output_shape):
    if images.dim() != 4:
        raise _invalid(f"Input images must have rank 4, got {list(images.shape)}")
    if (
        transforms.dim() != 2
        or transforms.shape[0] not in (1, images.shape[0])
        or transforms.shape[1] != 8
    ):
        raise _invalid(
            "Input transform should be num_images x 8 or 1 x 8, got "
            f"{list(transforms.shape)} for {images.shape[0]} images"
        )
    if output_shape.shape != (2,):
        raise _invalid(f"output shape must have two elements, got {list(output_shape.shape)}")
    if min(output_shape.tolist()) <= 0:
        raise _invalid(f"output dimensions must be positive, got {output_shape.tolist()}")


def _sources(transforms, height, width):
    """Where each pixel of the result comes from: x and y, [transforms, height, width]."""
    numbers = transforms[:, :, None, None].unbind(1)
    a0, a1, a2, b0, b1, b2, c0, c1 = numbers
    x = torch.arange(width, dtype=torch.float32, device=transforms.device)
    y = torch.arange(height, dtype=torch.float32, device=transforms.device)[:, None]
    distance = c0 * x + c1 * y + 1
    finite = distance != 0
    distance = torch.where(finite, distance, 1)
    return (a0 * x + a1 * y + a2) / distance, (b0 * x + b1 * y + b2) / distance, finite


def _read(images, x, y, outside):
    """The pixels at whole places, `outside` where there are none."""
    batch, height, width, _ = images.shape
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    numbers = torch.arange(batch, device=images.device)[:, None, None]
    columns = x.clamp(0, width - 1).long()
    rows = y.clamp(0, height - 1).long()
    return torch.where(inside[..., None], images[numbers, rows, columns], outside)


def _nearest(images, x, y, outside):
    return _read(images, _rounded(x), _rounded(y), outside)


def _rounded(places):
    """Halves away from zero."""
    return torch.where(places < 0, (places - 0.5).ceil(), (places + 0.5).floor())


def _bilinear(images, x, y, outside):
    left, top = x.floor(), y.floor()
    right, bottom = left + 1, top + 1
    across, down = (x - left)[..., None], (y - top)[..., None]
    upper = (1 - across) * _read(images, left, top, outside)
    upper = upper + across * _read(images, right, top, outside)
    lower = (1 - across) * _read(images, left, bottom, outside)
    lower = lower + across * _read(images, right, bottom, outside)
    return (1 - down) * upper + down * lower


_SAMPLED = {"NEAREST": _nearest, "BILINEAR": _bilinear}
