"""Gradients in eager mode: tapes, functions that differentiate, gradients of one's own."""

import gc

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode

tfe = tf.contrib.eager


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_variables_are_watched_when_they_are_read():
    used, unused = tf.Variable([1.0, 2.0]), tf.Variable(1.0)
    frozen = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(used * used) * frozen
    assert tape.watched_variables() == (used,)
    grads = tape.gradient(loss, [used, unused, frozen])
    np.testing.assert_array_equal(grads[0].numpy(), [6, 12])
    assert grads[1:] == [None, None]
    with pytest.raises(RuntimeError, match="only be called once on non-persistent tapes"):
        tape.gradient(loss, used)


def test_tensors_are_watched_on_request():
    x, y = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = x * y
        with tape.stop_recording():
            z_too = x * x
    assert tape.gradient(z, x).numpy() == 2.0
    assert tape.gradient(z, y) is None
    assert tape.gradient(z_too, x) is None
    assert tape.gradient(z, y, unconnected_gradients="zero").numpy() == 0.0
    assert tape.gradient({"a": z}, {"b": x}, output_gradients={"a": 10.0})["b"].numpy() == 20.0


def test_gradients_of_gradients():
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        slope = inner.gradient(y, x)
    assert (slope.numpy(), outer.gradient(slope, x).numpy()) == (12.0, 12.0)


def test_through_python_loops_and_arrays():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, power = tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, p * x), [0, 1.0])
        array = tf.TensorArray(tf.float32, 2).write(0, power).write(1, x)
        total = tf.reduce_sum(array.stack())
    assert tape.gradient(total, x).numpy() == 13.0


def test_rows_of_an_embedding():
    table = tf.Variable(tf.ones([4, 2]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 3]))
    slices = tape.gradient(loss, table)
    assert isinstance(slices, tf.IndexedSlices)
    tf.train.GradientDescentOptimizer(0.5).apply_gradients([(slices, table)])
    np.testing.assert_array_equal(table.numpy()[:, 0], [1, 0, 1, 0.5])


def test_jacobians():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_array_equal(tape.jacobian(y, x).numpy(), [[2, 0], [0, 4]])


def test_a_gradient_of_one_s_own():
    scale = tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x):
        def gradient(dy, variables=None):
            return dy * 100.0, [dy * 7.0 for _ in variables]

        return x * scale, gradient

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x) * 2.0
    assert [g.numpy() for g in tape.gradient(y, [x, scale])] == [200.0, 14.0]


def test_functions_that_differentiate():
    def f(x, y):
        return x * x * y

    assert [g.numpy() for g in tfe.gradients_function(f)(3.0, 2.0)] == [12.0, 9.0]
    assert [g.numpy() for g in tfe.gradients_function(f, params=["y"])(3.0, 2.0)] == [9.0]
    value, (slope,) = tfe.value_and_gradients_function(f, params=[0])(3.0, 2.0, dy=10.0)
    assert (value.numpy(), slope.numpy()) == (18.0, 120.0)
    weight = tf.Variable(2.0)
    value, pairs = tfe.implicit_value_and_gradients(lambda x: weight * weight * x)(3.0)
    assert value.numpy() == 12.0
    assert [(g.numpy(), v) for g, v in pairs] == [(12.0, weight)]
    with pytest.raises(ValueError, match="did you forget to return a value"):
        tfe.gradients_function(lambda x: None)(1.0)
    with pytest.raises(ValueError, match="No trainable variables were accessed"):
        tfe.implicit_gradients(lambda: tf.constant(1.0))()


def test_nothing_is_kept_without_a_tape():
    def live():
        gc.collect()
        return sum(type(each).__name__ == "EagerTensor" for each in gc.get_objects())

    before = live()
    x = tf.constant(1.0)
    for _ in range(50):
        x = x * 1.5 + 0.5
    assert live() - before <= 1


def test_a_used_tape_leaves_no_cycles():
    weight = tf.Variable(tf.ones([3]))

    def differentiate():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(weight * 2.0)[1:])
        tape.gradient(loss, weight)

    def live():
        return sum(type(each).__name__ == "EagerTensor" for each in gc.get_objects())

    differentiate()  # what is kept for the next time is kept from here on
    gc.collect()
    gc.disable()
    try:
        before = live()  # tensors of others are there, too
        for _ in range(3):
            differentiate()
        assert live() <= before
    finally:
        gc.enable()


def test_a_tape_that_is_entered_again_in_a_function():
    with tf.GradientTape(persistent=True) as tape:
        x = tf.constant([1.0, 2.0, 3.0])
        tape.watch(x)

    @tf.contrib.eager.defun
    def slopes(i):
        with tape:
            y = tf.gather(x, i)
            loss = y * y * y
            ones = tf.ones_like(loss)
            tape.watch(ones)
            slope = tape.gradient(loss, y, output_gradients=ones)
        return slope, tape.gradient(slope, ones)

    assert [each.numpy() for each in slopes(tf.constant(1))] == [12.0, 12.0]
    with tape:
        loss = tf.reduce_sum(x * x)
    np.testing.assert_array_equal(tape.gradient(loss, x).numpy(), [2, 4, 6])


def test_a_tape_that_was_used_in_a_function_watches_nothing_any_more():
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)

    @tf.contrib.eager.defun
    def slope():
        with tape:
            y = x * x
        return tape.gradient(y, x)

    assert slope().numpy() == 6.0
    with tape:
        y = x * x
    assert tape.gradient(y, x) is None
