"""The metrics of heads, and what they are called."""

from __future__ import annotations

from typing import Any

import penstock as tf


class MetricKey:
    """What metrics are called."""

    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    CLASS_AUC = "auc/class%d"
    CLASS_AUC_PR = "auc_precision_recall/class%d"
    PREDICTION_MEAN = "labels/prediction_mean"
    CLASS_PREDICTION_MEAN = "labels/prediction_mean/class%d"
    CLASS_LOGITS_MEAN = "labels/logits_mean/class%d"
    CLASS_PROBABILITY_MEAN = "labels/probability_mean/class%d"
    LABEL_MEAN = "labels/actual_label_mean"
    CLASS_LABEL_MEAN = "labels/actual_label_mean/class%d"
    ACCURACY = "accuracy"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"


def _as_floats(weights: Any) -> Any:
    return None if weights is None else tf.cast(weights, tf.float32, name="float_weights")


def _of_class(tensor: Any, class_id: int | None) -> Any:
    return tensor if tensor is None or class_id is None else tensor[:, class_id]


def _weights_like(weights: Any, values: Any) -> Any:
    return None if weights is None else _as_floats(weights) * tf.ones_like(values)


def mean(values: Any, weights: Any = None, class_id: int | None = None) -> Any:
    """The mean of all values, or of a class's."""
    values = tf.cast(values, tf.float32)
    weights = _weights_like(weights, values)
    return tf.metrics.mean(_of_class(values, class_id), _of_class(weights, class_id))


def share(classes: Any, weights: Any, class_id: int) -> Any:
    """How often a class occurs."""
    is_class = tf.equal(tf.cast(classes, tf.int32), class_id)
    return tf.metrics.mean(tf.cast(is_class, classes.dtype), weights=weights)


def auc(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    class_id: int | None = None,
    curve: str = "ROC",
) -> Any:
    """The area under a curve, of all predictions or of a class's."""
    predictions = tf.cast(predictions, tf.float32)
    weights = _weights_like(weights, predictions)
    return tf.metrics.auc(
        _of_class(tf.cast(labels, tf.bool), class_id),
        _of_class(predictions, class_id),
        _of_class(weights, class_id),
        curve=curve,
    )


def accuracy_at(predictions: Any, labels: Any, weights: Any, threshold: float) -> Any:
    """How often a probability is on its label's side of a threshold."""
    is_above = tf.cast(tf.greater_equal(predictions, threshold), tf.float32)
    return tf.metrics.accuracy(labels, is_above, weights)


def at_threshold(
    metric: Any, predictions: Any, labels: Any, weights: Any, threshold: float
) -> tuple[Any, Any]:
    """`precision_at_thresholds` or `recall_at_thresholds` at one threshold."""
    value, update = metric(labels, predictions, (threshold,), _as_floats(weights))
    return tf.squeeze(value), tf.squeeze(update)
