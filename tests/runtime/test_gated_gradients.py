"""Loops that optimizers train: gated gradients leave them in the form that plans are made of."""

import dataclasses

import numpy as np
import pytest

import penstock as tf


def _initial_state(w):
    x = tf.constant(np.random.default_rng(0).standard_normal([2, 5, 3]).astype(np.float32))
    cell = tf.nn.rnn_cell.GRUCell(3)
    return tf.nn.dynamic_rnn(cell, x, sequence_length=[5, 2], initial_state=w[:2])[0]


def _encoder_and_decoder(w):
    x = tf.reshape(w, [1, 3, 3])
    _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3), x, dtype=tf.float32, scope="encoder")
    decoder = tf.nn.rnn_cell.LSTMCell(3)
    return tf.nn.dynamic_rnn(decoder, x, initial_state=state, scope="decoder")[0]


def _scan(w):
    return tf.scan(lambda total, row: tf.tanh(0.5 * total + row), w)


def _nested(w):
    def inner(x):
        return tf.while_loop(lambda j, _: j < 2, lambda j, y: (j + 1, tf.matmul(y, w)), [0, x])[1]

    return tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, tf.tanh(inner(x))), [0, w])[1]


def _condition_in_a_loop(w):
    def body(i, x):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.matmul(x, w), lambda: tf.sin(x))

    return tf.while_loop(lambda i, _: i < 4, body, [0, w])[1]


def _loop_in_a_condition(w):
    def loop():
        body = lambda i, x: (i + 1, tf.matmul(tf.tanh(x), w))  # noqa: E731
        return tf.while_loop(lambda i, _: i < 3, body, [0, w])[1]

    return tf.cond(tf.reduce_sum(w) < 100.0, loop, lambda: 2.0 * w)


def _no_iteration(w):
    count = tf.placeholder_with_default(0, [])
    return tf.while_loop(lambda i, _: i < count, lambda i, x: (i + 1, tf.matmul(x, w)), [0, w])[1]


def trained(function, gate, structure):
    """The losses of some steps of training, and whether a plan ran them."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        start = np.random.default_rng(1).standard_normal([3, 3]).astype(np.float32) / 2
        loss = tf.reduce_sum(tf.square(function(tf.get_variable("w", initializer=start))))
        optimizer = tf.train.GradientDescentOptimizer(0.05)
        train = optimizer.minimize(loss, gate_gradients=gate)
        with tf.Session() as session:
            runtime = session._runtime
            runtime.options = dataclasses.replace(runtime.options, structure=structure)
            session.run(tf.global_variables_initializer())
            planned = session._prepare(None, [loss, train], {}).step.plan is not None
            return [session.run([loss, train])[0] for _ in range(4)], planned


@pytest.mark.parametrize(
    "function",
    [
        _initial_state,
        _encoder_and_decoder,
        _scan,
        _nested,
        _condition_in_a_loop,
        _loop_in_a_condition,
        _no_iteration,
    ],
)
@pytest.mark.parametrize("gate", [tf.train.Optimizer.GATE_OP, tf.train.Optimizer.GATE_GRAPH])
def test_plans_train_as_the_executor_does(function, gate):
    planned, has_plan = trained(function, gate, structure=True)
    executed, _ = trained(function, gate, structure=False)
    assert has_plan
    np.testing.assert_allclose(planned, executed, rtol=1e-5)
    assert planned[-1] < planned[0]
