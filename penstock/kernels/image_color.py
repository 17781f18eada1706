"""Kernels of colors of images. A pixel is the last dimension of a tensor: three channels."""

import torch

from penstock import errors
from penstock.kernels.registry import kernel


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _channels(images, refused=errors.InvalidArgumentError):
    """The three channels of images, in a type that ATen computes well in."""
    if images.dim() and images.shape[-1] != 3:
        message = f"input must have 3 channels but instead has shape {list(images.shape)}"
        raise refused(None, None, message)
    if images.dim() == 0:
        raise _invalid("input must be at least 1D, got a scalar")
    wide = images.float() if images.dtype in (torch.float16, torch.bfloat16) else images
    # Each channel in one piece: ATen's loops over every third number are not vectorised.
    return wide.movedim(-1, 0).contiguous().unbind(0)


def _hsv(red, green, blue):
    value = torch.maximum(torch.maximum(red, green), blue)
    width = value - torch.minimum(torch.minimum(red, green), blue)
    gray = width <= 0
    saturation = torch.where(value > 0, width / value, 0)
    norm = 1 / (6 * width)
    from_green, from_blue = norm * (blue - red) + 2 / 6, norm * (red - green) + 4 / 6
    hue = torch.where(
        red == value, norm * (green - blue), torch.where(green == value, from_green, from_blue)
    )
    hue = torch.where(gray, 0, hue)
    return torch.where(hue < 0, hue + 1, hue), saturation, value


def _rgb(hue, saturation, value):
    turn = hue * 6
    parts = (
        (turn - 3).abs_().sub_(1),
        (turn - 2).abs_().neg_().add_(2),
        (turn - 4).abs_().neg_().add_(2),
    )
    white = 1 - saturation
    return [part.clamp_(0, 1).mul_(saturation).add_(white).mul_(value) for part in parts]


@kernel("RGBToHSV", fresh=True)
def _(node):
    def run(images):
        channels = _channels(images, errors.FailedPreconditionError)
        return torch.stack(_hsv(*channels), -1).to(images.dtype)

    return run


@kernel("HSVToRGB", fresh=True)
def _(node):
    def run(images):
        channels = _channels(images, errors.FailedPreconditionError)
        return torch.stack(_rgb(*channels), -1).to(images.dtype)

    return run


def _adjusted(images, number, what):
    if images.dim() < 3:
        raise _invalid(f"input must be at least 3-D, got shape {list(images.shape)}")
    if number.dim() != 0:
        raise _invalid(f"{what} must be scalar: {list(number.shape)}")
    return _channels(images)


@kernel("AdjustHue", fresh=True)
def _(node):
    def run(images, delta):
        hue, saturation, value = _hsv(*_adjusted(images, delta, "delta"))
        hue = (hue + delta).remainder_(1)
        return torch.stack(_rgb(hue, saturation, value), -1).to(images.dtype)

    return run


@kernel("AdjustSaturation", fresh=True)
def _(node):
    def run(images, scale):
        hue, saturation, value = _hsv(*_adjusted(images, scale, "scale"))
        saturation = (saturation * scale).clamp_(0, 1)
        return torch.stack(_rgb(hue, saturation, value), -1).to(images.dtype)

    return run


def _contrast(images, factor):
    """Pixels moved away from the mean of their image and channel."""
    if images.dim() < 3:
        raise _invalid(f"input must be at least 3-D, got shape{list(images.shape)}")
    if factor.dim() != 0:
        raise _invalid(f"contrast_factor must be scalar: {list(factor.shape)}")
    pixels = images if images.dtype is torch.float32 else images.float()
    *images_shape, height, width, channels = pixels.shape
    # A few channels are too short to vectorise over, whole lines of pixels are not.
    lines = pixels.reshape(*images_shape, height, width * channels)
    mean = lines.mean(-2).view(*images_shape, width, channels).mean(-2)
    mean = mean.repeat(*[1] * len(images_shape), width).unsqueeze(-2)
    return (lines - mean).mul_(factor).add_(mean).view(pixels.shape)


@kernel("AdjustContrastv2", fresh=True)
def _(node):
    return lambda images, factor: _contrast(images, factor).to(images.dtype)


@kernel("AdjustContrast", fresh=True)
def _(node):
    def run(images, factor, low, high):
        return _contrast(images, factor).clamp_(low.item(), high.item())

    return run
