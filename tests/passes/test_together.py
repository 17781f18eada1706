"""Updates of several variables in one node: the same values, and which updates stay alone."""

import numpy as np
import pytest

import penstock as tf
from penstock.passes.order import order_step
from penstock.passes.prune import prune
from penstock.passes.together import update_together


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


OPTIMIZERS = {
    "descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "no momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.0),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "fed rate": lambda: tf.train.GradientDescentOptimizer(tf.constant(0.05) + tf.constant(0.05)),
}


def variables(use_resource):
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(shape).astype(np.float32) for shape in ([3, 4], [4], [4, 2])]
    return [tf.Variable(value, use_resource=use_resource) for value in values]


def loss_of(first, bias, last):
    x = tf.constant(np.random.default_rng(1).standard_normal([5, 3]), tf.float32)
    return tf.reduce_sum(tf.square(tf.matmul(tf.tanh(tf.matmul(x, first) * bias), last)))


def joined(train_op):
    step = prune([], [], [train_op])
    order_step(step)
    update_together(step, lambda node: True)
    step.verify("update_together")
    return [node for node in step.nodes if node.type.endswith("Together")]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_same_values_as_one_by_one(optimizer, use_resource):
    weights = variables(use_resource)
    train_op = OPTIMIZERS[optimizer]().minimize(loss_of(*weights))
    assert len(joined(train_op)) == 1
    found = []
    for level in (tf.OptimizerOptions.L1, tf.OptimizerOptions.L0):
        options = tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=level))
        with tf.Session(config=tf.ConfigProto(graph_options=options)) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train_op)
            found.append(session.run(tf.global_variables()))
    for together, alone in zip(*found, strict=True):
        np.testing.assert_allclose(together, alone, rtol=1e-6, atol=1e-7)


def test_a_waiting_node_sees_the_update():
    first, second = (tf.Variable(1.0, name=name) for name in ("first", "second"))
    update = tf.train.GradientDescentOptimizer(0.5)
    step_first = update.apply_gradients([(tf.constant(1.0), first)])
    with tf.control_dependencies([step_first]):
        seen = first.read_value() * 10.0
    train_op = tf.group(update.apply_gradients([(seen, second)]), step_first)
    assert not joined(train_op)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train_op)
        assert session.run([first, second]) == [0.5, -1.5]


def test_gradients_that_lie_in_variables():
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([10.0, 20.0])
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    train_op = optimizer.apply_gradients([(tf.identity(b), a), (tf.identity(a), b)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        explained = str(tf.explain(train_op, [], session))
        assert "Together" not in explained.partition("plan:")[0].partition("nodes after")[2]
        session.run(train_op)
        first, second = session.run([a, b])
    # One of the two comes first, and the other sees its result or not; it never sees half of it.
    assert first.tolist() == [-9.0, -18.0]
    assert second.tolist() in ([9.0, 18.0], [19.0, 38.0])


def test_different_rates_locks_and_fetches_stay_alone():
    one, two, three, four = (tf.Variable(1.0) for _ in range(4))
    gradient = tf.constant(2.0)
    updates = [
        tf.train.GradientDescentOptimizer(0.1).apply_gradients([(gradient, one)]),
        tf.train.GradientDescentOptimizer(0.2).apply_gradients([(gradient, two)]),
        tf.train.GradientDescentOptimizer(0.1, use_locking=True).apply_gradients(
            [(gradient, three), (gradient, four)]
        ),
    ]
    assert not joined(tf.group(*updates))


def test_large_variables_stay_alone_and_groups_are_bounded():
    large = tf.Variable(tf.zeros([2048, 1024]))
    middle = [tf.Variable(tf.zeros([1024, 1000])) for _ in range(5)]
    small = [tf.Variable(tf.zeros([3])) for _ in range(2)]
    everything = [large, *middle, *small]
    gradients = [tf.zeros(variable.shape) + 1.0 for variable in everything]
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.apply_gradients(zip(gradients, everything, strict=True))
    assert sorted(node.attrs["N"] for node in joined(train_op)) == [3, 4]


def test_a_filter_takes_over_the_order_of_its_gradient(tmp_path):
    images = tf.constant(np.random.default_rng(0).standard_normal([2, 6, 6, 3]), tf.float32)
    kernel = tf.get_variable("kernel", [3, 3, 3, 4], initializer=tf.random_normal_initializer())
    loss = tf.reduce_sum(tf.square(tf.nn.conv2d(images, kernel, [1, 1, 1, 1], "SAME")))
    (gradient,) = tf.gradients(loss, [kernel])
    train_op = tf.train.MomentumOptimizer(1e-3, 0.9).minimize(loss)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before, slope = session.run([kernel, gradient])
        session.run(train_op)
        after = session.run(kernel)
        assert after.flags.c_contiguous
        np.testing.assert_allclose(after, before - 1e-3 * slope, rtol=1e-5, atol=1e-6)
        path = saver.save(session, str(tmp_path / "model"))
        session.run(train_op)
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run(kernel), after)
