"""Initializers: the graphs they make, and what their values are like."""

import math

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value_of(initializer, shape, **kwargs):
    with tf.Session() as session:
        return session.run(initializer(shape, **kwargs))


@pytest.mark.parametrize(
    ("initializer", "shape", "expected"),
    [
        (tf.zeros_initializer(), [2, 2], [[0.0, 0.0], [0.0, 0.0]]),
        (tf.ones_initializer(tf.int32), [3], [1, 1, 1]),
        (tf.constant_initializer(2.5), [2], [2.5, 2.5]),
        (tf.constant_initializer([1.0, 2.0]), [2, 2], [[1.0, 2.0], [2.0, 2.0]]),
        (tf.constant_initializer(np.arange(4).reshape(2, 2)), [2, 2], [[0.0, 1.0], [2.0, 3.0]]),
        (tf.initializers.identity(gain=2.0), [2, 3], [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]),
    ],
)
def test_constants(initializer, shape, expected):
    assert value_of(initializer, shape).tolist() == expected


def test_an_initializer_takes_the_type_of_the_call():
    assert value_of(tf.zeros_initializer(), [1], dtype=tf.int64).dtype == np.int64
    assert value_of(tf.random_normal_initializer(), [1], dtype=tf.float64).dtype == np.float64


# 20,000 numbers: the standard error of a mean is under a hundredth of the deviation.
SHAPE = [100, 200]


@pytest.mark.parametrize(
    ("initializer", "mean", "deviation", "limit"),
    [
        (tf.random_uniform_initializer(-1.0, 3.0, seed=1), 1.0, 4 / math.sqrt(12), 3.0),
        (tf.random_normal_initializer(1.0, 0.5, seed=1), 1.0, 0.5, math.inf),
        (tf.truncated_normal_initializer(0.0, 1.0, seed=1), 0.0, 0.8796, 2.0),
        (tf.uniform_unit_scaling_initializer(seed=1), 0.0, 0.1, math.sqrt(3 / 100)),
        (tf.glorot_uniform_initializer(seed=1), 0.0, math.sqrt(1 / 150), math.sqrt(3 / 150)),
        (tf.glorot_normal_initializer(seed=1), 0.0, math.sqrt(1 / 150), math.inf),
        (tf.initializers.lecun_normal(seed=1), 0.0, 0.1, math.inf),
        (tf.initializers.lecun_uniform(seed=1), 0.0, 0.1, math.sqrt(3 / 100)),
        (tf.initializers.he_normal(seed=1), 0.0, math.sqrt(2 / 100), math.inf),
        (tf.initializers.he_uniform(seed=1), 0.0, math.sqrt(2 / 100), math.sqrt(6 / 100)),
        (
            tf.variance_scaling_initializer(1.0, "fan_out", "untruncated_normal", seed=1),
            0.0,
            math.sqrt(1 / 200),
            math.inf,
        ),
    ],
)
def test_distributions(initializer, mean, deviation, limit):
    values = value_of(initializer, SHAPE)
    assert values.mean() == pytest.approx(mean, abs=0.05 * deviation)
    assert values.std() == pytest.approx(deviation, rel=0.05)
    assert np.abs(values).max() <= limit


def test_the_same_seed_gives_the_same_values():
    first = value_of(tf.random_normal_initializer(seed=7), [5])
    again = value_of(tf.random_normal_initializer(seed=7), [5])
    other = value_of(tf.random_normal_initializer(seed=8), [5])
    assert first.tolist() == again.tolist() != other.tolist()


def test_parts_of_the_identity_make_up_the_identity():
    w = tf.get_variable(
        "w",
        [4, 4],
        initializer=tf.initializers.identity(),
        partitioner=tf.fixed_size_partitioner(3),
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(w.as_tensor()), np.eye(4))


@pytest.mark.parametrize(
    ("make", "error", "phrase"),
    [
        (lambda: tf.random_normal_initializer(dtype=tf.int32), ValueError, "floating point"),
        (lambda: tf.variance_scaling_initializer(0.0), ValueError, "`scale` must be positive"),
        (
            lambda: tf.variance_scaling_initializer(mode="fan"),
            ValueError,
            "Invalid `mode` argument",
        ),
        (
            lambda: tf.variance_scaling_initializer(distribution="x"),
            ValueError,
            "Invalid `distribution` argument",
        ),
        (lambda: tf.initializers.identity()([3]), ValueError, "for 2D matrices"),
        (lambda: tf.constant_initializer(tf.constant(1.0)), TypeError, "Invalid type for initial"),
        (lambda: tf.constant_initializer([1.0, 2.0])([1]), ValueError, "Too many elements"),
        (lambda: tf.constant_initializer([1.0], verify_shape=True)([2]), TypeError, "shape"),
    ],
)
def test_refused(make, error, phrase):
    with pytest.raises(error, match=phrase):
        make()
