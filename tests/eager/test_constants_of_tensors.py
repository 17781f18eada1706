"""`tf.constant` of tensors that have values."""

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode


def test_it_is_the_tensor_itself():
    with eager_mode():
        tensor = tf.constant([1.0, 2.0, 3.0])
        assert tf.constant(tensor) is tensor
        assert tf.constant(tensor, tf.float32, [3]) is tensor
        assert tf.constant(tensor, shape=[3, 1]).numpy().tolist() == [[1], [2], [3]]
        assert tf.constant(tensor[1], shape=[4]).numpy().tolist() == [2, 2, 2, 2]


def test_of_another_type_or_size():
    with eager_mode():
        tensor = tf.constant([1.0, 2.0, 3.0])
        with pytest.raises(TypeError, match="Expected tensor with type tf.float64"):
            tf.constant(tensor, tf.float64)
        with pytest.raises(TypeError, match="value has 3 elements, shape is .4,. with 4"):
            tf.constant(tensor, shape=[4])
        with pytest.raises(TypeError, match="Expected Tensor's shape"):
            tf.constant(tensor, shape=[3, 1], verify_shape=True)


def test_in_the_graph_of_a_function_it_is_a_node():
    with eager_mode():
        tensor = tf.constant([1.0, 2.0])

        @tf.function
        def plus(x):
            fixed = tf.constant(tensor)
            assert fixed.op.type == "Const"
            return fixed + x

        np.testing.assert_array_equal(plus(tf.constant(1.0)).numpy(), [2, 3])
