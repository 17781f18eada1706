"""Both gradients of a convolution by one node: the same values, and what stays two nodes."""

import numpy as np
import pytest

import penstock as tf
from penstock.passes.conv_gradients import join_conv_gradients
from penstock.passes.order import order_step
from penstock.passes.prune import prune


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def joined(fetches, feeds=(), allowed=True):
    step = prune(list(feeds), fetches, [])
    order_step(step)
    join_conv_gradients(step, lambda node: allowed)
    step.verify("join_conv_gradients")
    return [node.type for node in step.nodes].count("_Conv2DGradients")


def images(shape=(2, 7, 8, 4)):
    return tf.constant(np.random.default_rng(0).standard_normal(shape), tf.float32)


def kernel(shape=(3, 3, 4, 5)):
    return tf.Variable(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


GEOMETRIES = {
    "valid": {"padding": "VALID"},
    "padded on one side": {"padding": "SAME", "strides": 2},
    "explicit": {"padding": [[0, 0], [2, 1], [0, 2], [0, 0]]},
    "dilated": {"padding": "SAME", "dilations": 2},
}


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("groups", [1, 2])
def test_same_values_as_two_nodes(geometry, groups):
    x, w = images(), kernel((3, 3, 4 // groups, 6))
    options = {"strides": 1, **GEOMETRIES[geometry]}
    gradients = tf.gradients(tf.square(tf.nn.conv2d(x, w, **options)), [x, w])
    assert joined(gradients) == 1
    found = []
    for level in (tf.OptimizerOptions.L1, tf.OptimizerOptions.L0):
        chosen = tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=level))
        with tf.Session(config=tf.ConfigProto(graph_options=chosen)) as session:
            session.run(tf.global_variables_initializer())
            found.append(session.run(gradients))
    for together, alone in zip(*found, strict=True):
        np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-4)


def test_images_of_unknown_size():
    x, w = tf.placeholder(tf.float32, [None, None, None, 4]), kernel()
    gradients = tf.gradients(tf.nn.conv2d(x, w, 1, "SAME"), [x, w])
    assert joined(gradients, [x]) == 1
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        of_images, of_filter = session.run(gradients, {x: np.ones([1, 3, 4, 4])})
    assert (of_images.shape, of_filter.shape) == ((1, 3, 4, 4), (3, 3, 4, 5))


def test_each_layer_by_itself_and_updates_wait_for_it():
    first, second = kernel((3, 3, 4, 4)), kernel((3, 3, 4, 5))
    value = tf.nn.conv2d(tf.nn.relu(tf.nn.conv2d(images(), first, 1, "SAME")), second, 1, "SAME")
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_sum(value))
    with tf.Session() as session:
        text = str(tf.explain(train_op, [], session))
    # The first layer's images need no gradient.
    assert text.count("_Conv2DGradients 'gradients/") == 1
    assert text.count("Conv2DBackpropFilter 'gradients/") == 1


def test_left_alone():
    x, w, other = images(), kernel(), kernel()
    both = tf.gradients(tf.nn.conv2d(x, w, 1, "SAME"), [x, w])
    assert joined(both, allowed=False) == 0
    assert joined(both[:1]) == joined(both[1:]) == 0
    grad = tf.ones([2, 7, 8, 5])
    raw = tf.raw_ops
    options = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    of_input = raw.Conv2DBackpropInput(
        input_sizes=[2, 7, 8, 4], filter=other, out_backprop=grad, **options
    )
    of_filter = raw.Conv2DBackpropFilter(
        input=x, filter_sizes=[5, 5, 4, 5], out_backprop=grad, **options
    )
    assert joined([of_input, of_filter]) == 0
