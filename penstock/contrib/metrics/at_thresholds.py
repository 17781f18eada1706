"""Streaming metrics of probabilities, over many thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.metrics.streaming import collect
from penstock.metrics.thresholds import counts_at_thresholds

__all__ = [
    "precision_at_recall",
    "recall_at_precision",
    "streaming_curve_points",
    "streaming_false_negative_rate_at_thresholds",
    "streaming_false_negatives_at_thresholds",
    "streaming_false_positive_rate_at_thresholds",
    "streaming_false_positives_at_thresholds",
    "streaming_true_negatives_at_thresholds",
    "streaming_true_positives_at_thresholds",
]

Metric = tuple[Any, Any]
Counts = dict[str, Any]

_EPSILON = 1e-7


def _evenly_spaced(count: int) -> list[float]:
    inner = [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]


def _counts(name: str, kind: str) -> Callable[..., Metric]:
    """The metric of one kind of counts; unlike that of `tf.metrics` it opens no scope."""

    def counted(
        predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None
    ) -> Metric:
        values, updates = counts_at_thresholds(
            labels, predictions, thresholds, weights, includes=(kind,)
        )
        return values[kind], updates[kind]

    counted.__name__ = counted.__qualname__ = f"streaming_{name}_at_thresholds"
    counted.__doc__ = f"How many {name.replace('_', ' ')} there are at each threshold."
    return counted


streaming_false_negatives_at_thresholds = _counts("false_negatives", "fn")
streaming_false_positives_at_thresholds = _counts("false_positives", "fp")
streaming_true_negatives_at_thresholds = _counts("true_negatives", "tn")
streaming_true_positives_at_thresholds = _counts("true_positives", "tp")


def _rate_at_thresholds(name: str, part: str, rest: str, short: str) -> Callable[..., Metric]:
    """The metric `part / (part + rest)` of two kinds of counts."""

    def rate(
        predictions: Any,
        labels: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with tf.variable_scope(name, default_scope, (predictions, labels, weights)):
            counts = counts_at_thresholds(
                labels, predictions, thresholds, weights, includes=(part, rest)
            )
            value, update = (
                tf.div(found[part], _EPSILON + found[part] + found[rest], name=f"{short}_{kind}")
                for found, kind in zip(counts, ("value", "update_op"), strict=True)
            )
            return collect(metrics_collections, value), collect(updates_collections, update)

    default_scope = name
    rate.__name__ = rate.__qualname__ = f"streaming_{name}"
    rate.__doc__ = f"The {name.replace('_', ' ')}."
    return rate


streaming_false_positive_rate_at_thresholds = _rate_at_thresholds(
    "false_positive_rate_at_thresholds", "fp", "tn", "fpr"
)
streaming_false_negative_rate_at_thresholds = _rate_at_thresholds(
    "false_negative_rate_at_thresholds", "fn", "tp", "fnr"
)


def streaming_curve_points(
    labels: Any = None,
    predictions: Any = None,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
) -> Metric:
    """The points of a curve, a row each.

    Args:
      curve: `ROC` for false positive rate and recall, `PR` for recall and precision.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    epsilon = 1e-6
    with tf.variable_scope(name, "curve_points", (labels, predictions, weights)):
        values, updates = counts_at_thresholds(
            labels, predictions, _evenly_spaced(num_thresholds), weights
        )
        tp, fn, tn, fp = (values[kind] for kind in ("tp", "fn", "tn", "fp"))
        recall = tf.div(tp + epsilon, tp + fn + epsilon)
        if curve == "ROC":
            points = tf.stack([tf.div(fp, fp + tn + epsilon), recall], axis=1)
        else:
            points = tf.stack([recall, tf.div(tp + epsilon, tp + fp + epsilon)], axis=1)
        update = tf.group(*updates.values())
        return collect(metrics_collections, points), collect(updates_collections, update)


def _best(
    kind: str,
    arguments: Sequence[Any],
    num_thresholds: int,
    name: str | None,
    collections: Sequence[Any],
    choose: Callable[[Counts, str], Any],
) -> Metric:
    """A metric that is chosen among the thresholds."""
    labels, predictions, weights = arguments
    with tf.variable_scope(name, kind, (predictions, labels, weights)):
        values, updates = counts_at_thresholds(
            labels, predictions, _evenly_spaced(num_thresholds), weights
        )
        value = collect(collections[0], choose(values, "value"))
        return value, collect(collections[1], choose(updates, "update_op"))


def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> Metric:
    """The recall at the threshold where precision comes closest to a value.

    Args:
      strict_mode: whether precision must not be below the value; recall is 0 if it always is.
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")

    def choose(counts: Counts, name: str) -> Any:
        tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
        precisions = tf.div(tp, tp + fp + _EPSILON)
        difference = precisions - precision
        if strict_mode:
            index = tf.argmax(tf.div(1.0, difference + _EPSILON), 0, output_type=tf.int32)
        else:
            index = tf.argmin(tf.abs(difference), 0, output_type=tf.int32)

        def recall() -> Any:
            return tf.div(tp[index], tp[index] + fn[index] + _EPSILON, name)

        if not strict_mode:
            return recall()
        return tf.cond(precisions[index] >= precision, recall, lambda: 0.0)

    return _best(
        "recall_at_precision",
        (labels, predictions, weights),
        num_thresholds,
        name,
        (metrics_collections, updates_collections),
        choose,
    )


def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The precision at the greatest threshold with at least a given recall."""
    if not 0 <= target_recall <= 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def choose(counts: Counts, name: str) -> Any:
        tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
        reaches = tf.greater_equal(tf.div(tp, tp + fn + _EPSILON), target_recall)
        index = tf.reduce_sum(tf.cast(reaches, tf.int64)) - 1
        return tf.div(tp[index] + _EPSILON, tp[index] + fp[index] + _EPSILON, name)

    return _best(
        "precision_at_recall",
        (labels, predictions, weights),
        num_thresholds,
        name,
        (metrics_collections, updates_collections),
        choose,
    )
