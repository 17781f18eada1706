"""Covariance and correlation of predictions and labels, as streaming metrics."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.losses.weights_broadcast import broadcast_weights
from penstock.metrics.matching import match_ranks
from penstock.metrics.streaming import collect, metric_variable

Metric = tuple[Any, Any]


def _matched(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    if weights is not None:
        weights = broadcast_weights(weights, labels)
    return predictions, labels, weights


def _moved_mean(mean: Any, batch_mean: Any, batch_count: Any, count: Any) -> tuple[Any, Any]:
    """Moves a mean to take in a batch; gives the new value and the one before."""
    delta = tf.div_no_nan((batch_mean - mean) * batch_count, count)
    moved = tf.assign_add(mean, delta)
    return moved, moved - delta


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The unbiased sample covariance of predictions and labels over all batches."""
    with tf.variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = _matched(predictions, labels, weights)
        count, mean_prediction, mean_label, comoment = (
            metric_variable([], tf.float32, name=each)
            for each in ("count", "mean_prediction", "mean_label", "comoment")
        )

        def weighted_sum(values: Any) -> Any:
            return tf.reduce_sum(values if weights is None else tf.multiply(values, weights))

        if weights is None:
            batch_count = tf.cast(tf.size(labels), tf.float32)
        else:
            batch_count = tf.reduce_sum(weights)
        new_count = tf.assign_add(count, batch_count)
        batch_means = [
            tf.div_no_nan(weighted_sum(each), batch_count) for each in (predictions, labels)
        ]
        before = [
            _moved_mean(mean, batch_mean, batch_count, new_count)[1]
            for mean, batch_mean in zip((mean_prediction, mean_label), batch_means, strict=True)
        ]
        residuals = (predictions - batch_means[0]) * (labels - batch_means[1])
        # Chan's formula for the comoment of the union of two samples.
        shift = (before[0] - batch_means[0]) * (before[1] - batch_means[1])
        scale = (new_count - batch_count) * batch_count / new_count
        update = tf.assign_add(comoment, weighted_sum(residuals) + shift * scale)

        def covariance(name: str) -> Any:
            value = tf.truediv(comoment, tf.subtract(count, 1.0))
            return tf.where(tf.less_equal(count, 1.0), float("nan"), value, name=name)

        value = covariance("covariance")
        with tf.control_dependencies([update]):
            update_op = covariance("update_op")
    return collect(metrics_collections, value), collect(updates_collections, update_op)


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Pearson's coefficient of correlation of predictions and labels over all batches."""
    with tf.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = _matched(predictions, labels, weights)
        pairs = {
            "covariance": (predictions, labels),
            "variance_predictions": (predictions, predictions),
            "variance_labels": (labels, labels),
        }
        parts = [
            streaming_covariance(*pair, weights=weights, name=part) for part, pair in pairs.items()
        ]
        value, update_op = (
            tf.truediv(
                covariance, tf.multiply(tf.sqrt(of_predictions), tf.sqrt(of_labels)), name=kind
            )
            for kind, (covariance, of_predictions, of_labels) in zip(
                ("pearson_r", "update_op"), zip(*parts, strict=True), strict=True
            )
        )
    return collect(metrics_collections, value), collect(updates_collections, update_op)
