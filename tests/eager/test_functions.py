"""`tf.function` and `tfe.defun` in eager mode: traced once, called with values, differentiated."""

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode

tfe = tf.contrib.eager


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_calls_with_one_signature_share_a_body():
    traced = []

    @tf.function
    def f(x, y=2.0):
        traced.append(tf.executing_eagerly())
        return {"sum": x + y, "pair": (x, [y])}

    assert f(tf.constant(1.0))["sum"].numpy() == 3.0
    assert f(tf.constant(5.0))["sum"].numpy() == 7.0
    assert f(tf.constant([1.0, 2.0]))["pair"][0].numpy().tolist() == [1, 2]
    assert traced == [False, False]


def test_variables_are_read_and_changed():
    v = tf.Variable(1.0)

    @tfe.defun
    def add(x):
        v.assign_add(x)
        return v + 0.0

    assert [add(tf.constant(2.0)).numpy() for _ in range(2)] == [3.0, 5.0]
    assert v.numpy() == 5.0


def test_variables_are_made_outside():
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(5.0))
        return made[0] * x

    assert [f(tf.constant(2.0)).numpy(), f(tf.constant(3.0)).numpy()] == [10.0, 15.0]
    assert made[0].numpy() == 5.0


def test_gradients_pass_through_calls():
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        grown = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, 1.0])[1]
        return tf.cond(x > 0, lambda: grown * v, lambda: x)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x) * v
    assert y.numpy() == 72.0
    assert [g.numpy() for g in tape.gradient(y, [x, v])] == [108.0, 48.0]


def test_a_call_is_not_computed_again_for_its_gradient():
    @tf.function
    def drop(x):
        return tf.nn.dropout(x, 0.5)

    x = tf.ones([50])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = drop(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), y.numpy())


def test_gradients_of_gradients_of_calls():
    @tf.function
    def cube(x):
        return x * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        slope = inner.gradient(y, x)
    assert (slope.numpy(), outer.gradient(slope, x).numpy()) == (12.0, 12.0)


@pytest.mark.parametrize(
    "make", [lambda: tf.train.AdamOptimizer(0.1), lambda: tf.keras.optimizers.Adam(0.1)]
)
def test_training_inside_of_a_function(make):
    optimizer, v = make(), tf.Variable([1.0, 2.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return loss

    assert [round(float(step()), 2) for _ in range(2)] == [5.0, 4.42]


def test_what_a_body_captures_is_a_constant_to_it():
    x, v = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0])

    @tf.function
    def f():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * x)
        return tape.gradient(loss, v)

    np.testing.assert_array_equal(f().numpy(), x.numpy())


def test_a_tensor_of_a_body_has_no_value_outside():
    leaked = []

    @tf.function
    def f(x):
        leaked.append(x)
        return x

    f(tf.constant(1.0))
    with pytest.raises(TypeError, match="outside of the function building code"):
        leaked[0] + 1.0
