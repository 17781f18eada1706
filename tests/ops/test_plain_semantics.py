"""Operators, moments and names where later releases than TensorFlow 1.15 do otherwise."""

import operator

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize(
    ("function", "op_type"),
    [
        (operator.and_, "LogicalAnd"),
        (operator.or_, "LogicalOr"),
        (operator.xor, "LogicalOr"),
        (lambda x, y: ~x, "LogicalNot"),
    ],
)
def test_logical_operators_take_truth_values_alone(function, op_type):
    x = tf.constant([1, 2])
    told = f"Input 'x' of '{op_type}' Op has type int32 that does not match expected type of bool."
    with pytest.raises(TypeError, match=told):
        function(x, x)


def test_variance_of_complex_numbers_is_complex():
    z = np.array([[1 + 2j, 3 - 1j], [0, 2j]], np.complex64)
    with tf.Session() as session:
        variance, deviation = session.run([tf.math.reduce_variance(z), tf.math.reduce_std(z)])
    assert variance == pytest.approx(-0.1875 - 2j)
    assert deviation == pytest.approx(0.9543 - 1.0479j, abs=1e-4)


def test_variance_of_integers():
    with tf.Session() as session:
        assert session.run(tf.math.reduce_variance([1, 2, 6])) == 4


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.add(1, 2, name=""),
        lambda: tf.constant(1, name=""),
        lambda: tf.get_variable("", shape=[1]),
        lambda: tf.Variable([1], name="", use_resource=True),
        lambda: tf.get_default_graph().create_op("NoOp", [], [], name=""),
    ],
)
def test_an_empty_name_is_none(build):
    with pytest.raises(ValueError, match="'' is not a valid node name"):
        build()


def test_a_fact():
    with tf.Session() as session:
        assert session.run(tf.user_ops.my_fact()) == b"0! == 1"
