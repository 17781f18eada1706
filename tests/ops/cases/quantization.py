"""Quantization to integers and back."""

import numpy as np

from tests.ops.case import Case, array, f32, f64

TYPES = ("qint8", "quint8", "qint16", "quint16")
MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
NUMBERS = array([-1.0, -0.5, 0.0, 0.3, 0.31, 1.2, 100.0, -100.0, 1.75], "float32")


def number(value: float, dtype: str = "float32") -> np.ndarray:
    return array(value, dtype)


def _fields(dtype: str, values: tuple[int, ...]) -> np.ndarray:
    """NumPy's form of a quantized type: one field of the integer type."""
    kind = dtype.replace("q", "", 1)
    return np.array(values, kind).view(np.dtype([(dtype, kind)]))


CASES: list[Case] = []
for dtype in TYPES:
    for mode in MODES:
        options = {"T": dtype, "mode": mode}
        for low, high in ((-1.0, 2.0), (0.0, 4.0), (0.5, 0.5)):
            CASES.append(Case("QuantizeV2", (NUMBERS, number(low), number(high)), options))
        CASES.append(
            Case(
                "Dequantize",
                (_fields(dtype, (0, 3, 64, 127)), number(-1.0), number(2.0)),
                {"mode": mode},
            )
        )
for options in (
    {"round_mode": "HALF_TO_EVEN"},
    {"narrow_range": True},
    {"ensure_minimum_range": 0.5},
):
    CASES.append(
        Case(
            "QuantizeV2",
            (NUMBERS, number(-1.0), number(1.0)),
            {"T": "qint8", "mode": "SCALED", **options},
        )
    )
CASES += [
    Case(
        "QuantizeV2",
        (f32(3, 4), array([-1.0, 0.0, -2.0], "float32"), array([1.0, 1.0, 3.0], "float32")),
        {"T": "qint8", "mode": "SCALED", "axis": 0},
        label="axis",
    ),
    Case(
        "QuantizeV2",
        (NUMBERS, number(2.0), number(1.0)),
        {"T": "qint8"},
        label="bounds",
        fails=True,
    ),
]
for options in (
    {},
    {"signed_input": False},
    {"num_bits": 4},
    {"range_given": True},
    {"range_given": True, "narrow_range": True},
    {"range_given": True, "round_mode": "HALF_UP"},
):
    CASES += [
        Case(
            "QuantizeAndDequantizeV2",
            (f32(4, 3), number(-0.8), number(1.1)),
            options,
            grad=(0,),
            numeric=False,
        ),
        Case(
            "QuantizeAndDequantizeV2",
            (f64(4, 3), number(-0.8, "float64"), number(1.1, "float64")),
            options,
            grad=(0,),
            numeric=False,
        ),
    ]
CASES += [
    Case(
        "QuantizeAndDequantizeV3",
        (f32(4, 3), number(-0.8), number(1.1), array(bits, "int32")),
        grad=(0,),
        numeric=False,
    )
    for bits in (4, 8)
]
CASES += [
    Case(
        "QuantizeAndDequantizeV3",
        (f32(4, 3), number(1.8), number(1.1), array(8, "int32")),
        label="bounds",
        fails=True,
    ),
    Case(
        "QuantizeAndDequantizeV3",
        (f32(4, 3), number(0.8), number(1.1), array(0, "int32")),
        label="no bits",
        fails=True,
    ),
]
