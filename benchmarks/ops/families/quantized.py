"""Arithmetic on quantized numbers, with the ends of their ranges."""

import numpy as np

from benchmarks.ops.trial import Family, alike, side, takes
from tests.ops.case import array, f32, ints

_LIMITS = {"quint8": (0, 256), "qint32": (-(2**31), 2**31 - 1)}
_CHANNELS = 16
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}


def _levels(dtype: str, *shape: int) -> np.ndarray:
    """Random levels in NumPy's form of a quantized type: one field of the integer type."""
    kind = dtype.replace("q", "", 1)
    return ints(kind, *_LIMITS[dtype], *shape).view(np.dtype([(dtype, kind)]))


def _bytes(*shape: int) -> np.ndarray:
    return _levels("quint8", *shape)


def _ends(ranges: int = 1) -> list[np.ndarray]:
    """The lowest and the highest number, of so many tensors."""
    return [array(end, "float32") for _ in range(ranges) for end in (-1, 2)]


def _image(n: int) -> tuple[int, int, int, int]:
    return (1, 8, 8, _CHANNELS) if n < 10**4 else (n // (32 * 32 * _CHANNELS), 32, 32, _CHANNELS)


FAMILY: Family = {
    **alike("QuantizedAdd QuantizedMul", lambda n: takes(_bytes(n), _bytes(n), *_ends(2))),
    **alike("QuantizedRelu QuantizedRelu6", lambda n: takes(_bytes(n), *_ends())),
    "QuantizedBiasAdd": lambda n: takes(
        _bytes(n // 50, 50), _bytes(50), *_ends(2), out_type="qint32"
    ),
    "QuantizedConcat": lambda n: takes(
        array(0, "int32"),
        [_bytes(n // 2), _bytes(n // 2)],
        [array(-1, "float32"), array(-2, "float32")],
        [array(2, "float32"), array(2, "float32")],
    ),
    "QuantizedReshape": lambda n: takes(_bytes(n), array([-1, 10], "int32"), *_ends()),
    "QuantizedMatMul": lambda n: takes(
        _bytes(side(n), side(n)), _bytes(side(n), side(n)), *_ends(2)
    ),
    "QuantizedConv2D": lambda n: takes(
        _bytes(*_image(n)),
        _bytes(3, 3, _CHANNELS, _CHANNELS),
        *_ends(2),
        strides=[1, 1, 1, 1],
        padding="SAME",
    ),
    **alike(
        "QuantizedAvgPool QuantizedMaxPool", lambda n: takes(_bytes(*_image(n)), *_ends(), **_POOL)
    ),
    "RequantizationRange": lambda n: takes(_levels("qint32", n), *_ends()),
    "QuantizeDownAndShrinkRange": lambda n: takes(
        _levels("qint32", n), *_ends(), out_type="quint8"
    ),
    "Requantize": lambda n: takes(_levels("qint32", n), *_ends(2), out_type="quint8"),
    "QuantizeAndDequantizeV4": lambda n: takes(f32(n), *_ends()),
    "QuantizeAndDequantizeV4Grad": lambda n: takes(f32(n), f32(n), *_ends()),
}
