"""Accuracy of a batch, and the F1 score over thresholds."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.metrics.streaming import collect
from penstock.metrics.thresholds import counts_at_thresholds

_EPSILON = 1e-7


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """The share of predictions in a batch that equal their labels."""
    if not (labels.dtype.is_integer or labels.dtype in (tf.bool, tf.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(
            "Dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype!r}) and labels ({labels.dtype!r})"
        )
    with tf.name_scope(name, "accuracy", values=[predictions, labels]):
        is_correct = tf.cast(tf.equal(predictions, labels), tf.float32)
        if weights is None:
            return tf.reduce_mean(is_correct)
        weighted = tf.multiply(is_correct, weights)
        total = tf.multiply(weights, tf.ones_like(weighted))
        return tf.div(tf.reduce_sum(weighted), tf.reduce_sum(total))


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The best F1 score of probabilities over thresholds, as a streaming metric."""
    inner = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    thresholds = [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]
    with tf.variable_scope(name, "f1", (labels, predictions, weights)):
        counts = counts_at_thresholds(
            labels, predictions, thresholds, weights, includes=("tp", "fp", "fn")
        )
        value, update_op = (
            _best_f1(found, kind) for found, kind in zip(counts, ("value", "update"), strict=True)
        )
        return collect(metrics_collections, value), collect(updates_collections, update_op)


def _best_f1(counts: dict[str, Any], name: str) -> Any:
    right = counts["tp"]
    precision = tf.div(right, _EPSILON + right + counts["fp"], name=f"precision_{name}")
    recall = tf.div(right, _EPSILON + right + counts["fn"], name=f"recall_{name}")
    return tf.reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON))
