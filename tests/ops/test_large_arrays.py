"""Kernels that compute large arrays in another way than small ones, against NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ir import registry
from penstock.kernels.host_loops import LARGE

ROWS, COLUMNS = 300, 60
SIZE = ROWS * COLUMNS
assert SIZE >= LARGE

SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -2.5], "float32")


def run(op_type: str, *inputs: Any, **attrs: Any) -> Any:
    """The first output, with inputs whose values and shapes the graph does not know."""
    spec = registry.find(op_type)
    assert spec is not None
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(np.asarray(value).dtype) for value in inputs]
        result = spec(*fed, **attrs)
        output = result[0] if isinstance(result, (tuple, list)) else result
        return session.run(output, dict(zip(fed, inputs, strict=True)))


def special(seed: int, dtype: str = "float32") -> np.ndarray:
    """Numbers with zeros, infinities and NaN among them."""
    rng = np.random.RandomState(seed)
    drawn = rng.choice(SPECIAL, SIZE) if dtype.startswith("float") else rng.randint(-3, 4, SIZE)
    return drawn.astype(dtype).reshape(ROWS, COLUMNS)


def normal(seed: int) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal((ROWS, COLUMNS)).astype("float32")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize(
    ("op_type", "expected"),
    [
        ("Less", np.less),
        ("LessEqual", np.less_equal),
        ("Greater", np.greater),
        ("GreaterEqual", np.greater_equal),
        ("Equal", np.equal),
        ("NotEqual", np.not_equal),
    ],
)
def test_comparisons(op_type: str, expected: Callable[..., Any], dtype: str):
    x, y = special(1, dtype), special(2, dtype)
    np.testing.assert_array_equal(run(op_type, x, y), expected(x, y))
    np.testing.assert_array_equal(run(op_type, x, y[0]), expected(x, y[0]))
    np.testing.assert_array_equal(run(op_type, x.T, y.T), expected(x.T, y.T))


@pytest.mark.parametrize(
    ("op_type", "expected"),
    [("IsNan", np.isnan), ("IsInf", np.isinf), ("IsFinite", np.isfinite), ("Sign", np.sign)],
)
def test_kinds_of_numbers(op_type: str, expected: Callable[..., Any]):
    np.testing.assert_array_equal(run(op_type, special(1)), expected(special(1)))


@pytest.mark.parametrize("with_zeros", [True, False])
@pytest.mark.parametrize(
    ("op_type", "value", "tested"),
    [
        ("DivNoNan", np.divide, 1),
        ("MulNoNan", np.multiply, 1),
        ("Xdivy", np.divide, 0),
        ("Xlogy", lambda x, y: x * np.log(y), 0),
        ("Xlog1py", lambda x, y: x * np.log1p(y), 0),
    ],
)
def test_zeros_give_zero(op_type: str, value: Callable[..., Any], tested: int, with_zeros: bool):
    operands = [np.abs(normal(1)) + 0.5, np.abs(normal(2)) + 0.5]
    if with_zeros:
        operands[tested][::3, ::7] = 0
    with np.errstate(all="ignore"):
        expected = np.where(operands[tested] == 0, 0, value(*operands))
    np.testing.assert_allclose(run(op_type, *operands), expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16"])
@pytest.mark.parametrize("op_type", ["Select", "SelectV2"])
def test_select_keeps_every_bit(op_type: str, dtype: str):
    condition = normal(1) > 0
    t, e = special(2, dtype), special(3, dtype)
    chosen = run(op_type, condition, t, e)
    assert chosen.tobytes() == np.where(condition, t, e).tobytes()


def test_selu_gradient_at_zero():
    grad, outputs = normal(1), special(2)
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    expected = grad * np.where(outputs < 0, outputs + scale * alpha, scale)
    np.testing.assert_allclose(run("SeluGrad", grad, outputs), expected, rtol=1e-5)


@pytest.mark.parametrize("axes", [0, 1, [0, 1]])
def test_truths(axes: Any):
    x = np.random.RandomState(0).uniform(size=(ROWS, COLUMNS)) < 0.98
    at = tuple(np.atleast_1d(axes))
    np.testing.assert_array_equal(run("All", x, np.array(axes, "int32")), x.all(at))
    np.testing.assert_array_equal(run("Any", ~x, np.array(axes, "int32")), (~x).any(at))


@pytest.mark.parametrize("axis", [0, 1])
def test_positions_of_extremes(axis: int):
    x = np.random.RandomState(0).randint(0, 9, (ROWS, COLUMNS)).astype("float32")
    np.testing.assert_array_equal(run("ArgMax", x, np.int32(axis)), x.argmax(axis))
    np.testing.assert_array_equal(run("ArgMin", x, np.int32(axis)), x.argmin(axis))


def segments() -> tuple[np.ndarray, np.ndarray]:
    ids = np.sort(np.random.RandomState(0).choice([0, 1, 4, 5, 9], ROWS)).astype("int32")
    return ids, (ids[:, None] == np.arange(10)).astype("float64").T


def test_segments_with_gaps():
    data = normal(1)
    ids, member = segments()
    sums, counts = member @ data, np.maximum(member.sum(1), 1)[:, None]
    np.testing.assert_allclose(run("SegmentSum", data, ids), sums, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(run("SegmentMean", data, ids), sums / counts, rtol=1e-4, atol=1e-5)
    rows = np.random.RandomState(1).randint(0, ROWS, ROWS).astype("int32")
    found = run("SparseSegmentSqrtNWithNumSegments", data, rows, ids, np.int32(12))
    expected = np.zeros((12, COLUMNS))
    expected[:10] = member @ data[rows] / np.sqrt(counts)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_top_k_with_and_without_equal_entries():
    for x in (normal(1), np.round(normal(2))):
        order = np.argsort(-x, axis=1, kind="stable")[:, :5]
        spec = registry.find("TopKV2")
        assert spec is not None
        with tf.Session() as session:
            values, indices = session.run(spec(tf.constant(x), 5))
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))


def test_in_top_k_ignores_rows_that_are_not_finite():
    x = normal(1)
    x[3, 5], x[4, 6] = np.inf, np.nan
    targets = np.random.RandomState(0).randint(0, COLUMNS, ROWS).astype("int32")
    better = (x > x[np.arange(ROWS), targets][:, None]).sum(1)
    expected = (better < 20) & np.isfinite(x).all(1)
    np.testing.assert_array_equal(run("InTopKV2", x, targets, np.int32(20)), expected)


def test_sequences():
    np.testing.assert_array_equal(
        run("Range", np.int32(0), np.int32(SIZE + 5), np.int32(1)), np.arange(SIZE + 5)
    )
    found = run("LinSpace", np.float32(-1), np.float32(3), np.int32(SIZE + 5))
    np.testing.assert_allclose(found, np.linspace(-1, 3, SIZE + 5), rtol=1e-5, atol=1e-6)
    assert found[-1] == 3


@pytest.mark.parametrize("lowest", [0, -2])
def test_one_hot_leaves_out_what_has_no_place(lowest: int):
    indices = np.random.RandomState(0).randint(lowest, COLUMNS, ROWS).astype("int32")
    expected = indices[:, None] == np.arange(COLUMNS)
    found = tf.Session().run(tf.one_hot(tf.placeholder_with_default(indices, [None]), COLUMNS))
    np.testing.assert_array_equal(found, expected)


def test_stitched_rows():
    order = np.random.RandomState(0).permutation(ROWS).astype("int32")
    data = normal(1)
    stitched = tf.dynamic_stitch([order[:100], order[100:]], [data[:100], data[100:]])
    expected = np.empty_like(data)
    expected[order] = data
    np.testing.assert_array_equal(tf.Session().run(stitched), expected)


def test_contrast_of_each_channel():
    image = np.random.RandomState(0).uniform(size=(2, 60, 50, 3)).astype("float32")
    mean = image.mean((1, 2), keepdims=True)
    found = run("AdjustContrastv2", image, np.float32(2))
    np.testing.assert_allclose(found, (image - mean) * 2 + mean, rtol=1e-4, atol=1e-5)


def test_suppression_of_more_boxes_than_a_block():
    rng = np.random.RandomState(0)
    corners = rng.uniform(0, 0.9, (700, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(0.02, 0.1, (700, 2))], 1)
    scores = rng.uniform(size=700).astype("float32")
    found = run(
        "NonMaxSuppressionV2", boxes.astype("float32"), scores, np.int32(650), np.float32(0.2)
    )
    np.testing.assert_array_equal(found, suppressed(boxes.astype("float32"), scores, 0.2))


def suppressed(boxes: np.ndarray, scores: np.ndarray, threshold: float) -> list[int]:
    """Each box against all that were chosen before."""
    chosen: list[int] = []
    for i in np.argsort(-scores):
        if all(overlap(boxes[i], boxes[j]) <= threshold for j in chosen):
            chosen.append(int(i))
    return chosen


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    shared = float(np.prod(np.maximum(sides, 0)))
    return shared / float(np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - shared)
