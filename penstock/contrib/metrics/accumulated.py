"""Streaming metrics that count, and Cohen's kappa."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.losses.weights_broadcast import broadcast_weights
from penstock.metrics.average_precision import average_precision_of_choices
from penstock.metrics.matching import match_ranks
from penstock.metrics.streaming import collect, metric_variable

__all__ = [
    "cohen_kappa",
    "count",
    "sparse_recall_at_top_k",
    "streaming_sparse_average_precision_at_top_k",
]

Metric = tuple[Any, Any]


def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The number of values, or the sum of their weights."""
    with tf.variable_scope(name, "count", (values, weights)):
        total = metric_variable([], tf.float32, name="count")
        if weights is None:
            number = tf.cast(tf.size(values), tf.float32)
        else:
            values, _, weights = match_ranks(tf.cast(values, tf.float32), None, weights)
            number = tf.reduce_sum(broadcast_weights(tf.cast(weights, tf.float32), values))
        with tf.control_dependencies([tf.convert_to_tensor(values)]):
            update = tf.assign_add(total, number)
        value = collect(metrics_collections, tf.identity(total))
        return value, collect(updates_collections, update)


def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Recall of given best classes."""
    metric: Metric = tf.metrics.recall_at_top_k(
        labels,
        top_k_predictions,
        class_id=class_id,
        weights=weights,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        name=name,
    )
    return metric


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Average precision of given best classes, the best first."""
    return average_precision_of_choices(
        labels, top_k_predictions, weights, metrics_collections, updates_collections, name
    )


def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Cohen's kappa: agreement of predictions and labels beyond that of chance."""
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with tf.variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels.get_shape().with_rank_at_most(2)
        if labels.get_shape().ndims == 2:
            labels = tf.squeeze(labels, axis=[-1])
        predictions_idx, labels, weights = match_ranks(predictions_idx, labels, weights)
        is_whole = weights is None or weights.dtype.is_integer
        dtype = tf.int64 if is_whole else tf.float32
        table = tf.confusion_matrix(
            labels,
            predictions_idx,
            num_classes,
            weights=weights,
            dtype=dtype,
            name="counts_in_table",
        )
        parts = {
            "po": tf.diag_part(table),
            "pe_row": tf.reduce_sum(table, axis=0),
            "pe_col": tf.reduce_sum(table, axis=1),
        }
        sums = {each: metric_variable((num_classes,), dtype, name=each) for each in parts}
        updated = {each: tf.assign_add(sums[each], part) for each, part in parts.items()}
        value = collect(metrics_collections, _kappa(**sums, name="value"))
        return value, collect(updates_collections, _kappa(**updated, name="update_op"))


def _kappa(po: Any, pe_row: Any, pe_col: Any, name: str) -> Any:
    total = tf.cast(tf.reduce_sum(pe_row), tf.float64)
    observed = tf.cast(tf.reduce_sum(po), tf.float64)
    by_chance = tf.reduce_sum(tf.div_no_nan(tf.cast(pe_row * pe_col, tf.float64), total))
    return tf.div_no_nan(observed - by_chance, total - by_chance, name=name)
