"""Kernels of pictures in files. The format is told from the first bytes, whatever the op's name."""

import itertools

import numpy as np
import torch

from penstock import dtypes, errors
from penstock.kernels import image_bmp, image_gif, image_jpeg, image_png
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import to_array, torch_type

_FORMATS = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG", "PNG"),
    (b"GIF8", "GIF"),
    (b"BM", "BMP"),
)
_DAMAGED = (
    image_bmp.InvalidBmp,
    image_gif.InvalidGif,
    image_png.InvalidPng,
    image_jpeg.InvalidJpeg,
)


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _contents(value):
    if value.ndim:
        raise _invalid(f"contents must be scalar but got shape {list(value.shape)}")
    return value.item()


def _format_of(data):
    if not data:
        raise _invalid("Input is empty.")
    for start, name in _FORMATS:
        if data.startswith(start):
            return name
    start = data[:16].decode("latin-1")
    raise _invalid(
        f"Expected image (JPEG, PNG, or GIF), got unknown format starting with '{start}'"
    )


def _check_channels(channels, name):
    if channels not in (0, 1, 3, 4):
        raise _invalid(f"`channels` must be 0, 1, 3 or 4 but got {channels}")
    if name == "JPEG" and channels == 4:
        raise _invalid("JPEG does not support 4 channels: channels must be 0, 1 or 3")
    if name == "GIF" and channels not in (0, 3):
        raise _invalid(f"channels must be 0 or 3 for GIF, got {channels}")


def _pixels(data, name, channels, bits, options):
    """The pixels of a file as an array; all frames of an animation."""
    try:
        if name == "JPEG":
            return image_jpeg.decode(data, channels, options)
        if name == "PNG":
            return image_png.decode(data, channels, bits)
        if name == "GIF":
            return image_gif.decode(data)
        return image_bmp.decode(data, channels)
    except image_jpeg.InvalidJpeg as error:
        raise _invalid(
            f"Invalid JPEG data or crop window, data size {len(data)}: {error}"
        ) from None
    except image_png.InvalidPng as error:
        raise _invalid(f"Invalid PNG data, size {len(data)}: {error}") from None
    except _DAMAGED as error:
        raise _invalid(str(error)) from None


def _scaled(pixels, dtype):
    """Pixels of 8 or 16 bits in the range of a type."""
    if dtype is dtypes.float32:
        return pixels.astype(np.float32) * np.float32(1 / np.iinfo(pixels.dtype).max)
    if dtype is dtypes.uint16 and pixels.dtype == np.uint8:
        return pixels.astype(np.uint16) * np.uint16(256)
    return pixels


def _jpeg_options(node):
    if node.type not in ("DecodeJpeg", "DecodeAndCropJpeg"):
        return image_jpeg.Options()
    options = image_jpeg.Options(**{key: node.attrs[key] for key in image_jpeg.Options._fields})
    if options.ratio not in (1, 2, 4, 8):
        raise _invalid(f"ratio must be 1, 2, 4, or 8, got {options.ratio}")
    if options.dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise _invalid(
            "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}, got "
            f"{options.dct_method!r}"
        )
    return options


@kernel(
    "DecodeJpeg", "DecodePng", "DecodeGif", "DecodeBmp", "DecodeImage", devices=HOST, fresh=True
)
def _(node):
    options = _jpeg_options(node)
    channels = node.attrs.get("channels", 3)  # a GIF has colors
    dtype = node.attrs.get("dtype", dtypes.uint8)

    def run(contents):
        data = _contents(contents)
        name = _format_of(data)
        _check_channels(channels, name)
        _check_suitable(node.type, name)
        # Numbers of 8 bits are scaled to 16 by 256, but for PNG, where libpng's rule is 257.
        bits = 8 if dtype is dtypes.uint8 else 16
        pixels = _scaled(_pixels(data, name, channels, bits, options), dtype)
        return torch.from_numpy(_framed(node, name, pixels))

    return run


def _check_suitable(op_type, name):
    if op_type == "DecodeBmp" and name != "BMP":
        raise _invalid(
            f"Trying to decode {name} format using DecodeBmp op. Use `decode_{name.lower()}` or "
            "`decode_image` instead."
        )
    if name == "BMP" and op_type not in ("DecodeBmp", "DecodeImage"):
        raise _invalid(
            "Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` "
            f"instead. Op used: {op_type}"
        )


def _framed(node, name, pixels):
    """Pixels with a dimension for frames, or without, as the op gives them."""
    if node.type == "DecodeGif":
        pixels = pixels if name == "GIF" else pixels[None]
    elif name == "GIF" and node.type == "DecodeImage":
        pixels = pixels if node.attrs["expand_animations"] else pixels[0]
    elif name == "GIF":
        if len(pixels) != 1:
            raise _invalid(
                f"Got {len(pixels)} frames, but animated gifs can only be decoded by "
                "tf.image.decode_gif or tf.image.decode_image"
            )
        pixels = pixels[0]
    pixels = np.ascontiguousarray(pixels)
    return pixels if pixels.flags.writeable else pixels.copy()


@kernel("DecodeAndCropJpeg", devices=HOST, fresh=True)
def _(node):
    options, channels = _jpeg_options(node), node.attrs["channels"]

    def run(contents, crop_window):
        data = _contents(contents)
        name = _format_of(data)
        _check_channels(channels, name)
        if name != "JPEG":
            raise _invalid(
                f"DecodeAndCropJpeg operation can run on JPEG only, but detected {name}."
            )
        if crop_window.shape != (4,):
            raise _invalid(
                f"crop_window must have four elements, got shape {list(crop_window.shape)}"
            )
        try:
            pixels = image_jpeg.decode(data, channels, options, crop_window.tolist())
        except image_jpeg.InvalidJpeg as error:
            raise _invalid(f"Invalid JPEG data or crop window: {error}") from None
        return torch.from_numpy(pixels)

    return run


@kernel("ExtractJpegShape", devices=HOST, fresh=True)
def _(node):
    dtype = torch_type(node.attrs["output_type"])

    def run(contents):
        data = _contents(contents)
        try:
            return torch.tensor(image_jpeg.shape(data), dtype=dtype)
        except image_jpeg.InvalidJpeg as error:
            raise _invalid(f"Invalid JPEG data, size {len(data)}: {error}") from None

    return run


# Encoding -------------------------------------------------------------------------------------

_CHANNELS_OF_FORMAT = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}


def _checked_pixels(image, allowed):
    if image.dim() != 3:
        raise _invalid(f"image must be 3-dimensional, got shape {list(image.shape)}")
    if image.shape[2] not in allowed:
        wanted = " or ".join(map(str, allowed))
        raise _invalid(f"image must have {wanted} channels, got {list(image.shape)}")
    if image.numel() == 0:
        raise errors.InternalError(None, None, f"JPEG encoding failed: shape {list(image.shape)}")
    return to_array(image)


def _check_quality(quality):
    if not 0 <= quality <= 100:
        raise _invalid(f"quality must be in [0,100], got {quality}")


@kernel("EncodeJpeg", devices=HOST, fresh=True)
def _(node):
    attrs = dict(node.attrs)
    allowed = _CHANNELS_OF_FORMAT[_text(attrs.pop("format"))]
    _check_quality(attrs["quality"])
    attrs["density_unit"] = _text(attrs["density_unit"])
    metadata = attrs["xmp_metadata"]
    attrs["xmp_metadata"] = metadata if isinstance(metadata, bytes) else metadata.encode()
    known = ("quality", "progressive", "optimize_size", "chroma_downsampling", "density_unit")
    settings = {key: attrs[key] for key in (*known, "x_density", "y_density", "xmp_metadata")}
    return lambda image: _string(image_jpeg.encode(_checked_pixels(image, allowed), **settings))


@kernel("EncodeJpegVariableQuality", devices=HOST, fresh=True)
def _(node):
    def run(image, quality):
        _check_quality(quality.item())
        return _string(image_jpeg.encode(_checked_pixels(image, (1, 3)), quality=quality.item()))

    return run


@kernel("EncodePng", devices=HOST, fresh=True)
def _(node):
    compression = node.attrs["compression"]
    if not -1 <= compression <= 9:
        raise _invalid(f"compression should be in [-1,9], got {compression}")

    def run(image):
        if image.dim() < 3:
            raise _invalid(f"image must be at least rank 3, got shape {list(image.shape)}")
        *batch, _, _, channels = image.shape
        if not 1 <= channels <= 4:
            raise _invalid(f"image must have 1, 2, 3, or 4 channels, got {channels}")
        pixels = to_array(image)
        result = np.empty(batch, object)
        for index in itertools.product(*map(range, batch)):
            result[index] = image_png.encode(pixels[index], compression)
        return result

    return run


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _string(data):
    result = np.empty((), object)
    result[()] = data
    return result
