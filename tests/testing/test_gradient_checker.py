"""The gradient checkers: right gradients pass, wrong ones are seen, complex and sparse ones too."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.eager.context import eager_mode
from penstock.testing import gradient_checker_v2


@pytest.fixture(autouse=True)
def _session() -> Any:
    with tf.Graph().as_default(), tf.Session():
        yield


def test_jacobians_of_a_matrix_product() -> None:
    x = tf.constant(np.arange(6.0).reshape(2, 3))
    weights = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = tf.matmul(x, weights)
    theoretical, numeric = tf.test.compute_gradient(x, [2, 3], y, [2, 2])
    expected = np.zeros((6, 4))
    for row in range(2):
        expected[row * 3 : row * 3 + 3, row * 2 : row * 2 + 2] = weights
    np.testing.assert_array_equal(theoretical, expected)
    np.testing.assert_allclose(numeric, expected, atol=1e-8)
    assert theoretical.dtype == numeric.dtype == np.float64


def test_start_value_and_delta_decide_the_numeric_jacobian() -> None:
    x = tf.constant([3.0], tf.float64)
    y = x**3
    start = np.array([2.0])
    theoretical, numeric = tf.test.compute_gradient(x, [1], y, [1], start, delta=0.5)
    assert theoretical.item() == 12
    assert numeric.item() == pytest.approx((2.5**3 - 1.5**3) / 1.0)


def test_a_wrong_gradient_is_seen() -> None:
    @tf.RegisterGradient("WrongSquare")
    def _wrong(op: Any, grad: Any) -> Any:
        return grad * op.inputs[0]

    x = tf.constant([1.0, 2.0])
    with tf.get_default_graph().gradient_override_map({"Square": "WrongSquare"}):
        wrong = tf.square(x)
    start = np.array([1.0, 2.0], np.float32)
    assert tf.test.compute_gradient_error(x, [2], wrong, [2], start) == pytest.approx(2, rel=1e-2)
    assert tf.test.compute_gradient_error(x, [2], tf.square(x), [2], start) < 1e-2


def test_several_arguments_and_other_feeds() -> None:
    x = tf.placeholder(tf.float64, [2])
    z = tf.placeholder(tf.float64, [2])
    scale = tf.placeholder(tf.float64, [])
    y = scale * x * z
    starts = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    feeds = {scale: 10.0, x: starts[0], z: starts[1]}
    pairs = tf.test.compute_gradient(
        [x, z], [[2], [2]], y, [2], x_init_value=starts, extra_feed_dict=feeds
    )
    for (theoretical, numeric), other in zip(pairs, reversed(starts), strict=True):
        np.testing.assert_allclose(theoretical, np.diag(10 * other))
        np.testing.assert_allclose(numeric, np.diag(10 * other), rtol=1e-6, atol=1e-9)


def test_init_targets_run_first() -> None:
    v = tf.Variable([2.0])
    x = tf.constant([1.0])
    error = tf.test.compute_gradient_error(
        x, [1], x * v, [1], init_targets=[tf.global_variables_initializer()]
    )
    assert error < 1e-2


def test_complex_numbers_count_as_two_reals() -> None:
    x = tf.constant([1 + 2j], tf.complex128)
    y = x * tf.constant([3 + 4j], tf.complex128)
    theoretical, numeric = tf.test.compute_gradient(x, [1], y, [1])
    expected = [[3.0, 4.0], [-4.0, 3.0]]
    np.testing.assert_allclose(theoretical, expected)
    np.testing.assert_allclose(numeric, expected, atol=1e-8)


def test_sparse_gradients_are_added_up_by_row() -> None:
    x = tf.constant(np.ones((3, 2)))
    y = tf.gather(x, [2, 0, 2])
    theoretical, numeric = tf.test.compute_gradient(x, [3, 2], y, [3, 2])
    np.testing.assert_allclose(theoretical, numeric, atol=1e-8)
    assert theoretical[4].tolist() == [1, 0, 0, 0, 1, 0]


def test_an_empty_result() -> None:
    x = tf.constant([1.0, 2.0])
    assert tf.test.compute_gradient_error(x, [2], x[:0], [0]) == 0


def test_integers_are_refused() -> None:
    x = tf.placeholder(tf.int32, [1])
    with pytest.raises(AssertionError, match="Don't support type int32 for x"):
        tf.test.compute_gradient(x, [1], tf.cast(x, tf.float32), [1])


def test_functions() -> None:
    arguments = [np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])]
    theoretical, numeric = gradient_checker_v2.compute_gradient(tf.matmul, arguments)
    np.testing.assert_allclose(theoretical[0], [[3.0], [4.0]])
    np.testing.assert_allclose(theoretical[1], [[1.0], [2.0]])
    assert gradient_checker_v2.max_error(theoretical, numeric) < 1e-8
    with pytest.raises(ValueError, match="`x` must be a list"):
        gradient_checker_v2.compute_gradient(tf.square, 1.0)


def test_functions_in_eager_mode() -> None:
    with eager_mode():
        table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        factor = np.array([2.0 + 1.0j], np.complex64)
        theoretical, numeric = gradient_checker_v2.compute_gradient(
            lambda rows: tf.gather(rows, [1, 1]), [table]
        )
        by_rows = [[0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]]
        np.testing.assert_array_equal(theoretical[0], by_rows)
        assert gradient_checker_v2.max_error(theoretical, numeric) < 1e-3
        found = gradient_checker_v2.compute_gradient(tf.square, [factor])
        np.testing.assert_allclose(found[0][0], [[4, 2], [-2, 4]])
        assert gradient_checker_v2.max_error(*found) < 1e-2
        with pytest.raises(AssertionError, match="unsupported type int32 of argument 0"):
            gradient_checker_v2.compute_gradient(tf.square, [1])


def test_bfloat16() -> None:
    x = tf.placeholder(tf.bfloat16, [1])
    start = np.ones(1, tf.bfloat16.as_numpy_dtype)
    found = tf.test.compute_gradient(x, [1], x * 2, [1], start, delta=0.25)
    assert [float(jacobian.item()) for jacobian in found] == [2, 2]


def test_the_parts_that_programs_call():
    checker = importlib.import_module("penstock.python.ops.gradient_checker")
    x = tf.constant([[1.0, 2.0]])
    y = tf.square(x)
    at = np.array([[1.0, 3.0]])
    with tf.Session():
        dx, dy = checker._compute_dx_and_dy(x, y, (1, 2))
        exact = checker._compute_theoretical_jacobian(x, (1, 2), at, dy, (1, 2), dx, None)
        near = checker._compute_numeric_jacobian(x, (1, 2), at, y, (1, 2), 1e-3, {})
    np.testing.assert_array_equal(exact, [[2, 0], [0, 6]])
    np.testing.assert_allclose(near, exact, atol=1e-2)
