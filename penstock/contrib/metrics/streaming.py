"""Streaming metrics: those of `tf.metrics`, with predictions before labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

__all__ = [
    "streaming_accuracy",
    "streaming_auc",
    "streaming_false_negative_rate",
    "streaming_false_negatives",
    "streaming_false_positive_rate",
    "streaming_false_positives",
    "streaming_mean",
    "streaming_mean_absolute_error",
    "streaming_mean_cosine_distance",
    "streaming_mean_iou",
    "streaming_mean_relative_error",
    "streaming_mean_squared_error",
    "streaming_mean_tensor",
    "streaming_percentage_less",
    "streaming_precision",
    "streaming_precision_at_thresholds",
    "streaming_recall",
    "streaming_recall_at_k",
    "streaming_recall_at_thresholds",
    "streaming_root_mean_squared_error",
    "streaming_sensitivity_at_specificity",
    "streaming_sparse_average_precision_at_k",
    "streaming_sparse_precision_at_k",
    "streaming_sparse_precision_at_top_k",
    "streaming_sparse_recall_at_k",
    "streaming_specificity_at_sensitivity",
    "streaming_true_negatives",
    "streaming_true_positives",
]

Metric = tuple[Any, Any]


def _predictions_first(metric: Callable[..., Metric]) -> Callable[..., Metric]:
    """A metric with its first two arguments exchanged."""

    def streaming(predictions: Any, labels: Any, *args: Any, **kwargs: Any) -> Metric:
        return metric(labels, predictions, *args, **kwargs)

    streaming.__name__ = streaming.__qualname__ = f"streaming_{metric.__name__}"
    streaming.__doc__ = metric.__doc__
    return streaming


streaming_mean = tf.metrics.mean
streaming_mean_tensor = tf.metrics.mean_tensor
streaming_percentage_less = tf.metrics.percentage_below

streaming_accuracy = _predictions_first(tf.metrics.accuracy)
streaming_auc = _predictions_first(tf.metrics.auc)
streaming_false_negatives = _predictions_first(tf.metrics.false_negatives)
streaming_false_positives = _predictions_first(tf.metrics.false_positives)
streaming_mean_absolute_error = _predictions_first(tf.metrics.mean_absolute_error)
streaming_mean_cosine_distance = _predictions_first(tf.metrics.mean_cosine_distance)
streaming_mean_iou = _predictions_first(tf.metrics.mean_iou)
streaming_mean_relative_error = _predictions_first(tf.metrics.mean_relative_error)
streaming_mean_squared_error = _predictions_first(tf.metrics.mean_squared_error)
streaming_precision = _predictions_first(tf.metrics.precision)
streaming_precision_at_thresholds = _predictions_first(tf.metrics.precision_at_thresholds)
streaming_recall = _predictions_first(tf.metrics.recall)
streaming_recall_at_thresholds = _predictions_first(tf.metrics.recall_at_thresholds)
streaming_root_mean_squared_error = _predictions_first(tf.metrics.root_mean_squared_error)
streaming_sensitivity_at_specificity = _predictions_first(tf.metrics.sensitivity_at_specificity)
streaming_sparse_average_precision_at_k = _predictions_first(tf.metrics.average_precision_at_k)
streaming_sparse_precision_at_k = _predictions_first(tf.metrics.precision_at_k)
streaming_sparse_recall_at_k = _predictions_first(tf.metrics.recall_at_k)
streaming_specificity_at_sensitivity = _predictions_first(tf.metrics.specificity_at_sensitivity)
streaming_true_negatives = _predictions_first(tf.metrics.true_negatives)
streaming_true_positives = _predictions_first(tf.metrics.true_positives)


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The share of examples whose label is among the `k` largest predictions."""
    is_found = tf.cast(tf.nn.in_top_k(predictions, labels, k), tf.float32)
    metric: Metric = tf.metrics.mean(
        is_found, weights, metrics_collections, updates_collections, name or f"recall_at_{k}"
    )
    return metric


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Precision of given best classes."""
    metric: Metric = tf.metrics.precision_at_top_k(
        labels,
        top_k_predictions,
        class_id=class_id,
        weights=weights,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        name=name,
    )
    return metric


def _rate(
    name: str, part: Callable[..., Metric], rest: Callable[..., Metric], doc: str
) -> Callable[..., Metric]:
    """The metric `part / (part + rest)` of two counts."""

    def rate(
        predictions: Any,
        labels: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        def share(counted: Any, others: Any, name: str) -> Any:
            total = counted + others
            return tf.where(tf.greater(total, 0), tf.div(counted, total), 0.0 * total, name)

        with tf.variable_scope(name, default_scope, (predictions, labels, weights)):
            as_bool = {
                "labels": tf.cast(labels, tf.bool),
                "predictions": tf.cast(predictions, tf.bool),
                "weights": weights,
            }
            (part_value, part_update), (rest_value, rest_update) = part(**as_bool), rest(**as_bool)
            value = share(part_value, rest_value, "value")
            update = share(part_update, rest_update, "update_op")
            tf.add_to_collections(metrics_collections or [], value)
            tf.add_to_collections(updates_collections or [], update)
            return value, update

    default_scope = name
    rate.__name__ = rate.__qualname__ = f"streaming_{name}"
    rate.__doc__ = doc
    return rate


streaming_false_positive_rate = _rate(
    "false_positive_rate",
    tf.metrics.false_positives,
    tf.metrics.true_negatives,
    "The share of negative examples that are predicted to be positive.",
)
streaming_false_negative_rate = _rate(
    "false_negative_rate",
    tf.metrics.false_negatives,
    tf.metrics.true_positives,
    "The share of positive examples that are predicted to be negative.",
)
