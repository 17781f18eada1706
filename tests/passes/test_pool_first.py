"""Poolings before activations: the same values, and what must stay as it is."""

import numpy as np
import pytest

import penstock as tf
from penstock.passes.pool_first import pool_first
from penstock.passes.prune import prune
from penstock.passes.rewriter_config import pass_options


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def activation(data_format="NHWC", bias=True, scale=2.0):
    """A scaled convolution, bias and ReLU: the images fed, the filter, the bias, the activation."""
    shape = [2, 8, 8, 3] if data_format == "NHWC" else [2, 3, 8, 8]
    images = tf.placeholder(tf.float32, shape)
    kernel = tf.get_variable("kernel", [3, 3, 3, 5], initializer=tf.random_normal_initializer())
    biases = tf.get_variable("biases", [5], initializer=tf.random_normal_initializer())
    value = tf.nn.conv2d(images, kernel, [1, 1, 1, 1], "SAME", data_format=data_format)
    value = value if scale is None else value * scale
    value = tf.nn.bias_add(value, biases, data_format=data_format) if bias else value
    return images, kernel, biases, tf.nn.relu(value)


def pooled(value, window=2, stride=2, padding="VALID", data_format="NHWC"):
    def spatial(size):
        return [1, size, size, 1] if data_format == "NHWC" else [1, 1, size, size]

    pool = tf.nn.max_pool
    return pool(value, spatial(window), spatial(stride), padding, data_format=data_format)


ON, OFF = 1, 2  # of RewriterConfig


def config(remapping):
    made = tf.ConfigProto()
    made.graph_options.rewrite_options.remapping = remapping
    return made


def with_and_without(fetches, feed):
    """The values of fetches where poolings come first, and where they don't."""
    found = []
    for remapping in (ON, OFF):
        with tf.Session(config=config(remapping)) as session:
            session.run([tf.assign(v, value) for v, value in given().items()])
            found.append(session.run(fetches, feed))
    return found


def given():
    rng = np.random.default_rng(3)
    return {v: rng.standard_normal(v.shape.as_list()) for v in tf.global_variables()}


def types_in_order(step):
    wanted = ("Conv2D", "BiasAdd", "Relu", "MaxPool", "MaxPoolGrad", "ReluGrad", "BiasAddGrad")
    return [node.type for node in step.nodes if node.type in wanted]


@pytest.mark.parametrize("window", [2, 3])
@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("bias", [True, False])
def test_values_and_gradients(window, padding, bias):
    images, kernel, biases, value = activation(bias=bias)
    output = pooled(value, window, 2, padding)
    weights = tf.constant(np.random.default_rng(4).standard_normal(output.shape), tf.float32)
    wanted = [kernel, images, *([biases] if bias else [])]
    gradients = tf.gradients(tf.reduce_sum(output * weights), wanted)
    feed = {images: np.random.default_rng(5).standard_normal(images.shape)}
    fast, plain = with_and_without([output, *gradients], feed)
    for ours, expected in zip(fast, plain, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)


def test_channels_first(graph):
    images, kernel, biases, value = activation("NCHW")
    output = pooled(value, data_format="NCHW")
    gradients = tf.gradients(output, [kernel, biases])
    step = prune([images], gradients, [])
    pool_first(step)
    assert types_in_order(step)[:4] == ["Conv2D", "MaxPool", "BiasAdd", "Relu"]
    feed = {images: np.random.default_rng(5).standard_normal(images.shape)}
    fast, plain = with_and_without(gradients, feed)
    for ours, expected in zip(fast, plain, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)


def test_the_order_and_the_shapes():
    images, kernel, biases, value = activation()
    output = pooled(value)
    step = prune([images], tf.gradients(output, [kernel, biases]), [])
    pool_first(step)
    step.verify("pool_first")
    forward = ["Conv2D", "MaxPool", "BiasAdd", "Relu"]
    assert types_in_order(step) == [*forward, "ReluGrad", "MaxPoolGrad", "BiasAddGrad"]
    by_type = {node.type: node for node in step.nodes}
    assert by_type["BiasAdd"].shapes == by_type["ReluGrad"].shapes == [(2, 4, 4, 5)]
    assert by_type["MaxPoolGrad"].shapes == [(2, 8, 8, 5)]
    assert by_type["BiasAddGrad"].inputs[0].node.type in ("ReluGrad", "Identity")


def test_a_fetched_pooling_is_the_activated_one():
    images, _, _, value = activation()
    output = pooled(value)
    step = prune([images], [output], [])
    pool_first(step)
    assert step.fetches[0].node.type == "Relu"


@pytest.mark.parametrize("use", ["fetched", "used", "pooled twice", "across channels"])
def test_left_alone(use):
    images, _, _, value = activation()
    fetches = [pooled(value)]
    if use == "fetched":
        fetches.append(value)
    elif use == "used":
        fetches.append(tf.reduce_sum(value))
    elif use == "pooled twice":
        fetches.append(pooled(value, 3))
    else:
        fetches = [tf.nn.max_pool(value, [1, 1, 1, 5], [1, 1, 1, 5], "VALID")]
    step = prune([images], fetches, [])
    before = types_in_order(step)
    pool_first(step)
    assert types_in_order(step) == before


def test_a_convolution_that_can_rectify_comes_first():
    images, _, _, value = activation(scale=None)
    step = prune([images], [pooled(value)], [])
    pool_first(step)
    assert types_in_order(step) == ["Conv2D", "BiasAdd", "Relu", "MaxPool"]


@pytest.mark.parametrize(
    ("remapping", "has_gpu", "expected"),
    [(0, False, False), (0, True, True), (ON, False, True), (OFF, True, False)],
)
def test_when_it_runs(remapping, has_gpu, expected):
    assert pass_options(config(remapping), has_gpu=has_gpu).pool_first is expected


def test_explained():
    images, _, _, value = activation()
    output = pooled(value)
    with tf.Session(config=config(ON)) as session:
        assert "pool_first: 2 changed" in str(tf.explain(output, [images], session))
