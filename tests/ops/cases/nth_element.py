"""The n-th smallest entry of each row."""

import numpy as np

from tests.ops.case import Case, array, f32, f64, ints

TYPES = "float16 bfloat16 float32 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
CASES: list[Case] = []
for dtype in TYPES:
    data = ints("int64", 0, 99, 3, 7).astype(array(0, dtype).dtype)
    CASES.append(Case("NthElement", (data, array(2, "int32")), label=dtype))
CASES += [
    Case("NthElement", (f64(2, 3, 5), array(4, "int32")), label="last"),
    Case("NthElement", (f64(2, 5), array(1, "int32")), {"reverse": True}, label="reverse"),
    Case("NthElement", (f32(6), array(0, "int32")), label="vector"),
    Case("NthElement", (f32(0, 6), array(0, "int32")), label="no rows"),
    Case(
        "NthElement",
        (array([[2.0, 2, 1, 2]], "float64"), array(1, "int32")),
        label="ties",
        numeric=False,
    ),
    Case(
        "NthElement",
        (np.array([2**64 - 1, 0, 2**63], np.uint64), array(1, "int32")),
        label="great numbers",
    ),
    Case("NthElement", (f32(3), array(3, "int32")), label="beyond", fails=True),
    Case("NthElement", (f32(3), array(-1, "int32")), label="negative", fails=True),
    Case("NthElement", (array(1.0, "float32"), array(0, "int32")), label="scalar", fails=True),
]
