"""Images: resizing, crops, colours, boxes and file formats."""

from typing import Any

import numpy as np

from benchmarks.ops.trial import Family, alike, side, takes
from tests.ops.case import Made, array, f32, u8


def _shape(n: int) -> tuple[int, int, int, int]:
    edge = side(n // 3)
    return 1, edge, edge, 3


def _image(n: int) -> np.ndarray:
    return f32(*_shape(n), lo=0.1, hi=0.9)


def _half(n: int) -> np.ndarray:
    edge = side(n // 3) // 2
    return array([edge, edge], "int32")


def _half_image(n: int) -> np.ndarray:
    return f32(1, *_half(n), 3)


def _scale() -> tuple[np.ndarray, np.ndarray]:
    return array([0.5, 0.5], "float32"), array([0, 0], "float32")


def _picture(n: int) -> np.ndarray:
    """Bytes that compress as photographs do: a smooth surface with some noise."""
    edge = side(n // 3)
    wave = 100 + 60 * np.sin(np.arange(edge) / 20)
    smooth = (wave[:, None, None] + wave[None, :, None]) / 2 + np.array([0, 10, 20])
    return (smooth + u8(0, 8, edge, edge, 3)).astype("uint8")


def _encoded(op_type: str, n: int) -> Made:
    return Made(op_type, (_picture(n),))


def _boxes(count: int) -> np.ndarray:
    corners = f32(count, 2, lo=0, hi=0.8)
    return np.concatenate([corners, corners + f32(count, 2, lo=0.05, hi=0.2)], axis=1)


def _crops(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes, the images they are in, and gradients: crops of 16 × 16 with n elements in all."""
    count = max(1, n // (16 * 16 * 3))
    return _boxes(count), np.zeros(count, "int32"), f32(count, 16, 16, 3)


def _candidates(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A tenth as many boxes as for n numbers: all of them are compared with each other."""
    count = max(50, n // 200)
    return _boxes(count), f32(count, lo=0, hi=1), array(min(200, count // 2), "int32")


def _limit(value: float) -> np.ndarray:
    return array(value, "float32")


_FOUND: dict[str, Any] = {"size": array([8, 8], "int32")}

FAMILY: Family = {
    **alike("ResizeArea ResizeBicubic ResizeBilinear", lambda n: takes(_image(n), _half(n))),
    "ResizeNearestNeighbor": lambda n: takes(_image(n), _half(n)),
    **alike("ResizeBicubicGrad ResizeBilinearGrad", lambda n: takes(_half_image(n), _image(n))),
    "ResizeNearestNeighborGrad": lambda n: takes(_half_image(n), array(_shape(n)[1:3], "int32")),
    "ScaleAndTranslate": lambda n: takes(_image(n), _half(n), *_scale()),
    "ScaleAndTranslateGrad": lambda n: takes(_half_image(n), _image(n), *_scale()),
    "CropAndResize": lambda n: takes(_image(n), *_crops(n)[:2], array([16, 16], "int32")),
    "CropAndResizeGradBoxes": lambda n: takes(_crops(n)[2], _image(n), *_crops(n)[:2]),
    "CropAndResizeGradImage": lambda n: takes(
        _crops(n)[2], *_crops(n)[:2], array(_shape(n), "int32"), T="float32"
    ),
    "ImageProjectiveTransformV2": lambda n: takes(
        _image(n),
        array([[1, 0.1, 0, -0.1, 1, 0, 0, 0]], "float32"),
        array(_shape(n)[1:3], "int32"),
        interpolation="BILINEAR",
    ),
    "ImageProjectiveTransformV3": lambda n: takes(
        _image(n),
        array([[1, 0.1, 0, -0.1, 1, 0, 0, 0]], "float32"),
        array(_shape(n)[1:3], "int32"),
        _limit(0),
        interpolation="BILINEAR",
    ),
    **alike(
        "ExtractGlimpse ExtractGlimpseV2",
        lambda n: takes(_image(n), _half(n), array([[0, 0]], "float32")),
    ),
    "ExtractImagePatches": lambda n: takes(
        _image(n), ksizes=[1, 3, 3, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="SAME"
    ),
    "AdjustContrastv2": lambda n: takes(_image(n), _limit(2)),
    "AdjustHue": lambda n: takes(_image(n), _limit(0.2)),
    "AdjustSaturation": lambda n: takes(_image(n), _limit(0.5)),
    **alike("HSVToRGB RGBToHSV", lambda n: takes(_image(n))),
    "DrawBoundingBoxes": lambda n: takes(_image(n), _boxes(8)[None]),
    "DrawBoundingBoxesV2": lambda n: takes(_image(n), _boxes(8)[None], f32(4, 3, lo=0, hi=1)),
    "SampleDistortedBoundingBox": lambda n: takes(array(_shape(n)[1:], "int32"), _boxes(20)[None]),
    "SampleDistortedBoundingBoxV2": lambda n: takes(
        array(_shape(n)[1:], "int32"), _boxes(20)[None], _limit(0.1)
    ),
    "NonMaxSuppression": lambda n: takes(*_candidates(n)),
    "NonMaxSuppressionV2": lambda n: takes(*_candidates(n), _limit(0.5)),
    **alike(
        "NonMaxSuppressionV3 NonMaxSuppressionV4",
        lambda n: takes(*_candidates(n), _limit(0.5), _limit(0.1)),
    ),
    "NonMaxSuppressionV5": lambda n: takes(*_candidates(n), _limit(0.5), _limit(0.1), _limit(0.0)),
    "NonMaxSuppressionWithOverlaps": lambda n: takes(
        f32(side(n), side(n), lo=0, hi=1),
        f32(side(n), lo=0, hi=1),
        array(side(n) // 4, "int32"),
        _limit(0.9),
        _limit(0.1),
    ),
    "CombinedNonMaxSuppression": lambda n: takes(
        _boxes(max(10, n // 500))[None, :, None],
        f32(1, max(10, n // 500), 4, lo=0, hi=1),
        array(20, "int32"),
        array(50, "int32"),
        _limit(0.5),
        _limit(0.1),
    ),
    "EncodePng": lambda n: takes(_picture(n)),
    "EncodeJpeg": lambda n: takes(_picture(n)),
    "EncodeJpegVariableQuality": lambda n: takes(_picture(n), array(80, "int32")),
    "DecodePng": lambda n: takes(_encoded("EncodePng", n)),
    **alike("DecodeJpeg ExtractJpegShape DecodeImage", lambda n: takes(_encoded("EncodeJpeg", n))),
    "DecodeAndCropJpeg": lambda n: takes(
        _encoded("EncodeJpeg", n), array([2, 2, *_half(n)], "int32")
    ),
    "DecodeBmp": lambda n: takes(_bitmap(n)),
}


def _bitmap(n: int) -> np.ndarray:
    """A file of BMP's format: headers, then the rows from below."""
    edge = side(n // 3) // 4 * 4
    pixels = u8(0, 255, edge, edge, 3).tobytes()
    header = b"BM" + np.array([54 + len(pixels), 0, 54, 40, edge, edge], "<u4").tobytes()
    header += np.array([1, 24], "<u2").tobytes()
    header += np.array([0, len(pixels), 2835, 2835, 0, 0], "<u4").tobytes()
    file = np.empty((), object)
    file[()] = header + pixels
    return file
