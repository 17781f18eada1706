"""The confusion matrix that is summed over batches, which F-scores of users are built on."""

import penstock as tf
from penstock.internal_paths.metric_functions import _streaming_confusion_matrix


def test_batches_are_summed():
    labels = tf.placeholder(tf.int32, [None, 2])
    predictions = tf.placeholder(tf.int32, [None, 2])
    total, update = _streaming_confusion_matrix(labels, predictions, 2)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(update, {labels: [[0, 1], [1, 1]], predictions: [[0, 1], [0, 1]]})
        session.run(update, {labels: [[0, 0]], predictions: [[1, 0]]})
        assert session.run(total).tolist() == [[2.0, 1.0], [1.0, 2.0]]


def test_weights():
    total, update = _streaming_confusion_matrix(
        tf.constant([0, 1, 1]), tf.constant([0, 1, 0]), 2, tf.constant([1.0, 2.0, 0.0])
    )
    assert total.dtype.base_dtype is tf.float64
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update).tolist() == [[1.0, 0.0], [0.0, 2.0]]
