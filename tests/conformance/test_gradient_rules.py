"""What TensorFlow's own tests ask of gradients, beyond their values."""

import pytest

import penstock as tf
from penstock.internal_paths.math_functions import _as_indexed_slices, _as_indexed_slices_list


def test_unknown_treatment_of_unconnected_gradients():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tf.gradients(x, x, unconnected_gradients="nonsense")


def test_a_function_with_its_own_gradient_uses_variables_with_handles():
    @tf.custom_gradient
    def scaled(x):
        return x * tf.Variable(2.0), lambda dy, variables=None: (dy, [dy])

    with pytest.raises(TypeError, match="must be `ResourceVariable`s"):
        scaled(tf.constant(1.0))


def test_tensors_as_slices(session):
    dense = tf.constant([[1.0], [2.0]])
    slices = _as_indexed_slices(dense)
    assert session.run(slices.indices).tolist() == [0, 1]
    wide = tf.IndexedSlices(dense, tf.constant([0, 1], tf.int64), None)
    mixed = _as_indexed_slices_list([slices, wide])
    assert [each.indices.dtype for each in mixed] == [tf.int64, tf.int64]
    with pytest.raises(TypeError, match="Not a Tensor or IndexedSlices"):
        _as_indexed_slices([1.0])


def test_keep_prob_that_is_no_number():
    with pytest.raises(ValueError, match="keep_prob must be a floating point number or Tensor"):
        tf.nn.dropout(tf.constant([1.0]), [0.5])
