"""Weight gradients in loops are collected and multiplied at once; the values stay the same."""

import numpy as np
import pytest

import penstock as tf
from penstock.passes.pipeline import PassOptions


def _gradient(iterations, rows, structure):
    with tf.Graph().as_default():
        rng = np.random.default_rng(iterations)
        weight = tf.constant(rng.normal(size=(4, 4)) / 3, tf.float64)
        start = tf.constant(rng.normal(size=(rows, 4)), tf.float64)
        step = lambda i, x: (i + 1, tf.tanh(tf.matmul(x, weight)))  # noqa: E731
        result = tf.while_loop(lambda i, x: i < iterations, step, [0, start])[1]
        found = tf.gradients(result, [weight, start])
        with tf.Session() as sess:
            sess._runtime.options = PassOptions(structure=structure)
            return sess.run(found), str(tf.explain(found))


@pytest.mark.parametrize(("iterations", "rows"), [(0, 2), (1, 2), (5, 3), (40, 30)])
def test_gradients_equal_those_of_the_executor(iterations, rows):
    planned, text = _gradient(iterations, rows, structure=True)
    executed, _ = _gradient(iterations, rows, structure=False)
    for one, other in zip(planned, executed, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert "_While" in text


def test_a_sum_that_is_read_on_the_way_is_not_collected():
    a = tf.constant(np.arange(6.0).reshape(3, 2))

    def body(i, total, seen):
        return i + 1, total + tf.matmul(a, a, transpose_a=True), seen + tf.reduce_sum(total)

    start = [0, tf.zeros([2, 2], tf.float64), tf.zeros([], tf.float64)]
    _, total, seen = tf.while_loop(lambda i, *_: i < 4, body, start)
    product = np.arange(6.0).reshape(3, 2)
    product = product.T @ product
    with tf.Session() as sess:
        total_value, seen_value = sess.run([total, seen])
    np.testing.assert_allclose(total_value, 4 * product)
    np.testing.assert_allclose(seen_value, product.sum() * (0 + 1 + 2 + 3))


def test_rows_that_do_not_fit_are_an_error_of_the_product():
    a = tf.placeholder(tf.float32, [None, 2])
    b = tf.placeholder(tf.float32, [None, 2])
    body = lambda i, total: (i + 1, total + tf.matmul(a, b, transpose_a=True))  # noqa: E731
    total = tf.while_loop(lambda i, _: i < 2, body, [0, tf.zeros([2, 2])])[1]
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(total, {a: np.ones((3, 2)), b: np.ones((4, 2))})
