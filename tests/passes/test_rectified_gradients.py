"""Gradients of ReLUs: before those of poolings, and together with the sum for a bias."""

import numpy as np
import pytest

import penstock as tf
from penstock.passes.pooled_gradients import rectify_pooled_gradients
from penstock.passes.prune import prune
from tests.gpu.imitation import imitated_gpu


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


PLAIN = tf.ConfigProto()
PLAIN.graph_options.optimizer_options.opt_level = -1


def biased(dtype=tf.float32):
    images = tf.placeholder(dtype, [2, 7, 7, 3])
    bias = tf.Variable(random(3), dtype=dtype)
    return images, bias, tf.nn.relu(tf.nn.bias_add(images, bias))


def gradients_of(output, *sources):
    weights = tf.constant(random(*output.shape.as_list(), seed=1), output.dtype)
    return tf.gradients(tf.reduce_sum(output * weights), list(sources))


def found(fetches, feed, config=None):
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


class TestPooled:
    @pytest.mark.parametrize(("window", "stride"), [(2, 2), (3, 2), (3, 1)])
    @pytest.mark.parametrize("padding", ["VALID", "SAME"])
    def test_values(self, window, stride, padding):
        images, bias, value = biased(tf.float64)
        output = tf.nn.max_pool(value, [1, window, window, 1], [1, stride, stride, 1], padding)
        gradients = gradients_of(output, images, bias)
        feed = {images: random(2, 7, 7, 3, seed=2)}
        ours, theirs = found(gradients, feed), found(gradients, feed, PLAIN)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6)

    def test_ties_and_zeros(self):
        images, _, value = biased()
        output = tf.nn.max_pool(value, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        gradients = gradients_of(output, images)
        feed = {images: np.tile([[[[-9.0, 9.0, 0.0]]]], [2, 7, 7, 1])}
        np.testing.assert_array_equal(found(gradients, feed)[0], found(gradients, feed, PLAIN)[0])

    def test_the_order_and_the_shapes(self):
        images, bias, value = biased()
        output = tf.nn.max_pool(value, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        step = prune([images], gradients_of(output, images, bias), [])
        rectify_pooled_gradients(step)
        step.verify("rectify_pooled_gradients")
        by_type = {node.type: node for node in step.nodes}
        types = [node.type for node in step.nodes]
        assert types.index("ReluGrad") < types.index("MaxPoolGrad")
        assert by_type["ReluGrad"].shapes == [(2, 3, 3, 3)]
        assert by_type["MaxPoolGrad"].shapes == [(2, 7, 7, 3)]
        assert step.fetches[0].node is by_type["MaxPoolGrad"]

    @pytest.mark.parametrize("case", ["used", "pooled twice", "fetched"])
    def test_left_alone(self, case):
        images, _, value = biased()
        output = tf.nn.max_pool(value, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        if case == "used":
            output += tf.reduce_sum(value)
        elif case == "pooled twice":
            output += tf.nn.max_pool(value, [1, 3, 3, 1], [1, 2, 2, 1], "VALID")
        fetches = gradients_of(output, images)
        if case == "fetched":
            fetches += [
                op.outputs[0] for op in value.graph.get_operations() if op.type == "MaxPoolGrad"
            ]
        step = prune([images], fetches, [])
        rectify_pooled_gradients(step)
        types = [node.type for node in step.nodes]
        assert types.index("ReluGrad") > types.index("MaxPoolGrad")


class TestSums:
    @pytest.mark.parametrize("shape", [[4, 5, 5, 3], [6, 3]])
    def test_values(self, shape):
        with imitated_gpu():
            images = tf.placeholder(tf.float32, shape)
            bias = tf.Variable(random(3))
            output = tf.nn.relu(tf.nn.bias_add(images * 1.0, bias))
            gradients = gradients_of(output, images, bias)
            explained = str(tf.explain(gradients, [images]))
            assert "sum_rectified_gradients: 2 removed, 1 added" in explained
            feed = {images: random(*shape, seed=2)}
            ours = found(gradients, feed)
            theirs = found(gradients, feed, tf.ConfigProto(device_count={"GPU": 0}))
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize("case", ["channels first", "host"])
    def test_left_alone(self, case):
        data_format = "NCHW" if case == "channels first" else "NHWC"
        with imitated_gpu():
            images, bias = tf.placeholder(tf.float32, [2, 3, 3, 3]), tf.Variable(random(3))
            output = tf.nn.relu(tf.nn.bias_add(images, bias, data_format=data_format))
            gradients = gradients_of(output, images, bias)
            config = tf.ConfigProto(device_count={"GPU": 0} if case == "host" else {})
            with tf.Session(config=config) as session:
                explained = str(tf.explain(gradients, [images], session))
        assert "sum_rectified_gradients: nothing to do" in explained
