"""What gives back its first input is no line of a plan, and copies nothing."""

import numpy as np

import penstock as tf


def _sum_over_nothing(x):
    return tf.raw_ops.Sum(input=x, axis=tf.constant([], tf.int32), keep_dims=False)


def test_a_reduction_over_no_axis_is_no_line_of_the_plan():
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.Session():
        text = str(tf.explain(tf.exp(_sum_over_nothing(tf.sqrt(x)))))
    lines = [line for line in text.splitlines() if " = k" in line]
    assert len(lines) == 3, lines  # what is fed, its root and the power


def test_it_gives_the_value_before_a_later_write():
    variable = tf.Variable([1.0, 2.0], use_resource=False)
    before = _sum_over_nothing(variable)
    with tf.control_dependencies([before]):
        written = tf.assign(variable, [5.0, 6.0])
    with tf.Session() as session:
        session.run(variable.initializer)
        read, _ = session.run([before, written])
        assert read.tolist() == [1.0, 2.0]
        kept = session.run(_sum_over_nothing(variable))
        session.run(variable.assign_add([1.0, 1.0]))
        assert kept.tolist() == [5.0, 6.0]


def test_a_norm_over_no_axis_is_an_absolute_value():
    norm = tf.raw_ops.EuclideanNorm(input=[-3.0], axis=tf.constant([], tf.int32), keep_dims=False)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(norm), [3.0])
