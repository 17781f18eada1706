"""Gradient descent by scaled gradients: the factor is in the rate, with the same results."""

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def clipped(rate=0.1, use_resource=False, fetches_gradient=False, use_locking=False):
    """A step of clipped gradient descent, what is fetched beside it, and the variables."""
    rng = np.random.default_rng(0)
    variables = [
        tf.Variable(rng.standard_normal(shape).astype(np.float32), use_resource=use_resource)
        for shape in ([5, 3], [3])
    ]
    x = tf.constant(rng.standard_normal([4, 5]).astype(np.float32))
    loss = tf.reduce_sum(tf.square(tf.matmul(x, variables[0]) + variables[1]))
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)
    optimizer = tf.train.GradientDescentOptimizer(rate, use_locking=use_locking)
    train = optimizer.apply_gradients(zip(gradients, variables, strict=True))
    return [train, gradients[:1]] if fetches_gradient else [train], variables


def trained(fetches, variables, config=None):
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(fetches)
        return session.run(variables)


def scaled_rates(fetches):
    """How many gradients are multiplied still, and how many rates are."""
    text = str(tf.explain(fetches))
    return text.count("Mul 'clip_by_global_norm/mul_") - text.count("/rate'("), text.count(
        "/rate'("
    )


AS_WRITTEN = tf.ConfigProto()
AS_WRITTEN.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0


@pytest.mark.parametrize("use_resource", [False, True])
def test_values(use_resource):
    fetches, variables = clipped(use_resource=use_resource)
    assert scaled_rates(fetches) == (0, 1)  # one rate for both
    for ours, theirs in zip(
        trained(fetches, variables), trained(fetches, variables, AS_WRITTEN), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize(
    ("case", "left"),
    [({"fetches_gradient": True}, (1, 1)), ({"use_locking": True}, (2, 0))],
)
def test_left_alone(case, left):
    fetches, variables = clipped(**case)
    assert scaled_rates(fetches) == left
    assert all(np.isfinite(value).all() for value in trained(fetches, variables))


def test_a_rate_is_read_after_what_the_update_waits_for():
    rate = tf.Variable(0.0, trainable=False)
    variable = tf.Variable(np.ones(3, np.float32))
    gradient = tf.constant(np.ones(3, np.float32)) * tf.reduce_sum(tf.ones([2]) * variable[0])
    with tf.control_dependencies([rate.assign(0.25)]):
        optimizer = tf.train.GradientDescentOptimizer(rate)
        train = optimizer.apply_gradients([(gradient, variable)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(variable), np.full(3, 0.5))


def test_a_row_update_in_a_step_with_a_loop_takes_its_rate():
    table = tf.Variable(np.ones((6, 2), np.float32))
    rows = tf.nn.embedding_lookup(table, tf.constant([1, 3, 1]))
    total = tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, x * 2.0), [0, rows])[1]
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(total))
    assert "Mul 'GradientDescent/update_Variable" not in str(tf.explain(train))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        expected = np.ones((6, 2))
        expected[[1, 3]] -= [[8.0], [4.0]]
        np.testing.assert_allclose(session.run(table), expected)
