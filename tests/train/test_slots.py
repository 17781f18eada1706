"""Slots: the graphs they make, and their values."""

import pytest

import penstock as tf
from penstock.train import slots


@pytest.mark.parametrize("use_resource", [False, True])
def test_values(use_resource):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], use_resource=use_resource)
        copy = slots.create_slot(v, v.initialized_value(), "copy")
        zeros = slots.create_zeros_slot(v, "zeros", dtype=tf.float64)
        session.run(tf.global_variables_initializer())
        assert [value.tolist() for value in session.run([copy, zeros])] == [[1.0, 2.0], [0.0, 0.0]]
        assert tf.trainable_variables() == [v]


def test_the_scopes_partitioner_leaves_slots_whole():
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0])
        with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)) as scope:
            slot = slots.create_zeros_slot(v, "zeros")
            assert scope.partitioner is not None
        assert slot.shape == [2]
