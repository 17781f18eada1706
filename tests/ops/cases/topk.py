"""The largest entries of rows."""

import numpy as np

from tests.ops.case import Case, array, bf16, f16, f32, f64, i32, i64, ints, u8

K = array(2, "int32")
PREDICTIONS = array(
    [[0.1, 0.9, 0.5], [0.1, np.nan, 0.5], [0.1, np.inf, 0.5], [0.1, 0.9, 0.9], [1, 2, 3]], "float32"
)
TIES = array([[3, 1, 3, 2, 3], [1, 1, 1, 1, 1], [-0.0, 0.0, -0.0, 0.0, 0.0]], "float32")

CASES = [
    Case("TopKV2", (f32(3, 5), K)),
    Case("TopKV2", (f64(2, 3, 4), K)),
    Case("TopKV2", (f64(6), array(1, "int64"))),
    Case("TopKV2", (f16(2, 4), array(3, "int16"))),
    Case("TopKV2", (bf16(2, 4), K)),
    Case("TopKV2", (i32(-9, 9, 2, 6), K)),
    Case("TopKV2", (u8(0, 9, 2, 6), K)),
    Case("TopKV2", (ints("uint16", 0, 9, 2, 6), K)),
    Case("TopKV2", (f32(2, 6), array(6, "int32")), label="all"),
    Case("TopKV2", (f32(2, 6), array(0, "int32")), label="none", grad=False),
    Case("TopKV2", (TIES, array(3, "int32")), label="ties", grad=False),
    Case("TopKV2", (TIES, array(1, "int32")), label="first of ties", grad=False),
    Case("TopKV2", (i64(0, 50, 2, 700), array(40, "int32")), label="ties in long rows"),
    Case("TopKV2", (f32(2, 700), array(5, "int32")), label="long rows", grad=False),
    Case("TopKV2", (f32(0, 5), K), label="no rows"),
    Case("TopKV2", (f32(2, 5), K), {"index_type": "int64"}, label="wide positions", grad=False),
    Case("TopKV2", (f32(2, 3), array(5, "int32")), label="too many", fails=True),
    Case("TopKV2", (f32(2, 3), array(-1, "int32")), label="negative", fails=True),
    Case("TopKV2", (f32(), array(1, "int32")), label="of a scalar", fails=True),
    # TensorFlow only reads nodes of this type in old graphs.
    Case(
        "TopK",
        (array([[3, 1, 2], [5, 6, 5]], "float32"),),
        {"k": 2},
        expected=(array([[3, 2], [6, 5]], "float32"), array([[0, 2], [1, 0]], "int32")),
    ),
    Case("InTopK", (PREDICTIONS, array([1, 0, 0, 2, 7], "int32")), {"k": 2}),
    Case("InTopK", (f32(4, 6), i64(0, 6, 4)), {"k": 3}),
    Case("InTopK", (f32(4, 6), i64(0, 6, 4)), {"k": 0}, label="none"),
    Case("InTopKV2", (PREDICTIONS, array([1, 1, 1, 2, -1], "int32"), array(1, "int32"))),
    Case("InTopKV2", (f32(4, 6), i64(0, 6, 4), array(3, "int64"))),
    Case("InTopKV2", (f32(0, 6), i32(0, 6, 0), K), label="no rows"),
    Case("InTopKV2", (f32(2, 3), i32(0, 3, 3), K), label="sizes differ", fails=True),
    Case("InTopKV2", (f32(2, 3, 1), i32(0, 3, 2), K), label="rank three", fails=True),
]
