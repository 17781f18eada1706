"""Recomputation of cheap nodes: the same values, with less kept for the gradients."""

import numpy as np
import pytest

import penstock as tf
from penstock.ir.step_graph import Edge


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        yield graph


def config(scope=None):
    made = tf.ConfigProto()
    options = made.graph_options.rewrite_options
    options.memory_optimization = 5  # RECOMPUTATION_HEURISTICS
    if scope is not None:
        options.memory_optimizer_target_node_name_scope = scope
    return made


def network(depth=6):
    """Layers whose activations are cheap, and large beside the variables."""
    x = tf.placeholder(tf.float32, [256, 8])
    y = x
    for i in range(depth):
        w = tf.get_variable(f"w{i}", [8, 8], initializer=tf.initializers.random_normal(seed=i))
        y = tf.matmul(y, w)
        y = tf.tanh(y) * 2.0 + tf.square(y)
        y = tf.sigmoid(y)
    loss = tf.reduce_mean(y)
    return x, loss, tf.gradients(loss, tf.trainable_variables())


def peak(step):
    """The most bytes of values that are alive at once, in the order of the step."""
    last = {edge: i for i, node in enumerate(step.nodes) for edge in node.inputs}
    last.update(dict.fromkeys(step.fetches, len(step.nodes)))
    alive = most = 0
    ends = {}
    for i, node in enumerate(step.nodes):
        for index, (dtype, shape) in enumerate(zip(node.dtypes, node.shapes, strict=True)):
            edge = Edge(node, index)
            if dtype.is_ref_dtype or node.type == "Const" or edge not in last:
                continue
            size = int(np.prod(shape)) * dtype.size
            alive += size
            ends.setdefault(last[edge], []).append(size)
        most = max(most, alive)
        alive -= sum(ends.get(i, ()))
    return most


def compiled(settings, feeds, fetches):
    with tf.Session(config=settings) as sess:
        return sess._runtime.compile(feeds, fetches, []).placed


def values(settings, x, fetches):
    rows = np.random.RandomState(0).normal(size=(256, 8)).astype(np.float32)
    with tf.Session(config=settings) as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, {x: rows})


def test_same_values_with_less_memory():
    x, _, grads = network()
    plain, small = compiled(None, [x], grads), compiled(config(), [x], grads)
    assert any(node.name.endswith("/again") for node in small.nodes)
    assert peak(small) < 0.8 * peak(plain)
    for one, other in zip(values(None, x, grads), values(config(), x, grads), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_copies_come_beside_their_use():
    x, _, grads = network(2)
    names = [node.name for node in compiled(config(), [x], grads).nodes]
    first = min(i for i, name in enumerate(names) if name.endswith("/again"))
    assert any(name.startswith("gradients") for name in names[:first])


def test_nothing_without_being_asked():
    x, _, grads = network(2)
    assert not any(node.name.endswith("/again") for node in compiled(None, [x], grads).nodes)


def test_scope_of_the_targets():
    x, _, grads = network(2)
    nodes = compiled(config("elsewhere/"), [x], grads).nodes
    assert not any(node.name.endswith("/again") for node in nodes)


def test_a_fetched_value_is_not_computed_twice():
    x = tf.placeholder(tf.float32, [64, 8])
    w = tf.get_variable("w", [8, 8])
    y = tf.sigmoid(tf.matmul(x, w))
    (grad,) = tf.gradients(y, w)
    nodes = compiled(config(), [x], [y, grad]).nodes
    assert [node.type for node in nodes].count("Sigmoid") == 1


def test_what_would_keep_more_than_it_frees_stays():
    """A small sum of large values: to compute it again, they would have to be kept."""
    x = tf.placeholder(tf.float32, [1000, 8])
    w = tf.get_variable("w", [8, 1])
    small = tf.reduce_sum(tf.matmul(x, w))
    (grad,) = tf.gradients(tf.sigmoid(tf.tanh(small)) * small, w)
    nodes = compiled(config(), [x], [grad]).nodes
    assert not any("Sum/again" in node.name for node in nodes)


def test_within_a_step_with_branches():
    x, loss, grads = network(2)
    flag = tf.placeholder_with_default(True, [])
    total = tf.cond(flag, lambda: tf.add_n([tf.reduce_sum(g) for g in grads]), lambda: loss)
    assert values(config(), x, total) == pytest.approx(values(None, x, total), rel=1e-5)


def test_training_goes_on_as_without():
    x, loss, _ = network(2)
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    rows = np.random.RandomState(0).normal(size=(256, 8)).astype(np.float32)
    found = []
    for settings in (None, config()):
        with tf.Session(config=settings) as sess:
            sess.run(tf.global_variables_initializer())
            found.append([sess.run([loss, train], {x: rows})[0] for _ in range(5)])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
