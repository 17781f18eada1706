"""Layers of images in one call: the same values, and what must stay as it is."""

import numpy as np
import pytest

import penstock as tf
from penstock import errors
from tests.gpu.imitation import imitated_gpu


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def joined(fetches, feeds=()):
    """How many nodes of a run are convolutions with bias and ReLU."""
    return str(tf.explain(fetches, feeds)).count("_RectifiedConv2D '")


PLAIN = tf.ConfigProto()
PLAIN.graph_options.optimizer_options.opt_level = -1

ADDITIONS = {
    "bias_add": tf.nn.bias_add,
    "add": lambda value, bias: value + bias,
    "bias first": lambda value, bias: bias + value,
}


def layer(images, kernel, bias, addition="bias_add", **options):
    options = {"strides": [1, 1, 1, 1], "padding": "SAME", **options}
    return tf.nn.relu(ADDITIONS[addition](tf.nn.conv2d(images, kernel, **options), bias))


def same_as_plain(fetches, feed):
    found = []
    for config in (None, PLAIN):
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            found.append(session.run(fetches, feed))
    for ours, expected in zip(*found, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("addition", ADDITIONS)
@pytest.mark.parametrize("use_resource", [False, True])
def test_values_and_gradients(addition, use_resource):
    x = tf.placeholder(tf.float32, [None, 6, 5, 3])
    w = tf.Variable(random(3, 3, 3, 4), use_resource=use_resource)
    b = tf.Variable(random(4, seed=1), use_resource=use_resource)
    output = layer(x, w, b, addition)
    fetches = [output, *tf.gradients(output * output, [w, b, x])]
    assert joined(fetches, [x]) == 1
    same_as_plain(fetches, {x: random(2, 6, 5, 3, seed=2)})


@pytest.mark.parametrize(
    "options",
    [
        {"padding": "VALID"},
        {"strides": [1, 2, 2, 1]},
        {"strides": [1, 2, 1, 1], "dilations": [1, 1, 2, 1]},
        {"padding": [[0, 0], [2, 1], [0, 3], [0, 0]]},
    ],
)
def test_windows(options):
    x = tf.placeholder(tf.float32, [2, 8, 9, 4])
    output = layer(x, tf.constant(random(2, 3, 2, 6)), tf.constant(random(6)), **options)
    assert joined(output, [x]) == 1
    same_as_plain([output], {x: random(2, 8, 9, 4, seed=1)})


def test_no_images():
    x = tf.placeholder(tf.float32, [None, 4, 4, 3])
    output = layer(x, tf.ones([3, 3, 3, 2]), tf.ones([2]))
    with tf.Session() as session:
        assert session.run(output, {x: np.zeros([0, 4, 4, 3])}).shape == (0, 4, 4, 2)


def test_a_layer_of_the_library():
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    output = tf.layers.conv2d(tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu), 2, 3)
    assert joined(output, [x]) == 1


@pytest.mark.parametrize("case", ["fetched", "used twice", "no vector", "double", "not rectified"])
def test_left_alone(case):
    dtype = tf.float64 if case == "double" else tf.float32
    x, w = tf.placeholder(dtype, [1, 4, 4, 3]), tf.ones([1, 1, 3, 2], dtype)
    bias = tf.ones([4, 2] if case == "no vector" else [2], dtype)
    value = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
    biased = value + bias
    fetches = [biased if case == "not rectified" else tf.nn.relu(biased)]
    if case == "fetched":
        fetches.append(value)
    elif case == "used twice":
        fetches.append(tf.exp(biased))
    assert joined(fetches, [x]) == 0


def test_a_switch():
    x = tf.placeholder(tf.float32, [1, 4, 4, 3])
    output = layer(x, tf.ones([1, 1, 3, 2]), tf.ones([2]))
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.remapping = 2  # OFF
    with tf.Session(config=config) as session:
        assert "_RectifiedConv2D" not in str(tf.explain(output, [x], session))


def test_an_update_between_is_seen():
    """A bias that is read behind an assignment is not read before it."""
    x = tf.placeholder(tf.float32, [1, 2, 2, 1])
    bias = tf.get_variable("bias", [1], use_resource=True, initializer=tf.zeros_initializer())
    value = tf.nn.conv2d(x, tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "SAME")
    with tf.control_dependencies([bias.assign_add([2.0])]):
        output = tf.nn.relu(tf.nn.bias_add(value, bias.read_value()))
    with tf.Session() as session:
        session.run(bias.initializer)
        np.testing.assert_array_equal(
            session.run(output, {x: np.ones([1, 2, 2, 1])}).ravel(), [3] * 4
        )


def test_images_that_do_not_fit_name_the_users_node():
    x = tf.placeholder(tf.float32, [None, None, None, None])
    output = tf.nn.relu(
        tf.nn.bias_add(
            tf.nn.conv2d(x, tf.ones([1, 1, 4, 3]), [1, 1, 1, 1], "SAME", name="layer"), tf.ones([3])
        )
    )
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError) as caught:
        session.run(output, {x: np.ones([1, 2, 2, 3])})
    assert caught.value.op.name == "layer"


def test_on_a_gpu():
    with imitated_gpu():
        x = tf.placeholder(tf.float32, [2, 5, 5, 3])
        w, b = tf.Variable(random(3, 3, 3, 4)), tf.Variable(random(4, seed=1))
        output = layer(x, w, b)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert "_RectifiedConv2D '" in str(tf.explain(output, [x], session))
            ours = session.run(output, {x: random(2, 5, 5, 3, seed=2)})
        with tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as session:
            session.run(tf.global_variables_initializer())
            theirs = session.run(output, {x: random(2, 5, 5, 3, seed=2)})
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
