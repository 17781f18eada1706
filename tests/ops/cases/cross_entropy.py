"""Cross entropies that are ops of their own."""

import numpy as np

from tests.ops.case import Case, array, bf16, f16, f32, f64, i32, i64


def _probabilities(*shape: int, dtype: str = "float32") -> np.ndarray:
    drawn = f64(*shape, lo=0.1, hi=1.0)
    return (drawn / drawn.sum(-1, keepdims=True)).astype(dtype)


SOFTMAX, SPARSE = "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"
EDGES = array([[1000, -1000, 0], [0, 0, 0]], "float32")

CASES = [
    Case(SOFTMAX, (f32(2, 3), _probabilities(2, 3))),
    # The second output is the first one's gradient, for labels that sum to one.
    Case(SOFTMAX, (f64(4, 5), _probabilities(4, 5, dtype="float64")), numeric=False),
    Case(SOFTMAX, (f16(2, 3), _probabilities(2, 3, dtype="float16"))),
    Case(SOFTMAX, (bf16(2, 3), _probabilities(2, 3).astype(bf16(1).dtype))),
    Case(SOFTMAX, (f32(1, 3), _probabilities(2, 3)), label="one row of logits", grad=False),
    Case(SOFTMAX, (f32(2, 3), _probabilities(3)), label="one row of labels", grad=False),
    Case(SOFTMAX, (EDGES, array([[0, 1, 0], [0, 0, 0]], "float32")), label="edges", grad=False),
    Case(SOFTMAX, (f32(0, 3), f32(0, 3)), label="no rows"),
    Case(SOFTMAX, (f32(2, 4), f32(2, 3)), label="sizes differ", fails=True),
    Case(SOFTMAX, (f32(3), f32(3)), label="vectors", fails=True),
    Case(SPARSE, (f32(3, 4), i32(0, 4, 3))),
    Case(SPARSE, (f64(3, 4), i64(0, 4, 3)), numeric=False),
    Case(SPARSE, (f16(3, 4), i64(0, 4, 3))),
    Case(SPARSE, (EDGES, array([1, 2], "int64")), label="edges", grad=False),
    Case(SPARSE, (f32(0, 3), i32(0, 3, 0)), label="no rows"),
    Case(SPARSE, (f32(2, 3), array([0, 3], "int32")), label="label too large", fails=True),
    Case(SPARSE, (f32(2, 3), array([-1, 0], "int32")), label="negative label", fails=True),
    Case(SPARSE, (f32(2, 0), array([0, 0], "int32")), label="no classes", fails=True),
    Case(SPARSE, (f32(2, 3), i32(0, 3, 3)), label="sizes differ", fails=True),
    Case(SPARSE, (f32(2, 3), i32(0, 3, 2, 1)), label="matrix of labels", fails=True),
]
