"""GIF files: all frames of an animation, each painted over the one before it, as TensorFlow does.

Blocks and colors are handled here; Pillow's decoder unpacks the pixels of a frame. (Pillow's own
reader follows the disposal methods of frames, which TensorFlow does not.)
"""

import struct
from typing import NamedTuple

import numpy as np

_EXTENSION, _IMAGE, _END = 0x21, 0x2C, 0x3B
_GRAPHICS_CONTROL = 0xF9
_HAS_COLORS, _INTERLACED = 0x80, 0x40


class InvalidGif(ValueError):
    """The bytes are no GIF file, or hold no whole frame."""


class _Frame(NamedTuple):
    left: int
    top: int
    pixels: np.ndarray  # numbers of colors, [height, width]
    colors: np.ndarray | None  # [count, 3]
    transparent: int | None


class _Cut(Exception):
    """The file ends within a block."""


def decode(data):
    """The frames of a GIF file, [frames, height, width, 3]."""
    frames = _frames(data)
    height = max(frame.pixels.shape[0] for frame in frames)
    width = max(frame.pixels.shape[1] for frame in frames)
    canvas = np.zeros((height, width, 3), np.uint8)
    painted = np.empty((len(frames), *canvas.shape), np.uint8)
    for number, frame in enumerate(frames):
        _paint(canvas, frame, number, len(data))
        painted[number] = canvas
    return painted


def _paint(canvas, frame, number, size):
    pixels = frame.pixels[: canvas.shape[0] - frame.top, : canvas.shape[1] - frame.left]
    if frame.colors is None:
        raise InvalidGif(f"Invalid GIF data (size {size}), missing color map for frame {number}")
    visible = None if frame.transparent is None else pixels != frame.transparent
    shown = pixels if visible is None else pixels[visible]
    if shown.size and shown.max() >= len(frame.colors):
        raise InvalidGif(
            f"Invalid GIF data (size {size}), found color index {shown.max()} outside of color "
            f"map range {len(frame.colors)}"
        )
    rows, columns = pixels.shape
    part = canvas[frame.top : frame.top + rows, frame.left : frame.left + columns]
    if visible is None:
        part[...] = frame.colors[pixels]
    else:
        part[visible] = frame.colors[shown]


def _frames(data):
    """The whole frames of a file; what comes after a damaged one is left out."""
    if data[:6] not in (b"GIF87a", b"GIF89a") or len(data) < 13:
        raise InvalidGif(
            f"Invalid GIF data (size {len(data)}), failed to open gif file: no screen descriptor"
        )
    flags = data[10]
    common, position = _colors(data, 13, flags)
    frames: list[_Frame] = []
    transparent = None
    try:
        while True:
            kind, position = _byte(data, position)
            if kind == _EXTENSION:
                label, position = _byte(data, position)
                content, position = _blocks(data, position)
                if label == _GRAPHICS_CONTROL and len(content) >= 6:
                    # After the length of the block: flags, a delay, the transparent color.
                    transparent = content[4] if content[1] & 1 else None
            elif kind == _IMAGE:
                frame, position = _image(data, position, common, transparent)
                frames.append(frame)
                transparent = None
            elif kind == _END:
                break
            else:
                raise _Cut
    except _Cut:
        pass
    if not frames:
        raise InvalidGif(
            f"Invalid GIF data (size {len(data)}), failed to slurp gif file: no whole frame in it"
        )
    return frames


def _image(data, position, common, transparent):
    from PIL import Image

    if position + 9 > len(data):
        raise _Cut
    left, top, width, height, flags = struct.unpack_from("<HHHHB", data, position)
    colors, position = _colors(data, position + 9, flags)
    bits, position = _byte(data, position)
    packed, position = _blocks(data, position)
    interlaced = int(bool(flags & _INTERLACED))
    try:
        image = Image.frombytes("P", (width, height), packed, "gif", bits, interlaced)
    except (ValueError, OSError):
        raise _Cut from None
    pixels = np.asarray(image)
    return _Frame(left, top, pixels, common if colors is None else colors, transparent), position


def _colors(data, position, flags):
    """The color table at a position, or None where the flags say that there is none."""
    if not flags & _HAS_COLORS:
        return None, position
    end = position + 3 * (2 << (flags & 7))
    colors = np.frombuffer(data[position:end], np.uint8)
    if len(colors) < end - position:
        raise InvalidGif(f"Invalid GIF data (size {len(data)}), color map is cut off")
    return colors.reshape(-1, 3), end


def _byte(data, position):
    if position >= len(data):
        raise _Cut
    return data[position], position + 1


def _blocks(data, position):
    """A chain of blocks, with their lengths, up to and with the empty one."""
    start = position
    while True:
        length, position = _byte(data, position)
        if length == 0:
            return data[start:position], position
        position += length
