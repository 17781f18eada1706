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


def test_what_linear_algebra_refuses():
    with pytest.raises(ValueError, match="does not support matrices of type <dtype: 'int32'>"):
        tf.linalg.expm(tf.constant([[1, 2], [3, 4]]))
    with pytest.raises(TypeError, match="num_rows and num_columns must be positive integer"):
        tf.eye([2])
    a, b = (tf.placeholder(tf.float32) for _ in range(2))
    with tf.Session() as session:
        for sizes, error, message in (
            (((2, 2), (2, 1)), tf.errors.InvalidArgumentError, r"same shape: \[2,2\] vs. \[2,1\]"),
            (((2, 2), (2, 2)), tf.errors.FailedPreconditionError, "3-element vectors"),
        ):
            with pytest.raises(error, match=message):
                session.run(tf.linalg.cross(a, b), {a: np.ones(sizes[0]), b: np.ones(sizes[1])})


def test_a_limit_holds_for_soft_suppression_too():
    boxes = [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1]]
    scores = [0.9, 0.75, 0.6, 0.95, 0.5]
    with tf.Session() as session:
        limited = tf.image.non_max_suppression_with_scores(
            boxes, scores, 5, iou_threshold=0.5, soft_nms_sigma=0.5
        )
        chosen, left = session.run(limited)
    assert chosen.tolist() == [3, 0]
    np.testing.assert_allclose(left, [0.95, 0.9])
