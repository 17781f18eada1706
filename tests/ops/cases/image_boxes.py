"""Boxes in images."""

import numpy as np

from tests.ops.case import Case, array, f32, f64, i32, ints

CASES: list[Case] = []

# Crops ----------------------------------------------------------------------------------------

BOXES = array(
    [[0.0, 0.0, 1.0, 1.0], [0.1, 0.2, 0.7, 0.9], [0.8, 0.9, 0.1, 0.3], [-0.5, 0.3, 1.4, 0.8]],
    "float32",
)
OF_IMAGE = array([0, 1, 1, 0], "int32")
for dtype in "uint8 uint16 int8 int16 int32 int64 float16 float32 float64".split():
    pixels = ints("int64", 0, 100, 2, 5, 6, 3).astype(dtype)
    inputs = pixels, BOXES, OF_IMAGE, array([4, 3], "int32")
    # Shares of pixels are of single precision, whatever the pixels are.
    atol = 1e-6 if dtype == "float64" else None
    CASES.append(Case("CropAndResize", inputs, label=dtype, atol=atol))
for method in ("bilinear", "nearest"):
    for height, width in ((4, 3), (1, 1), (1, 5), (7, 9)):
        size = array([height, width], "int32")
        CASES += [
            Case(
                "CropAndResize",
                (f32(2, 5, 6, 3), BOXES, OF_IMAGE, size),
                {"method": method, "extrapolation_value": -2.5},
                label=f"{method} to {height}x{width}",
                grad=(0, 1) if method == "bilinear" else (0,),
                rtol=1e-4,
            ),
            Case(
                "CropAndResizeGradImage",
                (f32(4, height, width, 3), BOXES, OF_IMAGE, array([2, 5, 6, 3], "int32")),
                {"method": method, "T": "float32"},
                label=f"{method} of {height}x{width}",
                grad=False,
                rtol=1e-4,
            ),
        ]
for dtype in ("float16", "float64"):
    CASES.append(
        Case(
            "CropAndResizeGradImage",
            (f32(4, 3, 4, 2), BOXES, OF_IMAGE, array([2, 5, 6, 2], "int32")),
            {"T": dtype},
            label=dtype,
            grad=False,
            atol=1e-3 if dtype == "float16" else 1e-6,
        )
    )
for dtype in ("uint8", "int32", "float64", "float32"):
    pixels = ints("int64", 0, 100, 2, 5, 6, 3).astype(dtype)
    CASES.append(
        Case(
            "CropAndResizeGradBoxes",
            (f32(4, 3, 4, 3), pixels, BOXES, OF_IMAGE),
            label=dtype,
            grad=False,
            rtol=1e-4,
        )
    )
SIZE = array([2, 2], "int32")
CASES += [
    Case(
        "CropAndResize",
        (f32(2, 5, 6, 3), f32(0, 4), array([], "int32"), SIZE),
        label="no boxes",
        grad=False,
    ),
    Case(
        "CropAndResize",
        (f32(2, 5, 6, 3), BOXES, array([0, 1, 2, 0], "int32"), SIZE),
        label="no such image",
        fails=True,
    ),
    Case("CropAndResize", (f32(2, 5, 6, 3), BOXES, i32(0, 1, 3), SIZE), label="counts", fails=True),
    Case(
        "CropAndResize",
        (f32(2, 5, 6, 3), BOXES, OF_IMAGE, array([0, 2], "int32")),
        label="to nothing",
        fails=True,
    ),
    Case("CropAndResize", (f32(5, 6, 3), BOXES, OF_IMAGE, SIZE), label="one image", fails=True),
]

# Suppression ----------------------------------------------------------------------------------

CLUSTERS = array(
    [
        [0, 0, 1, 1],
        [0, 0.1, 1, 1.1],
        [0, -0.1, 1, 0.9],
        [0, 10, 1, 11],
        [0, 10.1, 1, 11.1],
        [0, 100, 1, 101],
    ],
    "float32",
)
SCORES = array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], "float32")
FLIPPED = array([[1, 1, 0, 0], [0, 0.1, 1, 1.1], [0, 0.9, 1, -0.1], [0, 10, 1, 11]], "float32")
HALF = array(0.5, "float32")
ONE = array(1.0, "float32")
LOWEST = array(-np.inf, "float32")


def most(count: int) -> np.ndarray:
    return array(count, "int32")


def random_boxes(count: int) -> np.ndarray:
    corners = f32(count, 2, lo=0.0, hi=1.0)
    return np.concatenate([corners, corners + f32(count, 2, lo=0.0, hi=0.6)], 1)


SETS = {
    "three clusters": (CLUSTERS, SCORES, most(3)),
    "more than there are": (CLUSTERS, SCORES, most(30)),
    "fewer": (CLUSTERS, SCORES, most(2)),
    "none": (CLUSTERS, SCORES, most(0)),
    "flipped": (FLIPPED, SCORES[:4], most(4)),
    "identical boxes": (np.repeat(CLUSTERS[:1], 6, 0), SCORES, most(6)),
    "no boxes": (f32(0, 4), f32(0), most(3)),
    "many": (random_boxes(60), f32(60, lo=0.0, hi=1.0), most(20)),
}
SOFT = ((0.0, -np.inf, False), (0.5, 0.05, True), (0.5, 0.0, False))
for name, inputs in SETS.items():
    CASES += [
        Case("NonMaxSuppression", inputs, {"iou_threshold": 0.5}, label=name),
        Case("NonMaxSuppressionV2", (*inputs, HALF), label=name),
        Case("NonMaxSuppressionV3", (*inputs, HALF, LOWEST), label=name),
        Case("NonMaxSuppressionV3", (*inputs, HALF, array(0.4, "float32")), label=f"{name} best"),
        Case("NonMaxSuppressionV4", (*inputs, HALF, LOWEST), label=name),
        Case(
            "NonMaxSuppressionV4",
            (*inputs, array(0.3, "float32"), array(0.4, "float32")),
            {"pad_to_max_output_size": True},
            label=f"{name} padded",
        ),
        *(
            Case(
                "NonMaxSuppressionV5",
                (*inputs, limit, array(least, "float32"), array(sigma, "float32")),
                {"pad_to_max_output_size": padded},
                label=f"{name} sigma {sigma} {'padded' if padded else ''}".strip(),
                rtol=1e-4,
                grad=False,
            )
            for sigma, least, padded, limit in (
                (0.0, -np.inf, False, HALF),
                # Later releases than 1.15 know no limit for these.
                (0.5, 0.05, True, ONE),
                (0.5, 0.0, False, ONE),
            )
            if not sigma or name != "identical boxes"
        ),
    ]
HALF_PRECISION = tuple(value.astype("float16") for value in (CLUSTERS, SCORES))
CASES += [
    Case("NonMaxSuppressionV2", (*HALF_PRECISION, most(3), HALF), label="float16"),
    Case("NonMaxSuppressionV3", (*HALF_PRECISION, most(3), HALF, LOWEST), label="float16"),
    Case(
        "NonMaxSuppressionV3",
        (CLUSTERS, SCORES, most(3), array(1.5, "float32"), LOWEST),
        label="threshold",
        fails=True,
    ),
    Case("NonMaxSuppressionV2", (CLUSTERS[:, :3], SCORES, most(3), HALF), label="3", fails=True),
    Case("NonMaxSuppressionV2", (CLUSTERS, SCORES[:4], most(3), HALF), label="counts", fails=True),
    Case("NonMaxSuppressionV2", (CLUSTERS[0], SCORES, most(3), HALF), label="one box", fails=True),
    Case("NonMaxSuppressionV2", (CLUSTERS, SCORES, i32(0, 3, 1), HALF), label="vector", fails=True),
]
OVERLAPS = f32(6, 6, lo=0.0, hi=1.0)
CASES += [
    Case("NonMaxSuppressionWithOverlaps", (OVERLAPS, SCORES, most(3), HALF, LOWEST)),
    Case(
        "NonMaxSuppressionWithOverlaps",
        (OVERLAPS, SCORES, most(6), array(0.8, "float32"), array(0.55, "float32")),
        label="best",
    ),
    Case(
        "NonMaxSuppressionWithOverlaps",
        (OVERLAPS[:5], SCORES, most(6), HALF, LOWEST),
        label="not square",
        fails=True,
    ),
]


def combined(classes: int, box_classes: int, clip: bool = True):
    corners = f32(2, 12, box_classes, 2, lo=0.0, hi=1.0)
    boxes = np.concatenate([corners, corners + 0.3], -1)
    return boxes, f32(2, 12, classes, lo=0.0, hi=1.0)


for classes, box_classes in ((1, 1), (3, 1), (3, 3)):
    for padded in (False, True):
        for clip in (False, True):
            for per_class, total in ((4, 6), (2, 20), (20, 5)):
                CASES.append(
                    Case(
                        "CombinedNonMaxSuppression",
                        (
                            *combined(classes, box_classes),
                            most(per_class),
                            most(total),
                            array(0.3, "float32"),
                            array(0.2, "float32"),
                        ),
                        {"pad_per_class": padded, "clip_boxes": clip},
                        label=f"{classes} {box_classes} {padded} {clip} {per_class} {total}",
                        grad=False,
                    )
                )
CASES += [
    Case(
        "CombinedNonMaxSuppression",
        (*combined(3, 2), most(3), most(3), HALF, HALF),
        label="classes",
        fails=True,
    ),
    Case(
        "CombinedNonMaxSuppression",
        (*combined(3, 1), most(3), most(0), HALF, HALF),
        label="nothing",
        fails=True,
    ),
]

# Drawing --------------------------------------------------------------------------------------

DRAWN = array(
    [
        [[0.1, 0.2, 0.6, 0.8], [0, 0, 1, 1], [-0.3, 0.4, 0.5, 1.4], [0.5, 0.5, 0.1, 0.7]],
        [[0.3, 0.3, 0.3, 0.3], [1.2, 0, 1.5, 1], [0.9, 0.1, 1, 0.2], [0.25, 0.5, 0.75, 0.6]],
    ],
    "float32",
)
for channels in (1, 3, 4):
    CASES += [
        Case("DrawBoundingBoxes", (f32(2, 7, 9, channels), DRAWN), label=f"{channels} channels"),
        Case(
            "DrawBoundingBoxesV2",
            (f32(2, 7, 9, channels), DRAWN, f32(3, channels)),
            label=f"{channels} channels",
            grad=False,
        ),
        Case(
            "DrawBoundingBoxesV2",
            (f32(2, 7, 9, channels), DRAWN, f32(0, channels)),
            label=f"{channels} channels default",
            grad=False,
        ),
    ]
CASES += [
    Case("DrawBoundingBoxes", (f32(1, 5, 5, 3), f32(1, 0, 4)), label="no boxes"),
    Case("DrawBoundingBoxes", (f32(1, 5, 5, 3), np.tile(DRAWN[:1], (1, 4, 1))), label="many"),
    Case("DrawBoundingBoxes", (f32(5, 5, 3), DRAWN), label="one image", fails=True),
]

# Random boxes ---------------------------------------------------------------------------------

IMAGE = array([40, 60, 3], "int32")
OBJECTS = array([[[0.1, 0.2, 0.5, 0.7], [0.4, 0.4, 0.9, 0.6]]], "float32")
for seed in range(12):
    attrs = {"seed": seed, "seed2": 5}
    CASES.append(
        Case(
            "SampleDistortedBoundingBoxV2",
            (IMAGE, OBJECTS, array(0.1 * (seed % 8), "float32")),
            attrs,
            label=f"seed {seed}",
            grad=False,
        )
    )
WIDE = {"seed": 3, "aspect_ratio_range": [0.5, 2.0], "area_range": [0.02, 0.9]}
for name, size in (("tall", [300, 20, 1]), ("wide", [17, 400, 3]), ("tiny", [2, 3, 3])):
    for dtype in ("int16", "int32", "int64"):
        CASES.append(
            Case(
                "SampleDistortedBoundingBoxV2",
                (array(size, dtype), OBJECTS, array(0.1, "float32")),
                WIDE,
                label=f"{name} {dtype}",
                grad=False,
            )
        )
for dtype in ("uint8", "int8"):
    CASES.append(
        Case(
            "SampleDistortedBoundingBoxV2",
            (array([40, 60, 3], dtype), OBJECTS, array(0.1, "float32")),
            WIDE,
            label=dtype,
            grad=False,
        )
    )
NOTHING = f32(1, 0, 4)
CASES += [
    Case(
        "SampleDistortedBoundingBox",
        (IMAGE, OBJECTS),
        {"seed": 4, "min_object_covered": 0.3},
        grad=False,
    ),
    Case(
        "SampleDistortedBoundingBoxV2",
        (IMAGE, NOTHING, array(0.1, "float32")),
        {"seed": 4, "use_image_if_no_bounding_boxes": True},
        label="whole image",
        grad=False,
    ),
    Case(
        "SampleDistortedBoundingBoxV2",
        (IMAGE, OBJECTS, array(1.0, "float32")),
        {"seed": 4, "area_range": [0.01, 0.02], "max_attempts": 3},
        label="impossible",
        grad=False,
    ),
    Case(
        "SampleDistortedBoundingBoxV2",
        (IMAGE, NOTHING, array(0.1, "float32")),
        {"seed": 4},
        label="no boxes",
        fails=True,
    ),
    Case(
        "SampleDistortedBoundingBoxV2",
        (IMAGE, OBJECTS * 2, array(0.1, "float32")),
        {"seed": 4},
        label="outside",
        fails=True,
    ),
    Case(
        "SampleDistortedBoundingBoxV2",
        (IMAGE, OBJECTS, array(0.1, "float32")),
        {"seed": 4, "area_range": [0.5, 0.2]},
        label="decreasing range",
        grad=False,
    ),
    Case(
        "SampleDistortedBoundingBoxV2",
        (IMAGE, OBJECTS, array(0.1, "float32")),
        {"seed": 4, "area_range": [0.5, 1.2]},
        label="range",
        fails=True,
    ),
    Case(
        "SampleDistortedBoundingBoxV2",
        (array([40, 60], "int32"), OBJECTS, array(0.1, "float32")),
        {"seed": 4},
        label="two sizes",
        fails=True,
    ),
    Case("NonMaxSuppression", (f64(2, 4), f32(2), most(1)), label="type", fails=True),
]
