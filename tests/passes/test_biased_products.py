"""Linear layers in one call: the same values, and what must stay as it is."""

import numpy as np
import pytest

import penstock as tf
from penstock import errors


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def made_of(fetches, feeds=()):
    """How many nodes of a run are products with biases."""
    return str(tf.explain(fetches, feeds)).count("_BiasedMatMul '")


ADDITIONS = {
    "bias_add": tf.nn.bias_add,
    "add": lambda product, bias: product + bias,
    "bias first": lambda product, bias: bias + product,
}


@pytest.mark.parametrize("addition", ADDITIONS)
@pytest.mark.parametrize("rectified", [True, False])
@pytest.mark.parametrize("turns", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("rows", [3, 300])
def test_values_and_gradients(addition, rectified, turns, rows):
    a, b, bias = random(rows, 130), random(130, 140, seed=1), random(140, seed=2)
    x = tf.placeholder(tf.float32, [130, None] if turns[0] else [None, 130])
    w, v = tf.Variable(b.T if turns[1] else b), tf.Variable(bias)
    product = tf.matmul(x, w, transpose_a=turns[0], transpose_b=turns[1])
    output = ADDITIONS[addition](product, v)
    output = tf.nn.relu(output) if rectified else output
    gradients = tf.gradients(output, [w, v])
    assert made_of([output, *gradients], [x]) == 1
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feed = {x: a.T if turns[0] else a}
        found, of_w, of_v = session.run([output, *gradients], feed)
    expected = a @ b + bias
    passed = expected > 0 if rectified else np.ones_like(expected)
    expected = np.maximum(expected, 0) if rectified else expected
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(of_w.T if turns[1] else of_w, a.T @ passed, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(of_v, passed.sum(0), rtol=1e-4, atol=1e-4)


def test_in_a_loop_and_beside_it():
    x = tf.constant(random(4, 6))
    values = [random(6, 6, seed=1), random(6, seed=2)]
    w, b = map(tf.Variable, values)

    def body(i, state):
        return i + 1, tf.nn.relu(tf.matmul(state, w) + b)

    _, state = tf.while_loop(lambda i, _: i < 3, body, [0, x])
    output = tf.matmul(state, w) + b
    chosen = tf.cond(tf.reduce_sum(x) < 1e9, lambda: tf.matmul(output, w) + b, lambda: output)
    gradients = tf.gradients(chosen, [w, b])
    expected = random(4, 6).astype(np.float64)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, *_ = session.run([chosen, *gradients])
        # At these values, and in steps that pass no kink: it chooses random ones by itself.
        error = tf.test.compute_gradient_error(
            [w, b], [[6, 6], [6]], chosen, [4, 6], x_init_value=values, delta=1e-3
        )
    for _ in range(3):
        expected = np.maximum(expected @ values[0] + values[1], 0)
    for _ in range(2):
        expected = expected @ values[0] + values[1]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    assert error < 0.05 * np.abs(expected).max()
    assert made_of([chosen, *gradients]) >= 1


def test_a_layer_of_the_library():
    x = tf.placeholder(tf.float32, [None, 4])
    output = tf.layers.dense(tf.layers.dense(x, 5, activation=tf.nn.relu), 3)
    assert made_of(output, [x]) == 2


@pytest.mark.parametrize("case", ["fetched", "used twice", "a matrix added", "unknown size"])
def test_left_alone(case):
    x = tf.constant(random(2, 4))
    w = tf.placeholder(tf.float32, [None, 3]) if case == "unknown size" else tf.ones([4, 3])
    product = tf.matmul(tf.identity(x), w) if case == "unknown size" else tf.matmul(x * 2.0, w)
    bias = tf.ones([2, 3]) if case == "a matrix added" else tf.ones([3])
    fetches = [product + bias]
    if case == "fetched":
        fetches.append(product)
    elif case == "used twice":
        fetches.append(tf.exp(product))
    assert made_of(fetches, [w] if case == "unknown size" else []) == 0


def test_a_factor_that_does_not_fit_names_the_users_node():
    x = tf.placeholder(tf.float32, [None, None])
    output = tf.matmul(x, tf.Variable(tf.ones([4, 3])), name="layer") + tf.ones([3])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(errors.InvalidArgumentError, match="MatMul 'layer'"):
            session.run(output, {x: np.ones([2, 5])})


def test_the_fused_node_keeps_the_order_of_state():
    w, v = tf.Variable(tf.ones([2, 2])), tf.Variable(tf.zeros([2]))
    output = tf.matmul(tf.ones([1, 2]), w) + v
    with tf.control_dependencies([output]):
        update = tf.group(w.assign_add(tf.ones([2, 2])), v.assign_add([5.0, 5.0]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, _ = session.run([output, update])
        assert found.tolist() == [[2.0, 2.0]]
        assert session.run(output).tolist() == [[9.0, 9.0]]
