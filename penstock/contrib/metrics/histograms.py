"""Metrics that count predictions in bins of equal width."""

from __future__ import annotations

from typing import Any, NamedTuple

import penstock as tf
from penstock.metrics.matching import match_ranks
from penstock.metrics.streaming import metric_variable
from penstock.ops.confusion import remove_squeezable_dimensions

__all__ = ["auc_using_histogram", "precision_recall_at_equal_thresholds"]

Metric = tuple[Any, Any]

_EPSILON = 1e-7


class PrecisionRecallData(NamedTuple):
    """Counts, precision and recall, each with an entry per threshold."""

    tp: Any
    fp: Any
    tn: Any
    fn: Any
    precision: Any
    recall: Any
    thresholds: Any


def precision_recall_at_equal_thresholds(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Metric:
    """Precision and recall at evenly spaced thresholds, in time that is not their product.

    Args:
      labels: a boolean tensor.
      predictions: numbers from 0 to 1.
      num_thresholds: 201 if None.
    """
    count = 201 if num_thresholds is None else num_thresholds
    weights = 1.0 if weights is None else weights
    locked = True if use_locking is None else use_locking
    tf.assert_type(labels, tf.bool)
    scope_name = "precision_recall_at_equal_thresholds"
    with tf.variable_scope(name, scope_name, (labels, predictions, weights)):
        with tf.control_dependencies(_within_0_and_1(predictions)):
            predictions, labels, weights = match_ranks(predictions, labels, weights)
        weights = tf.cast(weights, tf.float64)
        is_true = tf.cast(labels, tf.float64)
        flat = tf.reshape(predictions, [-1])
        bins = tf.cast(tf.floor(flat * (count - 1)), tf.int32)
        with tf.name_scope("variables"):
            true_bins = metric_variable([count], tf.float64, name="tp_buckets")
            false_bins = metric_variable([count], tf.float64, name="fp_buckets")
        with tf.name_scope("update_op"):
            updates = [
                tf.scatter_add(kept, bins, tf.reshape(amount * weights, [-1]), use_locking=locked)
                for kept, amount in ((true_bins, is_true), (false_bins, 1.0 - is_true))
            ]
        result = _precision_recall(true_bins, false_bins, flat.dtype)
        return result, tf.group(*updates)


def _within_0_and_1(predictions: Any) -> list[Any]:
    message = "predictions must be in [0, 1]"
    low, high = (tf.cast(bound, predictions.dtype) for bound in (0.0, 1.0))
    return [
        tf.assert_greater_equal(predictions, low, message=message),
        tf.assert_less_equal(predictions, high, message=message),
    ]


def _precision_recall(true_bins: Any, false_bins: Any, dtype: Any) -> PrecisionRecallData:
    tp = tf.cumsum(true_bins, reverse=True, name="tp")
    fp = tf.cumsum(false_bins, reverse=True, name="fp")
    tn, fn = fp[0] - fp, tp[0] - tp
    least = tf.convert_to_tensor(_EPSILON, dtype=tf.float64)
    precision = tp / tf.maximum(least, tp + fp)
    recall = tp / tf.maximum(least, tp + fn)
    thresholds = tf.lin_space(0.0, 1.0, true_bins.shape.as_list()[0])
    parts = (tp, fp, tn, fn, precision, recall, thresholds)
    return PrecisionRecallData(*(tf.cast(part, dtype) for part in parts))


def auc_using_histogram(
    boolean_labels: Any,
    scores: Any,
    score_range: Any,
    nbins: int = 100,
    collections: Any = None,
    check_shape: bool = True,
    name: str | None = None,
) -> Metric:
    """The area under the ROC curve, from histograms of the scores of both classes.

    Args:
      score_range: the least and the greatest score; others count as these.
      collections: where the histograms' variables go; local variables if None.
      check_shape: whether running checks that labels and scores are vectors.
    """
    places = [tf.GraphKeys.LOCAL_VARIABLES] if collections is None else collections
    values = [boolean_labels, scores, score_range]
    with tf.variable_scope(name, "auc_using_histogram", values):
        scores, boolean_labels = remove_squeezable_dimensions(scores, boolean_labels)
        score_range = tf.convert_to_tensor(score_range, name="score_range")
        labels, scores = _checked(boolean_labels, scores, check_shape)
        with tf.variable_scope(None, "make_auc_histograms", [labels, scores, nbins]):
            of_true, of_false = (
                tf.histogram_fixed_width(
                    tf.boolean_mask(scores, chosen), score_range, nbins, tf.int64, name=title
                )
                for title, chosen in (
                    ("hist_true", labels),
                    ("hist_false", tf.logical_not(labels)),
                )
            )
        with tf.variable_scope(None, "hist_accumulate", [of_true, of_false]):
            kept = [
                tf.get_variable(
                    title,
                    shape=[nbins],
                    dtype=tf.int64,
                    initializer=tf.zeros_initializer(),
                    collections=places,
                    trainable=False,
                )
                for title in ("hist_true_acc", "hist_false_acc")
            ]
            update = tf.group(
                kept[0].assign_add(of_true), kept[1].assign_add(of_false), name="update_op"
            )
        return _area(*kept), update


def _checked(labels: Any, scores: Any, check_shape: bool) -> tuple[Any, Any]:
    labels = tf.convert_to_tensor(labels, name="boolean_labels")
    scores = tf.convert_to_tensor(scores, name="scores")
    if labels.dtype != tf.bool:
        raise ValueError(
            f"Argument boolean_labels should have dtype bool.  Found: {labels.dtype!r}"
        )
    if not check_shape:
        return labels, scores
    checks = [
        tf.Assert(
            tf.equal(1, tf.rank(each)),
            [f"Argument {title} should have rank 1.  Found: ", each.name, tf.shape(each)],
        )
        for title, each in (("boolean_labels", labels), ("scores", scores))
    ]
    with tf.control_dependencies(checks):
        return tf.identity(labels), tf.identity(scores)


def _strict_1d_cumsum(tensor: Any, len_tensor: int) -> Any:
    """The sums of a vector's beginnings; its length is known."""
    return tf.cumsum(tf.cast(tensor, tf.float32)) if len_tensor else tf.constant([])


def _area(of_true: Any, of_false: Any) -> Any:
    """The area by trapezoids over the bins, from high scores to low ones."""
    rises, widths = (
        tf.cast(tf.reverse(tf.truediv(each, tf.reduce_sum(each)), [0]), tf.float32)
        for each in (of_true, of_false)
    )
    heights = tf.cumsum(rises) + tf.cumsum(rises, exclusive=True)
    return tf.reduce_sum(widths * heights / 2.0, name="auc")
