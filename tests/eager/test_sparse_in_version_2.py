"""Sparse tensors where the entries of shapes are plain numbers."""

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def shapes_of_numbers():
    tf.enable_v2_tensorshape()
    yield
    tf.disable_v2_tensorshape()


def test_parts_must_agree():
    indices, values = tf.placeholder(tf.int64, [3, 2]), tf.placeholder(tf.float32, [None])
    assert tf.SparseTensor(indices, values, [4, 4]).shape == [4, 4]
    with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
        tf.SparseTensor(indices, tf.placeholder(tf.float32, [4]), [4, 4])
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        tf.SparseTensor(indices, values, [4, 4, 4])


def test_retained_and_reset():
    sparse = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])
    wider = tf.sparse.reset_shape(tf.sparse.retain(sparse, [False, True]), [2, 3])
    with tf.Session() as sess:
        assert sess.run(tf.sparse.to_dense(wider)).tolist() == [[0, 0, 0], [0, 2, 0]]
    with pytest.raises(ValueError, match="Dimensions 2 and 1 are not compatible"):
        tf.sparse.retain(sparse, [True])
    with pytest.raises(ValueError, match="Dimensions 3 and 2 are not compatible"):
        tf.sparse.reset_shape(sparse, [2, 2, 2])
