"""Projective transforms of images."""

from tests.ops.case import Case, array, f32, ints

TURNED = array([[0.8, -0.6, 2.0, 0.6, 0.8, -1.0, 0.0, 0.0]], "float32")
TILTED = array(
    [[1.1, 0.2, -1.0, -0.1, 0.9, 0.5, 0.02, -0.01], [0.5, 0, 0.3, 0, 1.7, -0.6, 0, 0.03]],
    "float32",
)
SIZE = array([5, 7], "int32")

CASES: list[Case] = []
for interpolation in ("NEAREST", "BILINEAR"):
    for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        attrs = {"interpolation": interpolation, "fill_mode": mode}
        label = f"{interpolation} {mode}".lower()
        CASES += [
            Case(
                "ImageProjectiveTransformV2",
                (f32(2, 5, 6, 3), TILTED, SIZE),
                attrs,
                label=f"{label} tilted",
                rtol=1e-4,
            ),
            Case(
                "ImageProjectiveTransformV3",
                (f32(2, 5, 6, 3), TURNED * 2, SIZE, array(1.5, "float32")),
                attrs,
                label=f"{label} turned",
                grad=(0,),
                rtol=1e-4,
            ),
        ]
    for dtype in "uint8 int32 int64 float16 bfloat16 float32 float64".split():
        pixels = ints("int64", 0, 100, 1, 4, 4, 2).astype(array(0, dtype).dtype)
        CASES.append(
            Case(
                "ImageProjectiveTransformV2",
                (pixels, TURNED, SIZE),
                {"interpolation": interpolation},
                label=f"{interpolation.lower()} {dtype}",
                grad=False,
                atol=1e-6 if dtype == "float64" else None,
            )
        )
CASES += [
    Case(
        "ImageProjectiveTransformV2",
        (f32(5, 6, 3), TURNED, SIZE),
        {"interpolation": "NEAREST"},
        label="one image",
        fails=True,
    ),
    Case(
        "ImageProjectiveTransformV2",
        (f32(3, 5, 6, 3), TILTED, SIZE),
        {"interpolation": "NEAREST"},
        label="counts",
        fails=True,
    ),
]
