"""Tangents that go along with the operations of eager mode."""

import gc
import math
import weakref

import numpy as np
import pytest

import penstock as tf
from penstock.autodiff.forward_mode import ForwardGradientAccumulator
from penstock.internal_paths.graph_mode import eager_mode


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def tangent(function, primals, tangents):
    with ForwardGradientAccumulator() as accumulator:
        accumulator.watch(primals, tangents)
        result = function(*primals)
    return accumulator.jvp(result)


def test_operations_of_one_and_of_two_inputs():
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, -1.0])
    found = tangent(lambda a, b: a * tf.sin(b), [x, y], [tf.constant([1.0, 0.5]), tf.ones([2])])
    expected = [math.sin(3) + math.cos(3), 0.5 * math.sin(-1) + 2 * math.cos(-1)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert tangent(lambda a: tf.constant(2.0), [x], [x]) is None


def test_several_outputs_and_matrices():
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    direction = tf.constant([[0.0, 1.0], [0.0, 0.0]])
    first, second = tangent(lambda a: tf.split(tf.matmul(a, a), 2), [x], [direction])
    np.testing.assert_allclose(np.vstack([first, second]), [[3.0, 6.0], [0.0, 3.0]])


def test_tangents_of_one_tensor_are_added():
    x = tf.constant(-2.0)
    with ForwardGradientAccumulator() as accumulator:
        accumulator.watch(x, tf.constant(10.0))
        accumulator.watch(x, tf.constant(11.0))
        y = tf.constant(3.0) * x
    assert accumulator.jvp(x).numpy() == 21.0
    assert accumulator.jvp(y).numpy() == 63.0


def test_higher_derivatives():
    x = tf.constant(1.1)
    with ForwardGradientAccumulator() as outer:
        outer.watch(x, tf.constant(1.0))
        with ForwardGradientAccumulator() as inner:
            inner.watch(x, tf.constant(1.0))
            y = x**3.5
    slope = inner.jvp(y)
    np.testing.assert_allclose(slope, 3.5 * 1.1**2.5, rtol=1e-5)
    np.testing.assert_allclose(outer.jvp(slope), 3.5 * 2.5 * 1.1**1.5, rtol=1e-5)


def test_forward_over_backward_and_backward_over_forward():
    x, direction = tf.constant([1.0, 2.0]), tf.constant([1.0, -1.0])

    def slope(a):
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.reduce_sum(a**3) + a[0] * a[1]
        return tape.gradient(y, a)

    expected = [6.0 - 1.0, 1.0 - 12.0]
    np.testing.assert_allclose(tangent(slope, [x], [direction]), expected, rtol=1e-5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        along = tangent(lambda a: tf.reduce_sum(a**3) + a[0] * a[1], [x], [direction])
    np.testing.assert_allclose(tape.gradient(along, x), expected, rtol=1e-5)


def test_through_functions_and_custom_gradients():
    @tf.custom_gradient
    def clipped(a):
        return tf.minimum(a, 1.0), lambda grad: 7.0 * grad

    @tf.function
    def cube(a):
        return a * a * a

    x, one = tf.constant(2.0), tf.constant(1.0)
    assert tangent(cube, [x], [one]).numpy() == 12.0
    assert tangent(clipped, [x], [one]).numpy() == 7.0


def test_tangents_go_with_their_tensors():
    x = tf.ones([3])
    with ForwardGradientAccumulator() as accumulator:
        accumulator.watch(x, tf.ones([3]))
        y = 2.0 * x
        kept = weakref.ref(accumulator.jvp(y))
        del y
        gc.collect()
        assert kept() is None


def test_what_an_accumulator_refuses():
    accumulator = ForwardGradientAccumulator()
    with pytest.raises(ValueError, match="without first tracing"):
        accumulator.jvp(tf.constant(1.0))
    with accumulator:
        with pytest.raises(ValueError, match="already recording"), accumulator:
            pass
        with pytest.raises(NotImplementedError, match="only Tensors"):
            accumulator.watch(tf.contrib.eager.Variable(1.0), tf.constant(1.0))
    with pytest.raises(NotImplementedError, match="reuse"), accumulator:
        pass
