"""Colors of images."""

import numpy as np

from tests.ops.case import Case, array, f32, f64, floats

FACTOR = array(1.7, "float32")
EDGES = array(
    [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [0, 0.2, 0.2]],
    "float32",
)


def pixels(dtype: str, *shape: int) -> np.ndarray:
    return floats(dtype, *shape, lo=0.0, hi=1.0)


CASES: list[Case] = []
for op in ("RGBToHSV", "HSVToRGB"):
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        CASES.append(Case(op, (pixels(dtype, 2, 4, 3),), label=dtype))
    CASES += [
        Case(op, (EDGES,), label="edges", grad=False),
        Case(op, (f32(3),), label="outside the range", grad=False),
        Case(op, (f32(0, 3),), label="empty"),
        Case(op, (f32(2, 2, 4),), label="four channels", fails=True),
        Case(op, (array(1.0, "float32"),), label="a number", fails=True),
    ]
for op, number, label in (
    ("AdjustContrastv2", FACTOR, "more"),
    ("AdjustHue", array(0.3, "float32"), "forwards"),
    ("AdjustHue", array(-0.8, "float32"), "backwards"),
    ("AdjustSaturation", FACTOR, "more"),
    ("AdjustSaturation", array(0.0, "float32"), "none"),
):
    CASES += [
        Case(op, (pixels("float32", 4, 5, 3), number), label=label),
        Case(op, (pixels("float32", 2, 3, 4, 5, 3), number), label=f"{label} batch"),
        Case(op, (EDGES[None], number), label=f"{label} edges"),
        Case(op, (f32(0, 4, 5, 3), number), label=f"{label} empty"),
        Case(op, (f32(4, 3), number), label=f"{label} two dimensions", fails=True),
        Case(op, (f32(2, 4, 3), f32(1)), label=f"{label} vector", fails=True),
    ]
CASES += [
    Case("AdjustContrastv2", (f32(2, 4, 5, 1), FACTOR), label="gray"),
    Case("AdjustHue", (f32(2, 4, 5, 1), FACTOR), label="gray", fails=True),
    Case("AdjustSaturation", (f32(2, 4, 5, 4), FACTOR), label="four channels", fails=True),
    Case("RGBToHSV", (f64(3, 4, 3, lo=0.1, hi=0.9),), label="gradient"),
    # TensorFlow only reads it in old GraphDefs.
    Case(
        "AdjustContrast",
        (
            array([[[0], [4]]], "uint8"),
            array(2.0, "float32"),
            array(-1.0, "float32"),
            array(255.0, "float32"),
        ),
        label="clipped",
        expected=(array([[[-1], [6]]], "float32"),),
    ),
]
