"""Pictures in files: JPEG, PNG, GIF and BMP, decoded and encoded."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor, is_dense_tensor_like
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.image_color import convert_image_dtype
from penstock.ops.random import random_uniform
from penstock.ops.shape_checks import with_rank, with_rank_at_least, with_size
from penstock.shapes import Shape

__all__ = [
    "adjust_jpeg_quality",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "is_jpeg",
    "random_jpeg_quality",
]

_JPEG: dict[str, Any] = {
    "channels": 0,
    "ratio": 1,
    "fancy_upscaling": True,
    "try_recover_truncated": False,
    "acceptable_fraction": 1.0,
    "dct_method": "",
}
DecodeJpeg = op("DecodeJpeg(contents: string) -> image: uint8", **_JPEG)
DecodeAndCropJpeg = op(
    "DecodeAndCropJpeg(contents: string, crop_window: int32) -> image: uint8", **_JPEG
)
DecodePng = op(
    "DecodePng(contents: string) -> image: dtype",
    channels=0,
    dtype=types(dtypes.uint8, dtypes.uint16, default=dtypes.uint8),
)
DecodeGif = op("DecodeGif(contents: string) -> image: uint8")
DecodeBmp = op("DecodeBmp(contents: string) -> image: uint8", channels=0)
DecodeImage = op(
    "DecodeImage(contents: string) -> image: dtype",
    channels=0,
    dtype=types(dtypes.uint8, dtypes.uint16, dtypes.float32, default=dtypes.uint8),
    expand_animations=True,
)
EncodeJpeg = op(
    "EncodeJpeg(image: uint8) -> contents: string",
    format=attr("string", "", allowed=("", "grayscale", "rgb")),
    quality=95,
    progressive=False,
    optimize_size=False,
    chroma_downsampling=True,
    density_unit=attr("string", "in", allowed=("in", "cm")),
    x_density=300,
    y_density=300,
    xmp_metadata="",
)
EncodeJpegVariableQuality = op(
    "EncodeJpegVariableQuality(images: uint8, quality: int32) -> contents: string"
)
EncodePng = op(
    "EncodePng(image: T) -> contents: string",
    compression=-1,
    T=types(dtypes.uint8, dtypes.uint16, default=dtypes.uint8),
)
ExtractJpegShape = op(
    "ExtractJpegShape(contents: string) -> image_shape: output_type",
    output_type=types(INDEX, default=dtypes.int32),
)


# Shapes ---------------------------------------------------------------------------------------


def _channels(op: Operation) -> int | None:
    channels = op.attrs["channels"]
    if channels < 0:
        raise ValueError(f"channels must be non-negative, got {channels}")
    return channels or None


@DecodeJpeg.shape
@DecodePng.shape
@DecodeBmp.shape
def _(op: Operation, contents: Shape) -> Shape:
    with_rank(contents, 0)
    return None, None, _channels(op)


@DecodeGif.shape
def _(op: Operation, contents: Shape) -> Shape:
    with_rank(contents, 0)
    return None, None, None, 3


@DecodeImage.shape
def _(op: Operation, contents: Shape) -> Shape:
    with_rank(contents, 0)
    channels = _channels(op)
    # An animation has one dimension more.
    return None if op.attrs["expand_animations"] else (None, None, channels)


@DecodeAndCropJpeg.shape
def _(op: Operation, contents: Shape, crop_window: Shape) -> Shape:
    with_rank(contents, 0)
    with_size(with_rank(crop_window, 1)[0], 4)
    window = constant_value(op.inputs[1])
    if window is None:
        return None, None, _channels(op)
    height, width = (None if size < 0 else int(size) for size in window[2:])
    return height, width, _channels(op)


@EncodeJpeg.shape
def _(op: Operation, image: Shape) -> Shape:
    with_rank(image, 3)
    return ()


@EncodeJpegVariableQuality.shape
def _(op: Operation, images: Shape, quality: Shape) -> Shape:
    with_rank(images, 3)
    with_rank(quality, 0)
    return ()


@EncodePng.shape
def _(op: Operation, image: Shape) -> Shape:
    image = with_rank_at_least(image, 3)
    return None if image is None else image[:-3]


@ExtractJpegShape.shape
def _(op: Operation, contents: Shape) -> Shape:
    with_rank(contents, 0)
    return (3,)


# Decoding -------------------------------------------------------------------------------------


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The pixels of a JPEG file (or of a PNG or GIF file), [height, width, channels] of uint8.

    Args:
      contents: The bytes of the file.
      channels: 0 for those of the file, 1 for gray, 3 for RGB.
      ratio: 1, 2, 4 or 8: by how much smaller the picture is decoded.
      fancy_upscaling: Whether subsampled colors are interpolated.
      try_recover_truncated: Whether a file that is cut off gives what there is of it.
      dct_method: "INTEGER_FAST", the default, or "INTEGER_ACCURATE".
    """
    return DecodeJpeg(
        contents,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """A part of a JPEG picture: `crop_window` is its first row and column, height and width."""
    return DecodeAndCropJpeg(
        contents,
        crop_window,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Tensor:
    """The pixels of a PNG file, [height, width, channels] of uint8 or uint16.

    `channels` is 0 for those of the file, 1 for gray, 3 for RGB, 4 for RGB and alpha.
    """
    return DecodePng(contents, channels=channels, dtype=dtype, name=name)


def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """The frames of a GIF file, [frames, height, width, 3]."""
    return DecodeGif(contents, name=name)


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The pixels of a BMP file, [height, width, channels]."""
    return DecodeBmp(contents, channels=channels, name=name)


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The pixels of a JPEG, PNG, GIF or BMP file, whichever it is, scaled to the range of `dtype`.

    A GIF file gives all frames, [frames, height, width, 3]; without `expand_animations` the first.
    """
    if channels not in (None, 0, 1, 3, 4):
        raise ValueError(f"channels must be in (None, 0, 1, 3, 4), got {channels}")
    wanted = dtypes.as_dtype(dtype)
    decoded = wanted
    if wanted not in (dtypes.float32, dtypes.uint8, dtypes.uint16):
        decoded = dtypes.uint16
    with name_scope(name, "decode_image"):
        image = DecodeImage(
            contents,
            channels=channels or 0,
            dtype=decoded,
            expand_animations=expand_animations,
        )
        if decoded != wanted:
            image = convert_image_dtype(image, wanted)
        if not expand_animations:
            image.set_shape([None, None, channels or None])
        return image


def extract_jpeg_shape(
    contents: Any, output_type: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """Height, width and number of channels of a JPEG file, without decoding it."""
    return ExtractJpegShape(contents, output_type=output_type, name=name)


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether bytes start as a JPEG file does."""
    from penstock.ops.comparison import equal
    from penstock.ops.strings import substr

    with name_scope(name, "is_jpeg"):
        return equal(substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


# Encoding -------------------------------------------------------------------------------------


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """The bytes of a JPEG file of pixels [height, width, 1 or 3] of uint8."""
    return EncodeJpeg(
        image,
        format=format,
        quality=quality,
        progressive=progressive,
        optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling,
        density_unit=density_unit,
        x_density=x_density,
        y_density=y_density,
        xmp_metadata=xmp_metadata,
        name=name,
    )


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """The bytes of a PNG file of pixels [height, width, 1 to 4 channels] of uint8 or uint16."""
    return EncodePng(convert_to_tensor(image), compression=compression, name=name)


def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Tensor:
    """An image with the traces that JPEG of some quality, 0 to 100, leaves in it."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        pixels = convert_image_dtype(image, dtypes.uint8)
        if not is_dense_tensor_like(jpeg_quality):
            jpeg_quality = convert_to_tensor(jpeg_quality, dtypes.int32)
        packed = EncodeJpegVariableQuality(pixels, jpeg_quality)
        unpacked = DecodeJpeg(packed, dct_method=dct_method)
        return convert_image_dtype(unpacked, image.dtype)


def random_jpeg_quality(
    image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any = None
) -> Tensor:
    """An image with the traces of JPEG of a random quality in [min, max)."""
    if not (0 <= min_jpeg_quality <= 100 and 0 <= max_jpeg_quality <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], min_jpeg_quality, max_jpeg_quality, dtype=dtypes.int32, seed=seed)
    return adjust_jpeg_quality(image, quality)
