"""`tf.nn.batch_normalization` of a NumPy array, and how tensors of several parts are printed."""

import numpy as np

import penstock as tf


def test_an_array_is_normalized():
    with tf.Graph().as_default(), tf.Session() as session:
        x = np.array([[3.0, 5.0]], np.float32)
        mean, variance = tf.constant([1.0, 1.0]), tf.constant([4.0, 4.0])
        y = tf.nn.batch_normalization(x, mean, variance, None, tf.constant([1.0, 2.0]), 0.0)
        np.testing.assert_allclose(session.run(y), [[1.0, 4.0]], rtol=1e-6)


def test_parts_are_printed_as_tensors():
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0]], [1], [3])
        assert str(sparse).startswith("SparseTensor(indices=Tensor(")
        slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
        assert str(slices) == f"IndexedSlices(indices={slices.indices}, values={slices.values})"
