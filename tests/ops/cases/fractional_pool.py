"""Pooling by fractional ratios."""

from itertools import pairwise

import numpy as np

from tests.ops.case import Case, array, f32, f64, ints


def pooled(image: np.ndarray, overlapping: bool) -> np.ndarray:
    """The maxima of the regions between ROWS and COLUMNS."""
    more = int(overlapping)
    return np.stack(
        [
            np.stack(
                [
                    image[:, top : bottom + more, left : right + more].max((1, 2))
                    for left, right in pairwise(COLUMNS)
                ],
                1,
            )
            for top, bottom in pairwise(ROWS)
        ],
        1,
    )


CASES: list[Case] = []
# TensorFlow's rule says that a sequence is shorter by one than it is.
ROWS, COLUMNS = array([0, 2, 3, 5], "int64"), array([0, 1, 3, 4, 6], "int64")
for kind in ("Max", "Avg"):
    op = f"Fractional{kind}Pool"
    for pseudo_random in (False, True):
        for overlapping in (False, True):
            attrs = {
                "pooling_ratio": [1.0, 1.44, 1.73, 1.0],
                "pseudo_random": pseudo_random,
                "overlapping": overlapping,
                "deterministic": True,
                "seed": 87,
                "seed2": 3,
            }
            CASES += [
                Case(op, (f32(2, 13, 17, 3),), attrs, static_shapes=False),
                Case(op, (f64(1, 7, 8, 2),), {**attrs, "seed": 5, "seed2": 0}, static_shapes=False),
                Case(op, (ints("int32", -50, 50, 1, 9, 11, 1),), attrs, static_shapes=False),
                Case(
                    op,
                    (ints("int64", -50, 50, 1, 12, 10, 1),),
                    {**attrs, "seed2": 9},
                    static_shapes=False,
                ),
            ]
    CASES += [
        Case(
            op,
            (f32(2, 6, 8, 1),),
            {"pooling_ratio": [1.0, 2.0, 1.0, 1.0], "deterministic": True, "seed": 1},
            label="whole ratios",
            static_shapes=False,
        ),
        Case(
            op,
            (f32(1, 23, 31, 1),),
            {
                "pooling_ratio": [1.0, 3.3, 4.7, 1.0],
                "pseudo_random": True,
                "deterministic": True,
                "seed": 2,
            },
            label="large ratios",
            static_shapes=False,
        ),
        Case(op, (f32(0, 6, 8, 1),), {"pooling_ratio": [1.0, 1.5, 1.3, 1.0]}, fails=True),
        Case(op, (f32(6, 8, 1),), {"pooling_ratio": [1.0, 2.0, 2.0, 1.0]}, fails=True),
        Case(op, (f32(1, 6, 8, 1),), {"pooling_ratio": [1.0, 0.5, 2.0, 1.0]}, fails=True),
        Case(op, (f32(1, 6, 8, 1),), {"pooling_ratio": [1.5, 1.5, 2.0, 1.0]}, fails=True),
        Case(op, (f32(1, 6, 8, 1),), {"pooling_ratio": [1.0, 7.0, 2.0, 1.0]}, fails=True),
        Case(op, (f32(1, 6, 8, 1),), {"pooling_ratio": [1.0, 2.0, 2.0, 1.0, 1.0]}, fails=True),
        Case(
            op, (f32(1, 6, 8, 1),), {"pooling_ratio": [1.0, 2.0, 2.0, 1.0], "seed": 4}, fails=True
        ),
    ]
for overlapping in (False, True):
    options = {"overlapping": overlapping}
    for dtype in ("float32", "float64", "int32", "int64"):
        image = ints(dtype, -5, 6, 2, 5, 6, 2)
        grad = ints(dtype, -20, 20, 2, 3, 4, 2)
        CASES += [
            Case(
                "FractionalMaxPoolGrad",
                (image, pooled(image, overlapping), grad, ROWS, COLUMNS),
                options,
                grad=False,
            ),
            Case(
                "FractionalAvgPoolGrad",
                (array([2, 5, 6, 2], "int64"), grad, ROWS, COLUMNS),
                options,
                grad=False,
            ),
        ]
CASES += [
    Case("FractionalMaxPoolGrad", (image, grad, grad, ROWS, COLUMNS), fails=True),
    Case("FractionalAvgPoolGrad", (array([2, 5, 6], "int64"), grad, ROWS, COLUMNS), fails=True),
]
