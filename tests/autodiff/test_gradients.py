"""Gradients: values and structure (the recorded snapshots compare the built nodes)."""

import numpy as np
import pytest

import penstock as tf
from penstock.ir import registry


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_of_a_vector_is_that_of_its_sum(session):
    x = tf.constant([1.0, 2.0, 3.0])
    assert session.run(tf.gradients(x * x, x))[0].tolist() == [2.0, 4.0, 6.0]


def test_grad_ys_and_several_ys(session):
    x = tf.constant(3.0)
    ys = [x * x, 5.0 * x]
    assert session.run(tf.gradients(ys, x)) == [11.0]
    assert session.run(tf.gradients(ys, x, grad_ys=[1.0, 0.0])) == [6.0]
    with pytest.raises(ValueError, match="grad_ys"):
        tf.gradients(ys, x, grad_ys=[1.0])


def test_unconnected(session):
    x, z = tf.constant(1.0), tf.constant([1.0, 2.0])
    assert tf.gradients(x, z) == [None]
    (zero,) = tf.gradients(x, z, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert session.run(zero).tolist() == [0.0, 0.0]
    variable = tf.Variable([1.0, 2.0], use_resource=True)
    (zero,) = tf.gradients(x, variable, unconnected_gradients="zero")
    session.run(variable.initializer)
    assert session.run(zero).tolist() == [0.0, 0.0]


def test_through_an_intermediate_x(session):
    x = tf.constant(2.0)
    y = x * x
    z = y * y
    assert session.run(tf.gradients(z, [x, y])) == [32.0, 8.0]
    assert session.run(tf.gradients(z, z)) == [1.0]


def test_stop_gradients(session):
    x = tf.constant(2.0)
    y = x * 3.0
    total = x + y
    assert session.run(tf.gradients(total, x)) == [4.0]
    assert session.run(tf.gradients(total, x, stop_gradients=y)) == [1.0]
    assert session.run(tf.gradients(x * tf.stop_gradient(x), x)) == [2.0]


@pytest.mark.parametrize("method", [None, 0, 1, 2])
def test_aggregation(session, method):
    x = tf.constant([1.0, 2.0])
    y = x * 2.0 + tf.exp(x * 0.0) * x + x
    (gradient,) = tf.gradients(y, x, aggregation_method=method)
    assert session.run(gradient).tolist() == [4.0, 4.0]


def test_second_derivatives(session):
    x = tf.constant([1.0, 2.0])
    (first,) = tf.gradients(x**3, x)
    (second,) = tf.gradients(first, x)
    np.testing.assert_allclose(session.run(second), [6.0, 12.0], rtol=1e-6)


def test_hessians(session):
    x = tf.constant([1.0, 2.0])
    (hessian,) = tf.hessians(x[0] ** 2 * x[1], x)
    np.testing.assert_allclose(session.run(hessian), [[4.0, 2.0], [2.0, 0.0]], rtol=1e-6)
    matrix = tf.constant(np.ones((2, 2), np.float32))
    assert session.run(tf.hessians(tf.reduce_sum(matrix**2), matrix))[0].shape == (2, 2, 2, 2)
    with pytest.raises(ValueError, match="do not depend"):
        tf.hessians(
            tf.reduce_sum(tf.placeholder(tf.float32, [None])), tf.placeholder(tf.float32, [None])
        )


def test_slices_stay_slices(session):
    table = tf.Variable(np.zeros((5, 2), np.float32))
    session.run(table.initializer)
    y = tf.reduce_sum(tf.gather(table, [1, 3])) + tf.reduce_sum(tf.gather(table, [3])) * 2.0
    (gradient,) = tf.gradients(y, table)
    assert isinstance(gradient, tf.IndexedSlices)
    assert session.run(gradient).indices.tolist() == [1, 3, 3]
    dense = session.run(tf.convert_to_tensor(gradient))
    assert dense[:, 0].tolist() == [0.0, 1.0, 0.0, 3.0, 0.0]
    (mixed,) = tf.gradients(y + tf.reduce_sum(table), table)
    assert session.run(mixed)[:, 0].tolist() == [1.0, 2.0, 1.0, 4.0, 1.0]


def test_no_gradient_is_said_with_the_node(session):
    x = tf.constant([1.0])
    spec = registry.op("NoGradientHere(x: T) -> y: T")
    try:
        with pytest.raises(LookupError, match="No gradient defined for operation 'odd'"):
            tf.gradients(spec(x, name="odd"), x)
    finally:
        registry.unregister("NoGradientHere")


def test_a_gradient_function_must_answer_for_every_input(session):
    registry.register_gradient("WrongCount", lambda op, grad: [grad, grad])
    try:
        x = tf.constant([1.0])
        with tf.get_default_graph().gradient_override_map({"Exp": "WrongCount"}):
            y = tf.exp(x)
        with pytest.raises(ValueError, match="Num gradients 2"):
            tf.gradients(y, x)
    finally:
        registry.unregister("WrongCount")


def test_complex_needs_grad_ys(session):
    x = tf.constant([1j])
    with pytest.raises(TypeError, match="must set grad_ys"):
        tf.gradients(x, x)


def test_gated_gradients_come_together(session):
    x, y = tf.constant(2.0), tf.constant(3.0)
    assert session.run(tf.gradients(x * y, [x, y], gate_gradients=True)) == [3.0, 2.0]


def test_pass_through_and_recomputed_gradients():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, -2.0])
        weight = tf.Variable(3.0, use_resource=True)
        session.run(tf.global_variables_initializer())
        with tf.variable_scope("resources", use_resource=True):
            (passed,) = tf.gradients(tf.grad_pass_through(tf.sign)(x), x)
        assert session.run(passed).tolist() == [1.0, 1.0]

        def function(value):
            return tf.tanh(value * weight)

        again = tf.gradients(tf.recompute_grad(function)(x), [x, weight])
        kept = tf.gradients(function(x), [x, weight])
        for ours, theirs in zip(*session.run([again, kept]), strict=True):
            np.testing.assert_allclose(ours, theirs)


def test_a_number_among_the_xs_has_no_gradient():
    x = tf.constant(2.0)
    with tf.Session() as session:
        found = tf.gradients(3.0 * x, [0.65, x])
        assert found[0] is None
        assert session.run(found[1]) == 3.0
