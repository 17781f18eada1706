"""Patches of volumes."""

from tests.ops.case import Case, f32, f64, ints

TYPES = "float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
STRIDES = [1, 2, 1, 2, 1]

# TensorFlow forgets a dimension where the sizes of volumes are unknown.
CASES: list[Case] = []
for padding in ("SAME", "VALID"):
    options = {"ksizes": [1, 2, 2, 3, 1], "strides": STRIDES, "padding": padding}
    CASES += [
        Case("ExtractVolumePatches", (f32(2, 4, 3, 5, 2),), options, static_shapes=False),
        Case("ExtractVolumePatches", (f64(1, 3, 4, 3, 2),), options, static_shapes=False),
        Case(
            "ExtractVolumePatches", (f32(0, 4, 3, 5, 2),), options, grad=False, static_shapes=False
        ),
    ]
for dtype in TYPES:
    options = {"ksizes": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "SAME"}
    CASES.append(
        Case(
            "ExtractVolumePatches",
            (ints(dtype, 0, 99, 1, 2, 3, 2, 1),),
            options,
            grad=False,
            static_shapes=False,
        )
    )
CASES += [
    Case(
        "ExtractVolumePatches",
        (f32(1, 2, 2, 2, 1),),
        {"ksizes": [1, 2, 2, 2, 2], "strides": [1, 1, 1, 1, 1], "padding": "SAME"},
        fails=True,
    ),
    Case(
        "ExtractVolumePatches",
        (f32(1, 2, 2, 2, 1),),
        {"ksizes": [1, 2, 2, 2, 1], "strides": [2, 1, 1, 1, 1], "padding": "SAME"},
        fails=True,
    ),
    Case(
        "ExtractVolumePatches",
        (f32(2, 2, 2, 1),),
        {"ksizes": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "SAME"},
        fails=True,
    ),
]
