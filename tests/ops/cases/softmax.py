"""Softmax and log-softmax."""

import numpy as np

from tests.ops.case import Case, array, bf16, f16, f32, f64


def _cases(op: str) -> list[Case]:
    return [
        Case(op, (f32(2, 3),)),
        Case(op, (f64(3, 4),)),
        Case(op, (f64(2, 3, 4),)),
        Case(op, (f32(5),)),
        Case(op, (f16(2, 5),)),
        Case(op, (bf16(2, 5),)),
        Case(op, (f32(0, 3),), label="no rows"),
        Case(
            op, (array([[1000, -1000, 0], [-np.inf, 0, 1]], "float32"),), label="edges", grad=False
        ),
        Case(op, (f32(),), label="of a scalar", fails=True),
    ]


CASES = [*_cases("Softmax"), *_cases("LogSoftmax")]
