"""BMP files without compression, of 8, 24 or 32 bits a pixel; palettes are not looked up."""

import struct

import numpy as np


class InvalidBmp(ValueError):
    """The bytes are no BMP file, or one of a kind that is not read."""


def decode(data, channels):
    """The pixels of a BMP file, [height, width, channels]; 0 channels are those of the file."""
    if len(data) < 32:
        raise InvalidBmp(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, "
            f"height, and bpp, got {len(data)} bytes"
        )
    start, _, width, height, _, bits = struct.unpack_from("<IIiiHH", data, 10)
    given = bits // 8
    if given not in (1, 3, 4):
        raise InvalidBmp(f"Number of channels inherent in the image must be 1, 3 or 4, was {given}")
    rows, row = abs(height), (given * 8 * width + 31) // 32 * 4
    missing = start + row * rows - len(data)
    if width <= 0 or height == 0 or missing > 0:
        raise InvalidBmp(
            "Input size should match (header_size + row_size * abs_height) but they differ by "
            f"{-missing}"
        )
    pixels = np.frombuffer(data, np.uint8, row * rows, start).reshape(rows, row)
    pixels = pixels[:, : given * width].reshape(rows, width, given)
    if height > 0:  # from the bottom up
        pixels = pixels[::-1]
    return _with_channels(pixels, channels or given)


def _with_channels(pixels, channels):
    """Blue, green, red and alpha, or gray, as the channels that are asked for."""
    given = pixels.shape[-1]
    if channels == 1 and given != 1:
        raise InvalidBmp(f"`channels` must be 0, 3 or 4 for a BMP of colors, but got {channels}")
    if channels == 1:
        return np.ascontiguousarray(pixels)
    colors = np.empty((*pixels.shape[:-1], 3), np.uint8)
    for color in range(3):
        colors[..., color] = pixels[..., 0 if given == 1 else 2 - color]
    if channels != 4:
        return colors
    alpha = pixels[..., 3:] if given == 4 else np.full_like(colors[..., :1], 255)
    return np.concatenate([colors, alpha], -1)
