"""The inside of optimizers that programs with optimizers of their own reach into."""

import pytest

import penstock as tf
from penstock.train.optimizer_internals import (
    _deduplicate_indexed_slices,
    _get_processor,
    _var_key,
)


def test_rows_of_equal_indices_are_summed():
    rows, indices = _deduplicate_indexed_slices(
        tf.constant([1.0, 2.0, 3.0]), tf.constant([2, 0, 2])
    )
    with tf.Session() as session:
        assert session.run(rows).tolist() == [4.0, 2.0]
        assert session.run(indices).tolist() == [2, 0]


def test_a_variable_is_known_by_its_graph_and_name():
    variable = tf.Variable(1.0, name="v")
    assert _var_key(variable) == (variable.graph, "v")


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_processor_updates_its_variable(use_resource):
    variable = tf.Variable(1.0, use_resource=use_resource)
    update = _get_processor(variable).update_op(optimizer_of_rate(0.5), tf.constant(2.0))
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(update)
        assert session.run(variable) == 0.0


def optimizer_of_rate(rate):
    optimizer = tf.train.GradientDescentOptimizer(rate)
    optimizer._prepare()
    return optimizer


def test_a_tensor_has_gradients_but_no_update():
    tensor = tf.constant(1.0)
    assert _get_processor(tensor).target() is tensor
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        _get_processor(tensor).update_op(optimizer_of_rate(1.0), tensor)
    with pytest.raises(NotImplementedError, match="unsupported type"):
        _get_processor(3)
