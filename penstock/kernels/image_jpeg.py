"""JPEG files, by libjpeg-turbo with TensorFlow's options: the same bytes, and the same pixels.

simplejpeg decodes, since it offers the fast integer transform, which is TensorFlow's default, and
plain upsampling of colors. Pillow encodes, since it offers progressive files and the rest.
"""

import io
import struct
from typing import NamedTuple

import numpy as np


class InvalidJpeg(ValueError):
    """The bytes are no JPEG file, or one that is damaged."""


class Options(NamedTuple):
    """How to decode, by the names of the op's attrs."""

    ratio: int = 1
    fancy_upscaling: bool = True
    try_recover_truncated: bool = False
    dct_method: str = ""


def decode(data, channels, options, window=None):
    """The pixels of a JPEG file, [height, width, channels]; 0 channels are those of the file.

    `window` is a part of the picture: its first row and column, its height and width.
    """
    height, width, components = shape(data)
    if channels == 1 and components == 4:
        raise InvalidJpeg("a CMYK picture has no gray")
    if components == 4:
        pixels = _from_cmyk(_decoded(data, "CMYK", height, width, options), data)
    else:
        gray = (channels or components) == 1
        pixels = _decoded(data, "GRAY" if gray else "RGB", height, width, options)
    return pixels if window is None else _cropped(pixels, *window)


def _decoded(data, colors, height, width, options):
    import simplejpeg

    settings = {
        "fastdct": options.dct_method != "INTEGER_ACCURATE",
        "fastupsample": not options.fancy_upscaling,
    }
    if options.ratio > 1:
        settings["min_height"] = -(-height // options.ratio)
        settings["min_width"] = -(-width // options.ratio)
    try:
        return simplejpeg.decode_jpeg(data, colors, **settings)
    except ValueError as error:
        # What is damaged but complete is decoded as far as possible.
        if "Premature end of JPEG file" in str(error) and not options.try_recover_truncated:
            raise InvalidJpeg(str(error)) from None
    try:
        return simplejpeg.decode_jpeg(data, colors, strict=False, **settings)
    except ValueError as error:
        raise InvalidJpeg(str(error)) from None


def _from_cmyk(inks, data):
    """Colors of inks on paper. Files that Adobe's programs mark hold the paper that is left."""
    left = inks if _has_adobe_marker(data) else 255 - inks
    left = left.astype(np.uint16)
    return (left[..., :3] * left[..., 3:] // 255).astype(np.uint8)


def _cropped(pixels, top, left, height, width):
    rows, columns = pixels.shape[:2]
    inside = top >= 0 and left >= 0 and top + height <= rows and left + width <= columns
    if not inside or height <= 0 or width <= 0:
        raise InvalidJpeg(
            f"crop window {[top, left, height, width]} of a picture of {rows} x {columns} pixels"
        )
    return np.ascontiguousarray(pixels[top : top + height, left : left + width])


# Headers --------------------------------------------------------------------------------------

_START, _END, _SCAN, _ADOBE = 0xD8, 0xD9, 0xDA, 0xEE
# Start of frame, for each way of coding; what lies between are other things.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_FRAME = struct.Struct(">BHHB")  # bits, height, width, components
_WITHOUT_LENGTH = frozenset((0x01, *range(0xD0, 0xD8)))


def _segments(data):
    """The marker of each segment before the first scan, and where its content begins and ends."""
    if data[:2] != bytes((0xFF, _START)):
        raise InvalidJpeg("no JPEG header")
    position = 2
    while position + 4 <= len(data):
        if data[position] != 0xFF:
            raise InvalidJpeg("damaged JPEG header")
        marker = data[position + 1]
        if marker == 0xFF:  # a filling byte
            position += 1
            continue
        position += 2
        if marker in _WITHOUT_LENGTH:
            continue
        if marker in (_END, _SCAN):
            return
        length = data[position] << 8 | data[position + 1]
        yield marker, position + 2, position + length
        position += length


def shape(data):
    """Height, width and number of components, read from the header."""
    for marker, begin, end in _segments(data):
        if marker in _FRAMES:
            if min(end, len(data)) - begin < _FRAME.size:
                break
            _, height, width, components = _FRAME.unpack_from(data, begin)
            if height == 0 or width == 0:
                break
            return height, width, components
    raise InvalidJpeg("no picture in a JPEG file")


def _has_adobe_marker(data):
    return any(
        marker == _ADOBE and data[begin:end].startswith(b"Adobe")
        for marker, begin, end in _segments(data)
    )


# Writing --------------------------------------------------------------------------------------

_DENSITY_UNIT = 13  # where a file says whether its density is per inch (1) or centimeter (2)
_AFTER_HEADER = 20  # where further segments follow
_XMP = b"http://ns.adobe.com/xap/1.0/\0"


def encode(
    pixels,
    quality=95,
    progressive=False,
    optimize_size=False,
    chroma_downsampling=True,
    density_unit="in",
    x_density=300,
    y_density=300,
    xmp_metadata=b"",
):
    """A JPEG file of pixels [height, width, 1 or 3]."""
    from PIL import Image

    gray = pixels.shape[-1] == 1
    image = Image.fromarray(np.ascontiguousarray(pixels[..., 0] if gray else pixels))
    buffer = io.BytesIO()
    image.save(
        buffer,
        "jpeg",
        quality=quality,
        subsampling=2 if chroma_downsampling and not gray else 0,
        progressive=progressive,
        optimize=optimize_size,
        dpi=(x_density, y_density),
    )
    data = bytearray(buffer.getvalue())
    data[_DENSITY_UNIT] = 2 if density_unit == "cm" else 1
    if xmp_metadata:
        content = _XMP + xmp_metadata
        data[_AFTER_HEADER:_AFTER_HEADER] = (
            struct.pack(">BBH", 0xFF, 0xE1, 2 + len(content)) + content
        )
    return bytes(data)
