"""VALID windows over images that are smaller: what kernels give, and what shape rules refuse."""

import numpy as np
import pytest

import penstock as tf


def _conv2d(x, k, s):
    return tf.nn.conv2d(x, tf.ones([k, k, 1, 2]), [1, s, s, 1], "VALID")


def _depthwise(x, k, s):
    return tf.nn.depthwise_conv2d(x, tf.ones([k, k, 1, 2]), [1, s, s, 1], "VALID")


def _max_pool(x, k, s):
    return tf.nn.max_pool(x, [1, k, k, 1], [1, s, s, 1], "VALID")


def _avg_pool(x, k, s):
    return tf.nn.avg_pool(x, [1, k, k, 1], [1, s, s, 1], "VALID")


def _argmax(x, k, s):
    return tf.nn.max_pool_with_argmax(x, [1, k, k, 1], [1, s, s, 1], "VALID")[0]


def _patches(x, k, s):
    return tf.extract_image_patches(x, [1, k, k, 1], [1, s, s, 1], [1, 1, 1, 1], "VALID")


def _dilation(x, k, s):
    return tf.nn.dilation2d(x, tf.ones([k, k, 1]), [1, s, s, 1], [1, 1, 1, 1], "VALID")


WINDOWS = [_conv2d, _depthwise, _max_pool, _avg_pool, _argmax, _patches, _dilation]


def _fed(window, size, k, s):
    """The shape of the result and the gradient for an image whose size is fed."""
    x = tf.placeholder(tf.float32, [None, None, None, 1])
    y = window(x, k, s)
    with tf.Session() as session:
        return session.run([tf.shape(y), tf.gradients(y, x)[0]], {x: np.ones((1, size, size, 1))})


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("size", "k", "s"), [(2, 3, 1), (1, 3, 2), (2, 5, 2)])
def test_where_only_a_stride_is_missing_the_result_is_empty(window, size, k, s):
    shape, gradient = _fed(window, size, k, s)
    assert shape[:3].tolist() == [1, 0, 0]
    np.testing.assert_array_equal(gradient, np.zeros((1, size, size, 1)))


@pytest.mark.parametrize("window", [w for w in WINDOWS if w is not _dilation])
def test_where_more_is_missing_the_step_fails(window):
    told = (
        r"Computed output size would be negative: -1 \[input_size: 1, effective_filter_size: 5, "
        r"stride: 2\]"
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        _fed(window, 1, 5, 2)


def test_volumes_give_nothing_either():
    x = tf.placeholder(tf.float32, [None, None, None, None, 1])
    filters = tf.Variable(tf.ones([3, 3, 3, 1, 2]))
    y = tf.nn.conv3d(x, filters, [1] * 5, "VALID")
    pooled = tf.nn.max_pool3d(x, [1, 3, 3, 3, 1], [1] * 5, "VALID")
    mean = tf.nn.avg_pool3d(x, [1, 3, 3, 3, 1], [1] * 5, "VALID")
    wanted = [y, pooled, mean, *tf.gradients([y, pooled, mean], [x, filters])]
    with tf.Session() as session:
        session.run(filters.initializer)
        results = session.run(wanted, {x: np.ones((1, 2, 2, 2, 1))})
    shapes = [result.shape for result in results]
    assert shapes == [
        (1, 0, 0, 0, 2),
        (1, 0, 0, 0, 1),
        (1, 0, 0, 0, 1),
        (1, 2, 2, 2, 1),
        (3, 3, 3, 1, 2),
    ]
    assert not any(result.any() for result in results[3:])


@pytest.mark.parametrize("window", [_conv2d, _depthwise, _max_pool, _avg_pool, _argmax])
def test_known_sizes_are_refused_while_building(window):
    with pytest.raises(ValueError, match="Negative dimension size caused by subtracting 3 from 2"):
        window(tf.zeros([1, 2, 2, 1]), 3, 1)


@pytest.mark.parametrize("window", [_patches, _dilation])
def test_patches_of_known_sizes_may_be_none(window):
    assert window(tf.zeros([1, 2, 2, 1]), 3, 1).shape[:3].as_list() == [1, 0, 0]
    with pytest.raises(ValueError, match="Computed output size would be negative: -1"):
        window(tf.zeros([1, 1, 1, 1]), 3, 1)
