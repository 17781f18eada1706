"""Weights that are updated by the product that is their gradient: same values, and exceptions."""

import numpy as np
import pytest

import penstock as tf
from tests.gpu.imitation import imitated_gpu
from tests.gpu.programs import ON_HOST


@pytest.fixture(autouse=True)
def graph():
    with imitated_gpu(), tf.Graph().as_default() as graph:
        yield graph


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def network(use_resource=False, rate=0.1, fetches_gradient=False, use_locking=False):
    """Two connected layers: what is fetched, the weights, the step."""
    x = tf.constant(random(4, 5)) * 1.0
    weights = [
        tf.Variable(random(5, 6, seed=1), use_resource=use_resource),
        tf.Variable(random(3, 6, seed=2), use_resource=use_resource),
    ]
    hidden = tf.tanh(tf.matmul(x, weights[0]))
    loss = tf.reduce_sum(tf.square(tf.matmul(hidden, weights[1], transpose_b=True)))
    optimizer = tf.train.GradientDescentOptimizer(rate, use_locking=use_locking)
    gradients = optimizer.compute_gradients(loss, weights)
    fetches = [gradients[0][0]] if fetches_gradient else []
    return fetches, weights, optimizer.apply_gradients(gradients)


def joined(fetches):
    return str(tf.explain(fetches)).count("GradientDescentOfProduct '")


def trained(fetches, weights, step, config=None):
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run([step, fetches])
        return session.run(weights)


@pytest.mark.parametrize("use_resource", [False, True])
def test_values(use_resource):
    fetches, weights, step = network(use_resource)
    assert joined(step) == 2
    ours, theirs = trained(fetches, weights, step), trained(fetches, weights, step, ON_HOST)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("case", "count"), [("fetched", 1), ("locked", 0), ("changing rate", 0), ("host", 0)]
)
def test_left_alone(case, count):
    rate = tf.Variable(0.1, trainable=False) if case == "changing rate" else 0.1
    fetches, weights, step = network(
        rate=rate, fetches_gradient=case == "fetched", use_locking=case == "locked"
    )
    if case == "host":
        with tf.Session(config=ON_HOST) as session:
            assert "OfProduct" not in str(tf.explain(step, (), session))
    else:
        assert joined([step, *fetches]) == count
    ours, theirs = trained(fetches, weights, step), trained(fetches, weights, step, ON_HOST)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_factor_in_a_variables_memory():
    """The gradient of a product of two variables is made of them: both must be the old ones."""
    a, b = tf.Variable(random(4, 4)), tf.Variable(random(4, 4, seed=1))
    loss = tf.reduce_sum(tf.square(tf.matmul(a, b)))
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    assert joined(step) == 0
    ours, theirs = trained([], [a, b], step), trained([], [a, b], step, ON_HOST)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_a_step_that_does_not_fit():
    w = tf.Variable(random(3, 2), validate_shape=False)
    fed = tf.placeholder(tf.float32, [None, None])
    product = tf.matmul(fed * 1.0, fed * 1.0, transpose_b=True)
    step = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(product, w)])
    with tf.Session() as session:
        session.run(w.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="same shape"):
            session.run(step, {fed: random(3, 3)})


def test_a_gradient_that_is_another_output_of_its_node():
    images = tf.constant(random(2, 3, 3, 4))  # whose own gradient, output 0, nobody wants
    scale, offset = tf.Variable(tf.ones(4)), tf.Variable(tf.zeros(4))
    normal = tf.nn.fused_batch_norm(images, scale, offset)[0]
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(normal)))
    assert not np.array_equal(trained([], [scale], step)[0], np.ones(4))
