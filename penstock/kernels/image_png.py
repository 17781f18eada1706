"""PNG files: pixels of 8 or 16 bits with any of the five kinds of color, in and out.

Chunks, palettes, transparency and channels are handled here; Pillow's decoder inflates, unfilters
and deinterlaces rows. (Pillow's own reader gives 8 bits of 16-bit colors.) Channels are converted
as libpng does, so that the numbers are TensorFlow's.
"""

import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GRAY, _RGB, _PALETTE, _GRAY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_CHANNELS = {_GRAY: 1, _RGB: 3, _PALETTE: 1, _GRAY_ALPHA: 2, _RGBA: 4}
_DEPTHS = {
    _GRAY: (1, 2, 4, 8, 16),
    _RGB: (8, 16),
    _PALETTE: (1, 2, 4, 8),
    _GRAY_ALPHA: (8, 16),
    _RGBA: (8, 16),
}
_MOST_PIXELS = 1 << 29


class InvalidPng(ValueError):
    """The bytes are no PNG file, or one that is damaged."""


# Reading --------------------------------------------------------------------------------------


def decode(data, channels, bits):
    """The pixels of a PNG file, [height, width, channels], of 8 or 16 bits.

    `channels` 0 keeps those of the file.
    """
    chunks = _chunks(data)
    width, height, depth, color, interlaced = _header(chunks)
    pixels = _unpacked(b"".join(chunks.get(b"IDAT", ())), width, height, depth, color, interlaced)
    # The opaque alpha of narrow pixels is their largest number, as in TensorFlow.
    opaque = (1 << depth) - 1
    pixels = _with_transparency(pixels, depth, color, chunks)
    if channels == 0 and color != _PALETTE:
        channels = _CHANNELS[color]
    return _of_depth(_with_channels(pixels, channels, opaque), bits)


def _chunks(data):
    """The contents of the chunks by type, each a list; those after the image are left out."""
    if not data.startswith(SIGNATURE):
        raise InvalidPng("Invalid PNG header, data size " + str(len(data)))
    found: dict[bytes, list[bytes]] = {}
    position = len(SIGNATURE)
    while position + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        end = position + 8 + length
        if end + 4 > len(data):
            raise InvalidPng(f"Invalid PNG data: chunk {kind!r} is cut off, data size {len(data)}")
        if struct.unpack_from(">I", data, end)[0] != zlib.crc32(data[position + 4 : end]):
            if not kind[0] & 0x20:  # a critical chunk
                raise InvalidPng(f"Invalid PNG data: checksum of chunk {kind!r} is wrong")
        else:
            found.setdefault(kind, []).append(data[position + 8 : end])
        if kind == b"IEND":
            return found
        position = end + 4
    raise InvalidPng(f"Invalid PNG data: the end is missing, data size {len(data)}")


def _header(chunks):
    header = chunks.get(b"IHDR", [b""])[0]
    if len(header) != 13:
        raise InvalidPng("Invalid PNG header")
    width, height, depth, color, compression, filters, interlaced = struct.unpack(
        ">IIBBBBB", header
    )
    if depth not in _DEPTHS.get(color, ()) or compression or filters or interlaced > 1:
        raise InvalidPng(f"Invalid PNG header: color type {color} with {depth} bits")
    if not 0 < width * height <= _MOST_PIXELS:
        raise InvalidPng(f"Invalid PNG header: image of {width} x {height} pixels")
    return width, height, depth, color, interlaced


# The mode and raw mode of Pillow in which rows of one or two bytes per pixel and channel come out
# as they are. Pixels of six and eight bytes take two passes: the upper bytes, the lower bytes.
_RAW = {
    (1, 8): [("L", "L")],
    (2, 8): [("LA", "LA")],
    (3, 8): [("RGB", "RGB")],
    (4, 8): [("RGBA", "RGBA")],
    (1, 16): [("LA", "LA")],
    (2, 16): [("RGBA", "RGBA")],
    (3, 16): [("RGB", "RGB;16B"), ("RGB", "RGB;16L")],
    (4, 16): [("RGBA", "RGBA;16B"), ("RGBA", "RGBA;16L")],
}


def _unpacked(compressed, width, height, depth, color, interlaced):
    """The samples of the file: [height, width, channels], as uint8 or uint16."""
    from PIL import Image

    channels = _CHANNELS[color]
    passes = [("P", f"P;{depth}")] if depth < 8 else _RAW[channels, depth]
    try:
        parts = [
            np.asarray(
                Image.frombytes(mode, (width, height), compressed, "zip", raw, interlaced)
            ).reshape(height, width, -1)
            for mode, raw in passes
        ]
    except (ValueError, OSError, SyntaxError) as error:
        raise InvalidPng(f"Invalid PNG data: {error}") from None
    if depth < 16:
        return parts[0]
    if len(parts) == 1:
        return np.ascontiguousarray(parts[0]).view(">u2").astype(np.uint16)
    return parts[0].astype(np.uint16) << 8 | parts[1]


def _with_transparency(pixels, depth, color, chunks):
    """Samples with palettes looked up, narrow grays widened, and transparent colors as alpha."""
    transparent = chunks.get(b"tRNS", [None])[0]
    if color == _PALETTE:
        return _looked_up(pixels, chunks, transparent)
    full = 255 if depth <= 8 else 65535
    alpha = None
    if transparent is not None and color in (_GRAY, _RGB):
        key = np.frombuffer(transparent[: 2 * _CHANNELS[color]], ">u2")
        if len(key) == _CHANNELS[color]:
            alpha = np.where((pixels == key).all(-1, keepdims=True), 0, full).astype(pixels.dtype)
    if depth < 8:
        pixels = pixels * np.uint8(255 // ((1 << depth) - 1))
    return pixels if alpha is None else np.concatenate([pixels, alpha], -1)


def _looked_up(pixels, chunks, transparent):
    if b"PLTE" not in chunks:
        raise InvalidPng("Invalid PNG data: the palette is missing")
    palette = chunks[b"PLTE"][0]
    colors = np.zeros((256, 3), np.uint8)
    given = np.frombuffer(palette[: len(palette) // 3 * 3], np.uint8).reshape(-1, 3)[:256]
    colors[: len(given)] = given
    if transparent is not None:
        alpha = np.full((256, 1), 255, np.uint8)
        alpha[: len(transparent), 0] = np.frombuffer(transparent[:256], np.uint8)
        colors = np.concatenate([colors, alpha], 1)
    return colors[pixels[..., 0]]


def _of_depth(pixels, bits):
    if 8 * pixels.dtype.itemsize == bits:
        return pixels
    if bits == 8:
        return (pixels >> 8).astype(np.uint8)
    return pixels.astype(np.uint16) * np.uint16(257)


# Weights of red, green and blue in 1/32768.
_GRAY_WEIGHTS = 9797, 19234, 3737


def _with_channels(pixels, channels, opaque):
    given = pixels.shape[-1]
    if channels in (0, given):
        return pixels
    has_color, has_alpha = given >= 3, given in (2, 4)
    wants_color, wants_alpha = channels >= 3, channels in (2, 4)
    colors = pixels[..., :-1] if has_alpha else pixels
    if wants_color and not has_color:
        colors = np.repeat(colors, 3, -1)
    elif has_color and not wants_color:
        colors = _grays(colors)
    if not wants_alpha:
        return np.ascontiguousarray(colors)
    alpha = pixels[..., -1:] if has_alpha else np.full_like(colors[..., :1], opaque)
    return np.concatenate([colors, alpha], -1)


def _grays(colors):
    weighted = colors.astype(np.int64) @ np.array(_GRAY_WEIGHTS)
    if colors.dtype == np.uint16:
        weighted += 16384
    return (weighted >> 15).astype(colors.dtype)[..., None]


# Writing --------------------------------------------------------------------------------------

_COLOR_OF_CHANNELS = {1: _GRAY, 2: _GRAY_ALPHA, 3: _RGB, 4: _RGBA}
_CHUNK = 8192  # of compressed bytes


def encode(pixels, compression=-1):
    """A PNG file of pixels [height, width, 1 to 4 channels], uint8 or uint16."""
    height, width, channels = pixels.shape
    depth = 8 * pixels.dtype.itemsize
    rows = np.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder(">"))).view(np.uint8)
    filtered = _filtered(rows.reshape(height, -1), channels * depth // 8)
    compressor = zlib.compressobj(compression, strategy=zlib.Z_FILTERED)
    data = compressor.compress(filtered.tobytes()) + compressor.flush()
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOR_OF_CHANNELS[channels], 0, 0, 0)
    parts = [data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)]
    chunks = [(b"IHDR", header), *((b"IDAT", part) for part in parts), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind, content):
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", checksum)


def _filtered(rows, step):
    """Each row as its difference from what its neighbours foretell, after the filter's number.

    The filter is chosen per row, by the smallest sum of absolute differences, as in libpng.
    """
    left, up, corner = np.zeros_like(rows), np.zeros_like(rows), np.zeros_like(rows)
    left[:, step:] = rows[:, :-step]
    up[1:] = rows[:-1]
    corner[1:, step:] = rows[:-1, :-step]
    mean = ((left.astype(np.uint16) + up) >> 1).astype(np.uint8)
    foretold = (np.uint8(0), left, up, mean, _paeth(left, up, corner))
    candidates = np.stack([rows - guess for guess in foretold])
    sizes = np.minimum(candidates, -candidates).sum(2, dtype=np.int64)
    best = sizes.argmin(0)
    chosen = candidates[best, np.arange(len(rows))]
    return np.concatenate([best[:, None].astype(np.uint8), chosen], 1)


def _paeth(left, up, corner):
    """Of the three neighbours the one nearest to left + up - corner."""
    a, b, c = (part.astype(np.int16) for part in (left, up, corner))
    by_left, by_up, by_corner = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    nearest = np.where(by_up <= by_corner, up, corner)
    return np.where((by_left <= by_up) & (by_left <= by_corner), left, nearest)
