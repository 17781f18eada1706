"""RemoteCall, TensorListPushBackBatch: functions on named devices, several lists at once."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.internal_paths.functional_calls import remote_call
from penstock.ops.functions import Defun
from penstock.ops.tensor_lists import (
    TensorListFromTensor,
    TensorListPushBackBatch,
    TensorListStack,
)


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


@Defun(tf.int32, tf.int32)
def multiplied(a, b):
    return tf.multiply(a, b)


def test_a_function_on_a_named_device(session):
    factors = tf.constant([37]), tf.constant([2])
    target = tf.placeholder(tf.string, [])
    (product,) = remote_call(args=factors, Tout=[tf.int32], f=multiplied, target=target)
    assert product.op.type == "RemoteCall"
    assert product.shape.rank is None
    name = "/job:localhost/replica:0/task:0/device:CPU:0"
    assert session.run(product, {target: name}).tolist() == [74]
    with pytest.raises(tf.errors.InvalidArgumentError, match="is no device"):
        session.run(product, {target: "/no/device"})


@pytest.mark.usefixtures("session")
def test_types_of_results_are_a_list():
    with pytest.raises(TypeError, match="Expected list for 'Tout' argument to 'remote_call' Op"):
        remote_call(args=[1, 2], Tout=tf.int32, f=multiplied, target="/cpu:0")


def _stacked_lists():
    scalar = tf.zeros([0], tf.int32)
    return tf.stack([TensorListFromTensor(row, scalar) for row in ([1.0, 2.0], [-1.0])])


def _elements(handle):
    return TensorListStack(handle, -1, element_dtype=tf.float32, num_elements=-1)


def test_an_element_for_each_of_several_lists(session):
    longer = TensorListPushBackBatch(_stacked_lists(), [3.0, 4.0])
    assert longer.shape == [2]
    found = session.run([_elements(handle) for handle in tf.unstack(longer)])
    assert [list(elements) for elements in found] == [[1.0, 2.0, 3.0], [-1.0, 4.0]]


@pytest.mark.usefixtures("session")
def test_elements_that_do_not_fit_the_lists():
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 1 and 2"):
        TensorListPushBackBatch(_stacked_lists(), [3.0])
    with pytest.raises(ValueError, match="List has type float but trying to push element with"):
        TensorListPushBackBatch(_stacked_lists(), [3, 4])
