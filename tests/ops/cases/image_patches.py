"""Patches of images."""

from tests.ops.case import Case, array, c64, f32, f64, ints

CASES: list[Case] = []
TYPES = (
    "bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 "
    "complex128"
).split()


def window(ksizes, strides, rates, padding):
    return {
        "ksizes": [1, *ksizes, 1],
        "strides": [1, *strides, 1],
        "rates": [1, *rates, 1],
        "padding": padding,
    }


for padding in ("VALID", "SAME"):
    for name, sizes, strides, rates in (
        ("pixels", (1, 1), (1, 1), (1, 1)),
        ("windows", (2, 3), (1, 1), (1, 1)),
        ("apart", (2, 2), (3, 2), (1, 1)),
        ("dilated", (2, 2), (1, 2), (2, 3)),
    ):
        CASES.append(
            Case(
                "ExtractImagePatches",
                (f64(2, 6, 7, 3),),
                window(sizes, strides, rates, padding),
                label=f"{name} {padding.lower()}",
            )
        )
for dtype in TYPES:
    pixels = ints("int64", 0, 9, 1, 4, 4, 2).astype(array(0, dtype).dtype)
    attrs = window((2, 2), (1, 1), (1, 1), "SAME")
    CASES.append(Case("ExtractImagePatches", (pixels,), attrs, label=dtype, grad=False))
CASES += [
    Case(
        "ExtractImagePatches",
        (f32(0, 4, 4, 2),),
        window((2, 2), (1, 1), (1, 1), "VALID"),
        label="no images",
        grad=False,
    ),
    Case(
        "ExtractImagePatches",
        (f32(1, 4, 4, 2),),
        window((5, 5), (1, 1), (1, 1), "VALID"),
        label="just too large",
        grad=False,
    ),
    Case(
        "ExtractImagePatches",
        (f32(1, 4, 4, 2),),
        window((6, 6), (1, 1), (1, 1), "VALID"),
        label="too large",
        fails=True,
    ),
    Case(
        "ExtractImagePatches",
        (f32(4, 4, 2),),
        window((2, 2), (1, 1), (1, 1), "VALID"),
        label="one image",
        fails=True,
    ),
    Case(
        "ExtractImagePatches",
        (c64(1, 4, 4, 2),),
        {**window((2, 2), (1, 1), (1, 1), "VALID"), "ksizes": [2, 2, 2, 1]},
        label="over images",
        fails=True,
    ),
]

SIZE = array([3, 4], "int32")
for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
    for centered in (True, False):
        for normalized in (True, False):
            offsets = [[0.1, -0.2], [0.3, 0.15]] if normalized else [[1.0, -2.0], [3.0, 1.5]]
            attrs = {"centered": centered, "normalized": normalized, "noise": "zero"}
            attrs["uniform_noise"] = False
            CASES.append(
                Case(
                    op,
                    (f32(2, 9, 11, 3), SIZE, array(offsets, "float32")),
                    attrs,
                    label=f"{'centered ' * centered}{'normalized' * normalized}".strip(),
                    grad=False,
                )
            )
    for name, offset in (("corner", [1.0, 1.0]), ("outside", [3.0, -3.0]), ("edge", [-0.9, 0.9])):
        CASES.append(
            Case(
                op,
                (f32(1, 9, 11, 3), SIZE, array([offset], "float32")),
                {"noise": "zero", "uniform_noise": False},
                label=name,
                grad=False,
            )
        )
    CASES += [
        Case(
            op,
            (f32(1, 3, 3, 2), array([5, 6], "int32"), f32(1, 2)),
            label="uniform noise",
            shape_only=True,
        ),
        Case(
            op,
            (f32(1, 3, 3, 2), array([5, 6], "int32"), f32(1, 2)),
            {"uniform_noise": False, "noise": "gaussian"},
            label="normal noise",
            shape_only=True,
        ),
        Case(
            op,
            (f32(1, 9, 9, 2), array([3, 3], "int32"), array([[0, 0]], "float32")),
            label="inside",
            grad=False,
        ),
        Case(op, (f32(1, 3, 3, 2), SIZE, f32(2, 2)), label="counts", fails=True),
        Case(op, (f32(3, 3, 2), SIZE, f32(1, 2)), label="one image", fails=True),
    ]
CASES += [
    # TensorFlow only reads it in old GraphDefs.
    Case(
        "RandomCrop",
        (array([[[1], [2]], [[3], [4]]], "int32"), array([2, 2], "int64")),
        {"seed": 3},
        expected=(array([[[1], [2]], [[3], [4]]], "int32"),),
    ),
]
