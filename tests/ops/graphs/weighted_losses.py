"""`tf.losses`: how each loss is weighted, reduced, checked and collected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _predictions(tf: Any, shape: Any) -> tuple[Any, Any]:
    return tf.placeholder(tf.float32, shape, "labels"), tf.placeholder(tf.float32, shape, "p")


def _of_all_weights(tf: Any, loss: Callable[..., Any]) -> list[Any]:
    """A loss of known and unknown shapes with weights of each kind, and with each reduction."""
    labels, predictions = _predictions(tf, [4, 3])
    some_labels, some_predictions = _predictions(tf, None)
    column = tf.constant([[1.0], [0.0], [2.0], [0.5]])
    some_weights = tf.placeholder(tf.float32, name="weights")
    made = [
        loss(labels, predictions),
        loss(labels, predictions, 2.5, scope="scope"),
        loss(labels, predictions, column),
        loss(some_labels, some_predictions, some_weights),
        loss(labels, predictions, loss_collection="others"),
    ]
    for reduction in tf.losses.Reduction.all():
        made.append(loss(labels, predictions, column, reduction=reduction, loss_collection=None))
    return made


def absolute_difference(tf: Any) -> Any:
    return _of_all_weights(tf, tf.losses.absolute_difference)


def hinge_loss(tf: Any) -> Any:
    return _of_all_weights(tf, tf.losses.hinge_loss)


def huber_loss(tf: Any) -> Any:
    return _of_all_weights(tf, tf.losses.huber_loss)


def log_loss(tf: Any) -> Any:
    return _of_all_weights(tf, tf.losses.log_loss)


def mean_squared_error(tf: Any) -> Any:
    return _of_all_weights(tf, tf.losses.mean_squared_error)


def sigmoid_cross_entropy(tf: Any) -> Any:
    return _of_all_weights(tf, tf.losses.sigmoid_cross_entropy)


def mean_pairwise_squared_error(tf: Any) -> Any:
    labels, predictions = _predictions(tf, [4, 3])
    some_labels, some_predictions = _predictions(tf, None)
    weights = tf.placeholder(tf.float32, name="weights")
    loss = tf.losses.mean_pairwise_squared_error
    return [loss(labels, predictions, 2.0), loss(some_labels, some_predictions, weights)]


def cosine_distance(tf: Any) -> Any:
    labels, predictions = _predictions(tf, [4, 3])
    loss = tf.losses.cosine_distance
    return [loss(labels, predictions, axis=1), loss(labels, predictions, 0, 2.0)]


def softmax_cross_entropy(tf: Any) -> Any:
    labels, logits = _predictions(tf, [4, 3])
    loss = tf.losses.softmax_cross_entropy
    weights = tf.constant([1.0, 0.0, 2.0, 0.5])
    smoothed = loss(labels, logits, label_smoothing=0.1)
    return [loss(labels, logits), loss(labels, logits, weights), smoothed]


def sparse_softmax_cross_entropy(tf: Any) -> Any:
    loss = tf.losses.sparse_softmax_cross_entropy
    logits = tf.placeholder(tf.float32, [4, 3], "logits")
    column = tf.placeholder(tf.int32, [4, 1], "column")
    some_labels, some_logits = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    weights = tf.constant([[1.0], [0.0], [2.0], [0.5]])
    some_weights = tf.placeholder(tf.float32)
    return [
        loss([0, 2, 1, 1], logits),
        loss(column, logits, weights),
        loss(some_labels, some_logits, some_weights),
    ]


def label_smoothing_of_classes(tf: Any) -> Any:
    labels, logits = _predictions(tf, [4, 3])
    return tf.losses.sigmoid_cross_entropy(labels, logits, label_smoothing=0.2)


def collected_losses(tf: Any) -> Any:
    labels, predictions = _predictions(tf, [4, 3])
    with tf.name_scope("tower"):
        tf.losses.mean_squared_error(labels, predictions)
    tf.losses.add_loss(tf.reduce_sum(predictions))
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(0.5, name="decay"))
    return [
        tf.losses.get_losses(),
        tf.losses.get_losses("tower"),
        tf.losses.get_regularization_losses(),
        tf.losses.get_regularization_loss(),
        tf.losses.get_regularization_loss("nowhere"),
        tf.losses.get_total_loss(),
        tf.losses.get_total_loss(add_regularization_losses=False, name="data_loss"),
        tf.losses.get_total_loss(scope="tower"),
    ]


def confusion_matrices(tf: Any) -> Any:
    labels = tf.placeholder(tf.int32, [None], "labels")
    column = tf.placeholder(tf.int32, [None, 1], "column")
    unknown = tf.placeholder(tf.int32, name="unknown")
    return [
        tf.confusion_matrix(labels, labels),
        tf.confusion_matrix(labels, column, num_classes=4, name="named"),
        tf.confusion_matrix(column, labels, weights=labels, dtype=tf.float32),
        tf.confusion_matrix(unknown, labels, num_classes=4),
    ]
