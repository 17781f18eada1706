"""Gradients that come as rows (of `tf.gather`) to ops whose own gradients are dense."""

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode

X = (np.arange(1, 13, dtype=np.float32) / 13).reshape(4, 3)

FUNCTIONS = {
    "square": tf.square,
    "exp": tf.exp,
    "log": tf.log,
    "tanh": tf.tanh,
    "sigmoid": tf.sigmoid,
    "sin": tf.sin,
    "erf": tf.erf,
    "atan2": lambda x: tf.atan2(x, tf.constant(X)),
    "squared difference": lambda x: tf.squared_difference(x, [1.0, 2.0, 3.0]),
    "sum": lambda x: tf.reduce_sum(x, 1),
    "mean": lambda x: tf.reduce_mean(x, 1, keepdims=True),
    "sum of columns": lambda x: tf.reduce_sum(x, 0),
    "layer": lambda x: tf.tanh(tf.matmul(x, tf.constant(X[:3])) + [1.0, 2.0, 3.0]),
}


def _by_slices(y):
    return tf.stack([y[0], y[1], y[1]])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_give_the_gradient_of_slices(name):
    x = tf.constant(X)
    y = FUNCTIONS[name](x)
    of_rows = tf.gradients(tf.gather(y, [0, 1, 1]), x)[0]
    of_slices = tf.gradients(_by_slices(y), x)[0]
    with tf.Session() as session:
        np.testing.assert_allclose(*session.run([of_rows, of_slices]), rtol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tapes_do_so_too(name):
    with eager_mode():
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = FUNCTIONS[name](x)
            rows, slices = tf.gather(y, [0, 1, 1]), _by_slices(y)
        np.testing.assert_allclose(
            tf.convert_to_tensor(tape.gradient(rows, x)).numpy(),
            tape.gradient(slices, x).numpy(),
            rtol=1e-6,
        )


def test_sums_of_unknown_sizes():
    x = tf.placeholder(tf.float32, [None, None])
    with pytest.warns(UserWarning, match="Converting sparse IndexedSlices"):
        gradient = tf.gradients(tf.gather(tf.reduce_sum(x, 1), [0, 1, 1]), x)[0]
    with tf.Session() as session:
        found = session.run(gradient, {x: X})
    np.testing.assert_array_equal(found, np.array([[1], [2], [0], [0]]) * np.ones(3))
