"""Images in other sizes."""

from tests.ops.case import Case, array, f16, f32, f64, floats, i32, ints, u8

TYPES = "int8 int16 int32 int64 uint8 uint16 float16 bfloat16 float32 float64".split()
# Up, down, up and down, by whole and by odd factors, to and from one pixel, not at all.
SIZES = [
    ((4, 3), (7, 5)),
    ((7, 6), (3, 4)),
    ((5, 4), (10, 2)),
    ((8, 8), (4, 4)),
    ((1, 1), (3, 2)),
    ((5, 6), (1, 1)),
    ((3, 4), (3, 4)),
    ((41, 3), (2, 3)),
]
CORNERS = {
    "": {},
    " aligned": {"align_corners": True},
    " half pixel": {"half_pixel_centers": True},
}


def size(*sizes: int):
    return array(sizes, "int32")


CASES: list[Case] = []
for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"):
    area = op == "ResizeArea"
    for dtype in TYPES:
        pixels = ints("int64", 0, 100, 2, 4, 5, 3).astype(array(0, dtype).dtype)
        # Weights are of single precision, whatever the pixels are.
        atol = 1e-6 if dtype == "float64" else None
        CASES.append(Case(op, (pixels, size(7, 3)), label=dtype, atol=atol, numeric=False))
    for (height, width), wanted in SIZES:
        for label, corners in CORNERS.items():
            if area and "half_pixel_centers" in corners:
                continue
            name = f"{height}x{width} to {wanted[0]}x{wanted[1]}{label}"
            CASES += [
                Case(op, (f32(2, height, width, 3), size(*wanted)), corners, label=name, rtol=1e-4),
                Case(
                    op,
                    (f32(1, height, width, 6), size(*wanted)),
                    corners,
                    label=f"{name} many channels",
                    rtol=1e-4,
                ),
            ]
    CASES += [
        Case(op, (f32(0, 3, 4, 2), size(5, 5)), label="no images"),
        Case(op, (f32(2, 3, 4, 0), size(5, 5)), label="no channels", fails=True),
        Case(op, (f32(1, 0, 4, 2), size(5, 5)), label="no pixels", fails=True),
        Case(op, (f32(1, 3, 4, 2), size(0, 5)), label="to nothing", fails=True),
        Case(op, (f32(1, 3, 4, 2), size(-1, 5)), label="negative size", fails=True),
        Case(op, (f32(3, 4, 2), size(5, 5)), label="one image", fails=True),
        Case(op, (f32(1, 3, 4, 2), size(5)), label="one size", fails=True),
        Case(op, (f32(1, 3, 4, 2), array(5, "int32")), label="scalar size", fails=True),
    ]
    if not area:
        CASES.append(
            Case(
                op,
                (f32(1, 3, 4, 2), size(5, 5)),
                {"align_corners": True, "half_pixel_centers": True},
                label="both corners",
                fails=True,
            )
        )

for op in ("ResizeBilinearGrad", "ResizeBicubicGrad"):
    for (height, width), wanted in SIZES:
        for label, corners in CORNERS.items():
            inputs = f32(2, *wanted, 3), f32(2, height, width, 3)
            name = f"{height}x{width} to {wanted[0]}x{wanted[1]}{label}"
            CASES.append(Case(op, inputs, corners, label=name, grad=False, rtol=1e-4))
    CASES += [
        Case(op, (f32(1, 5, 6, 2), f64(1, 3, 4, 2)), label="float64", grad=False, rtol=1e-5),
        Case(op, (f32(5, 6, 2), f32(1, 3, 4, 2)), label="one image", fails=True),
    ]
CASES += [
    Case("ResizeBilinearGrad", (f32(1, 5, 6, 2), f16(1, 3, 4, 2)), label="float16", grad=False),
    Case(
        "ResizeBilinearGrad",
        (f32(1, 5, 6, 2), floats("bfloat16", 1, 3, 4, 2)),
        label="bfloat16",
        grad=False,
    ),
]
for dtype in "uint8 int8 int32 float16 bfloat16 float32 float64".split():
    grads = ints("int64", 0, 3, 2, 5, 6, 3).astype(array(0, dtype).dtype)
    CASES.append(Case("ResizeNearestNeighborGrad", (grads, size(3, 4)), label=dtype, grad=False))
for label, corners in CORNERS.items():
    CASES += [
        Case(
            "ResizeNearestNeighborGrad",
            (f32(1, 6, 3, 2), size(4, 5)),
            corners,
            label=f"up and down{label}",
            grad=False,
        )
    ]

FILTERS = "lanczos1 lanczos3 lanczos5 gaussian box triangle keyscubic mitchellcubic".split()
for kernel in FILTERS:
    for antialias in (True, False):
        for (height, width), wanted, scale, shift in (
            ((6, 5), (9, 11), (1.5, 2.2), (0.0, 0.0)),
            ((12, 9), (5, 4), (0.4, 0.45), (0.0, 0.0)),
            ((7, 8), (7, 9), (1.1, 0.8), (-1.5, 2.0)),
        ):
            attrs = {"kernel_type": kernel, "antialias": antialias}
            name = f"{kernel} {height}x{width}{' antialias' if antialias else ''}"
            inputs = array(scale, "float32"), array(shift, "float32")
            CASES += [
                Case(
                    "ScaleAndTranslate",
                    (f32(2, height, width, 3), size(*wanted), *inputs),
                    attrs,
                    label=name,
                    grad=(0,),
                    rtol=1e-3,
                    atol=1e-5,
                ),
                Case(
                    "ScaleAndTranslateGrad",
                    (f32(2, *wanted, 3), f32(2, height, width, 3), *inputs),
                    attrs,
                    label=name,
                    grad=False,
                    rtol=1e-3,
                    atol=1e-5,
                ),
            ]
CASES += [
    Case(
        "ScaleAndTranslate",
        (u8(0, 255, 1, 4, 5, 3), size(6, 6), array([1.5, 1.2], "float32"), f32(2, lo=0, hi=0)),
        label="uint8",
        grad=False,
        rtol=1e-4,
    ),
    Case(
        "ScaleAndTranslate",
        (i32(0, 255, 1, 4, 5, 3), size(6, 6), array([0.0, 1.2], "float32"), f32(2, lo=0, hi=0)),
        label="zero scale",
        fails=True,
    ),
    Case(
        "ScaleAndTranslate",
        (f32(1, 4, 5, 3), size(6, 6), array([1.0, 1.2], "float32"), f32(2, lo=0, hi=0)),
        {"kernel_type": "sinc"},
        label="unknown filter",
        fails=True,
    ),
]
