"""Convolutions that resize or pad first."""

from tests.ops.case import Case, array, f32, floats

PADDINGS = array([[0, 0], [1, 2], [2, 1], [0, 0]], "int32")

CASES: list[Case] = []
for mode in ("REFLECT", "SYMMETRIC"):
    for padding in ("SAME", "VALID"):
        options = {"mode": mode, "padding": padding, "strides": [1, 2, 1, 1]}
        for dtype in ("float16", "float32", "float64"):
            # One image: TensorFlow convolves wrong numbers in all others.
            image, filters = floats(dtype, 1, 5, 6, 3), floats(dtype, 3, 2, 3, 4)
            CASES += [
                Case("FusedPadConv2D", (image, PADDINGS, filters), options, grad=False),
                Case(
                    "FusedResizeAndPadConv2D",
                    (image, array([7, 4], "int32"), PADDINGS, filters),
                    {**options, "resize_align_corners": padding == "SAME"},
                    grad=False,
                ),
            ]
OPTIONS = {"mode": "REFLECT", "padding": "SAME", "strides": [1, 1, 1, 1]}
CASES += [
    Case("FusedPadConv2D", (f32(1, 5, 6, 2), PADDINGS, f32(3, 3, 3, 4)), OPTIONS, fails=True),
    Case("FusedPadConv2D", (f32(1, 5, 6, 3), PADDINGS[1:], f32(3, 3, 3, 4)), OPTIONS, fails=True),
    Case("FusedPadConv2D", (f32(1, 2, 2, 3), PADDINGS, f32(3, 3, 3, 4)), OPTIONS, fails=True),
    Case(
        "FusedResizeAndPadConv2D",
        (f32(1, 5, 6, 3), array([0, 4], "int32"), PADDINGS, f32(3, 3, 3, 4)),
        OPTIONS,
        fails=True,
    ),
]
