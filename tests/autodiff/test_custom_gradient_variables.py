"""Which variables `tf.custom_gradient` finds in a function of a graph, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.autodiff.registration import get_dependent_variables
from penstock.eager.context import eager_mode


@pytest.fixture
def x():
    with tf.Graph().as_default():
        yield tf.placeholder(tf.float32, [2])


def _passes(dy, variables=None):
    return (dy, [dy * 5.0 for _ in variables]) if variables else dy


def test_a_comparison_hides_the_variables_behind_it(x):
    y = x * tf.get_variable("v", [2], initializer=tf.ones_initializer())

    def leaky(value):
        return tf.where(y >= 0.0, value, value * 2.0), lambda dy: dy

    result = tf.custom_gradient(leaky)(x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(result, {x: [1.0, -1.0]}).tolist() == [1.0, -2.0]


def test_a_gradient_of_second_order_in_the_gradient_function(x):
    def squared_above(value):
        y = tf.maximum(value, value * 0.5)

        @tf.custom_gradient
        def backward(dy):
            return tf.where(y >= 0.0, dy, dy * 0.5), lambda ddx: tf.where(y >= 0.0, ddx, ddx * 0.5)

        return y, backward

    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    slope = tf.gradients(tf.custom_gradient(squared_above)(tf.square(x * v)), x)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        second = session.run(tf.gradients(tf.square(slope), v)[0], {x: [1.0, 3.0]})
    np.testing.assert_allclose(second, [16.0, 144.0])


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_of_both_kinds_are_found(x, use_resource):
    v = tf.get_variable("v", initializer=[3.0, 4.0], use_resource=use_resource)
    with pytest.raises(TypeError, match="keyword argument 'variables'"):
        tf.custom_gradient(lambda a: (a * v, lambda dy: dy))(x)
    result = tf.custom_gradient(lambda a: (a * v, _passes))(x)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(tf.gradients(result, v)[0], {x: [1.0, 1.0]}).tolist() == [5.0, 5.0]


def test_what_comes_in_hides_the_variables_behind_it(x):
    y = x * tf.get_variable("v", [2])
    assert tf.custom_gradient(lambda a: (a * y, lambda dy: dy))(y).shape == [2]


def test_a_resource_that_is_read_counts_even_unused(x):
    v = tf.get_variable("v", [2], use_resource=True)

    def reads(a):
        tf.identity(v)
        return a * 2.0, lambda dy: dy

    with pytest.raises(TypeError, match="keyword argument 'variables'"):
        tf.custom_gradient(reads)(x)


def test_references_made_inside_are_refused(x):
    def makes(a):
        return a * tf.get_variable("v", [2]), _passes

    with pytest.raises(TypeError, match="must be `ResourceVariable`s"):
        tf.custom_gradient(makes)(x)
    with tf.variable_scope("resources", use_resource=True):
        assert tf.custom_gradient(makes)(x).shape == [2]


def test_variables_that_are_expected_and_not_there(x):
    with pytest.raises(TypeError, match="must have use_resource=True"):
        tf.custom_gradient(lambda a: (a * 2.0, _passes))(x)
    with pytest.raises(TypeError, match="must have use_resource=True"):
        tf.grad_pass_through(tf.square)(x)
    with tf.variable_scope("resources", use_resource=True):
        assert tf.custom_gradient(lambda a: (a * 2.0, _passes))(x).shape == [2]
    recomputed = tf.contrib.layers.recompute_grad(lambda a: a * a)(x)
    with tf.Session() as session:
        assert session.run(tf.gradients(recomputed, x)[0], {x: [1.0, 3.0]}).tolist() == [2.0, 6.0]


def test_too_few_gradients_and_keywords(x):
    v = tf.get_variable("v", [2], use_resource=True)

    def forgets(dy, variables=None):
        return dy, []

    result = tf.custom_gradient(lambda a: (a * v, forgets))(x)
    with pytest.raises(ValueError, match="must return gradient for each variable"):
        tf.gradients(result, v)
    with pytest.raises(ValueError, match="only when eager execution is enabled"):
        tf.custom_gradient(lambda a: (a * 2.0, lambda dy: dy))(a=x)


def test_recomputed_in_eager_mode():
    calls = []
    with eager_mode():
        x, weight = tf.constant(2.0), tf.Variable(3.0, use_resource=True)

        def cube(a):
            calls.append(a)
            return a * a * weight

        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.recompute_grad(cube)(x)
        by_x, by_weight = tape.gradient(y, [x, weight])
        assert (by_x.numpy(), by_weight.numpy(), len(calls)) == (12.0, 4.0, 2)


def test_too_few_gradients_in_eager_mode():
    with eager_mode():
        weight = tf.Variable(3.0, use_resource=True)
        forgetful = tf.custom_gradient(lambda a: (a * weight, lambda dy, variables: (dy, [])))
        with tf.GradientTape() as tape:
            y = forgetful(tf.constant(2.0))
        with pytest.raises(ValueError, match="must return gradient for each variable"):
            tape.gradient(y, weight)
        one_of_two = tf.custom_gradient(lambda a, b: (a * b, lambda dy: dy))
        with tf.GradientTape() as tape:
            y = one_of_two(weight, tf.constant(2.0))
        with pytest.raises(ValueError, match="expected to return 2 gradients"):
            tape.gradient(y, weight)


def test_nodes_are_those_of_tensorflow(x):
    def scaled(value):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=True)
        return value * v, lambda dy, variables=None: (dy, [dy * 3.0 for _ in variables])

    with tf.variable_scope("", use_resource=True):
        result = tf.custom_gradient(scaled)(x)
    node = result.op
    assert [each.name for each in node.inputs] == [
        "mul:0",
        "Placeholder:0",
        "IdentityN/ReadVariableOp:0",
    ]
    assert [each.name for each in node.inputs[0].op.inputs] == [
        "Placeholder:0",
        "mul/ReadVariableOp:0",
    ]
    (slope,) = tf.gradients(result, tf.trainable_variables())
    with tf.Session() as session:
        assert session.run(slope).tolist() == [3.0, 3.0]


def test_variables_between_tensors(x):
    used, other = tf.get_variable("used", [2]), tf.get_variable("other", [2])
    fixed = tf.get_variable("fixed", [2], trainable=False)
    before = x * other
    after = before + used * fixed + tf.ones_like(other)
    assert get_dependent_variables({"x": before}, {"y": [after]}) == [used]
    assert get_dependent_variables(x, before) == [other]
    assert get_dependent_variables([before], [before]) == []
