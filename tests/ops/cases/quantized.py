"""Arithmetic of quantized numbers."""

from typing import Any

import numpy as np

from tests.ops.case import Case, array, f32, f64, ints

SIZES = {"qint8": (-128, 128), "quint8": (0, 256), "qint32": (-(2**31), 2**31 - 1)}


def levels(dtype: str, *shape: int) -> np.ndarray:
    """Random levels in NumPy's form of a quantized type: one field of the integer type."""
    kind = dtype.replace("q", "", 1)
    drawn = np.atleast_1d(ints(kind, *SIZES[dtype], *shape))
    return drawn.view(np.dtype([(dtype, kind)])).reshape(shape)


def given(dtype: str, values: list[int]) -> np.ndarray:
    kind = dtype.replace("q", "", 1)
    return np.array(values, kind).view(np.dtype([(dtype, kind)]))


def bounds(*numbers: float) -> tuple[np.ndarray, ...]:
    return tuple(array(number, "float32") for number in numbers)


RANGES = ((0.0, 1.0), (-1.0, 2.0), (-3.7, 0.4), (-127.3, 55.0))
CASES: list[Case] = []


def add(op: str, inputs: tuple[Any, ...], attrs: dict[str, Any] | None = None) -> None:
    CASES.append(Case(op, inputs, attrs or {}))


for low, high in RANGES:
    x = levels("quint8", 3, 4)
    for op in ("QuantizedRelu", "QuantizedRelu6"):
        add(op, (x, *bounds(low, high)))
    for dtype in ("quint8", "qint8"):
        image = levels(dtype, 2, 5, 6, 3)
        for padding in ("SAME", "VALID"):
            window = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": padding}
            add("QuantizedMaxPool", (image, *bounds(low, high)), window)
            add("QuantizedAvgPool", (image, *bounds(low, high)), window)
    add("QuantizedReshape", (levels("quint8", 3, 4), array([2, -1], "int32"), *bounds(low, high)))
    for other_low, other_high in RANGES:
        both = bounds(low, high, other_low, other_high)
        a, b = levels("quint8", 4, 3), levels("quint8", 4, 3)
        add("QuantizedMul", (a, b, *both))
        add("QuantizedAdd", (a, b, *both))
        add("QuantizedMul", (a, levels("quint8", 3), *both))
        add("QuantizedAdd", (a, levels("quint8", 3), *both))
        add("QuantizedMatMul", (a, b, *both), {"transpose_a": True})
        add("QuantizedMatMul", (a, b, *both), {"transpose_b": True})
        for dtype in ("quint8", "qint8"):
            biased = levels(dtype, 4, 3), levels(dtype, 3)
            add("QuantizedBiasAdd", (*biased, *both), {"out_type": "qint32"})
        for dtype in ("quint8", "qint32"):
            pieces = [levels(dtype, 2, 3), levels(dtype, 4, 3)]
            add(
                "QuantizedConcat",
                (
                    array(0, "int32"),
                    pieces,
                    list(bounds(low, other_low)),
                    list(bounds(high, other_high)),
                ),
            )
        for padding in ("SAME", "VALID"):
            add(
                "QuantizedConv2D",
                (levels("quint8", 2, 5, 6, 3), levels("quint8", 3, 2, 3, 4), *both),
                {"strides": [1, 2, 2, 1], "padding": padding},
            )
    wide = levels("qint32", 5, 7)
    add("RequantizationRange", (wide, *bounds(low, high)))
    add("QuantizeDownAndShrinkRange", (wide, *bounds(low, high)), {"out_type": "quint8"})
    near = given("qint32", [-(2**23), 0, 2**20, 2**24, 5])
    add("RequantizationRange", (near, *bounds(low, high)))
    add("QuantizeDownAndShrinkRange", (near, *bounds(low, high)), {"out_type": "quint8"})
    for new_low, new_high in ((0.0, 1.0), (-1.0, 1.0), (-3.7, 2.4)):
        for values in (wide, near):
            options = {"out_type": "quint8"}
            add("Requantize", (values, *bounds(low, high, new_low, new_high)), options)

# TensorFlow has no kernel of this op; a level is a number here.
CASES.append(
    Case(
        "QuantizedReluX",
        (given("quint8", [0, 9, 10, 11, 255]), *bounds(10.0, 0.0, 255.0)),
        expected=(array([0, 9, 10, 10, 10], "uint8"), *bounds(0.0, 255.0)),
    )
)
NUMBERS = f32(4, 3)
OPTIONS: tuple[dict[str, Any], ...] = (
    {"range_given": True},
    {"range_given": True, "num_bits": 4},
    {},
)
for each in OPTIONS:
    CASES.append(Case("QuantizeAndDequantizeV4", (NUMBERS, *bounds(-1.0, 1.5)), each))
CASES += [
    Case(
        "QuantizeAndDequantizeV4",
        (NUMBERS, array([-1.0, -0.2, 0.0], "float32"), array([1.0, 0.3, 0.5], "float32")),
        {"range_given": True},
        label="vectors",
        fails=True,
    ),
    Case(
        "QuantizeAndDequantizeV4Grad",
        (f64(4, 3), f64(4, 3), array(-0.5, "float64"), array(0.7, "float64")),
        grad=False,
    ),
    Case("QuantizedMatMul", (a, b, *bounds(0.0, 1.0, 0.0, 1.0)), label="sizes", fails=True),
    Case("QuantizedMatMul", (a, a, *bounds(0.0, 1.0, 0.0, 1.0)), {"transpose_a": True}, "same"),
    Case(
        "Requantize",
        (near, *bounds(0.0, 1.0, 1.0, 2.0)),
        {"out_type": "quint8"},
        label="above zero",
        fails=True,
    ),
    Case(
        "QuantizedBiasAdd",
        (levels("quint8", 4, 3), levels("quint8", 4), *bounds(0.0, 1.0, 0.0, 1.0)),
        {"out_type": "qint32"},
        label="sizes",
        fails=True,
    ),
]
