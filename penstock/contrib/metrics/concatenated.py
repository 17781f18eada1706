"""Metrics of all values that have come, which are kept: areas under curves without thresholds."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import penstock as tf
from penstock.metrics.matching import match_ranks
from penstock.metrics.streaming import collect, metric_variable

__all__ = ["auc_with_confidence_intervals", "streaming_concat", "streaming_dynamic_auc"]

Metric = tuple[Any, Any]

_EPSILON = 1e-7
_GROWTH = 1.5


def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """All values that have come, joined along an axis.

    Args:
      values: a tensor whose sizes are known but for that of `axis`.
      max_size: how many entries are kept at most; what comes later is dropped.
    """
    with tf.variable_scope(name, "streaming_concat", (values,)):
        shape = values.get_shape()
        if shape.ndims is None:
            raise ValueError("`values` must have known statically known rank")
        rank = shape.ndims
        axis = axis + rank if axis < 0 else axis
        if not 0 <= axis < rank:
            raise ValueError(f"axis = {axis!r} not in [0, {rank!r})")
        fixed = [size for place, size in enumerate(shape.as_list()) if place != axis]
        if None in fixed:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must "
                "have statically known size"
            )
        kept = _Kept(values.dtype, fixed, max_size)
        value = tf.transpose(kept.valid(), _first_to(axis, rank), name="concat")
        update = kept.append(tf.transpose(values, _to_first(axis, rank)))
        return collect(metrics_collections, value), collect(updates_collections, update)


def _to_first(axis: int, rank: int) -> list[int]:
    """The permutation that moves an axis to the front."""
    return [axis, *(other for other in range(rank) if other != axis)]


def _first_to(axis: int, rank: int) -> list[int]:
    """The inverse of `_to_first`."""
    order = _to_first(axis, rank)
    return [order.index(place) for place in range(rank)]


def _next_array_size(required_size: Any, growth_factor: float = _GROWTH) -> Any:
    """The least power of the factor that is enough, rounded up."""
    needed, factor = tf.cast(required_size, tf.float32), tf.cast(growth_factor, tf.float32)
    return tf.cast(tf.ceil(growth_factor ** tf.ceil(tf.log(needed) / tf.log(factor))), tf.int32)


class _Kept:
    """Rows in a variable that is larger than they are, so that it rarely has to grow."""

    def __init__(self, dtype: Any, fixed: list[int], max_size: int | None):
        self._fixed = fixed
        self._max_size = max_size
        self.array = metric_variable(
            [max_size or 0, *fixed], dtype, validate_shape=False, name="array"
        )
        self.size = metric_variable([], tf.int32, name="size")

    def valid(self) -> Any:
        rows = self.array[: self.size]
        rows.set_shape([None, *self._fixed])
        return rows

    def append(self, rows: Any) -> Any:
        """Adds rows; the op's value is how many there are."""
        count = tf.shape(rows)[0]
        if self._max_size is not None:
            count = tf.minimum(count, tf.subtract(self._max_size, self.size))
        size = self.size + count
        capacity = tf.shape(self.array)[0]
        grown = tf.cond(size > capacity, lambda: self._grow(size), tf.no_op)
        with tf.control_dependencies([grown]):
            written = self.array[self.size : size].assign(rows[:count])
        with tf.control_dependencies([written]):
            return self.size.assign(size)

    def _grow(self, needed: Any) -> Any:
        capacity = _next_array_size(needed)
        old = self.array[: self.size]
        empty = tf.zeros(tf.stack([capacity, *self._fixed]), dtype=old.dtype)
        with tf.control_dependencies([old]):
            replaced = tf.assign(self.array, empty, validate_shape=False)
        with tf.control_dependencies([replaced]):
            copied = self.array[: self.size].assign(old)
        with tf.control_dependencies([copied]):
            return tf.no_op()


def _labels_checks(labels: Any) -> list[Any]:
    return [
        tf.assert_greater_equal(
            labels,
            tf.zeros_like(labels, tf.int64),
            message="labels must be 0 or 1, at least one is <0",
        ),
        tf.assert_less_equal(
            labels,
            tf.ones_like(labels, tf.int64),
            message="labels must be 0 or 1, at least one is >1",
        ),
    ]


def streaming_dynamic_auc(
    labels: Any,
    predictions: Any,
    curve: str = "ROC",
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
    weights: Any = None,
) -> Metric:
    """The area under the ROC or PR curve whose thresholds are the predictions themselves."""
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with tf.variable_scope(name, default_name="dynamic_auc"):
        labels.get_shape().assert_is_compatible_with(predictions.get_shape())
        predictions = tf.reshape(tf.cast(predictions, tf.float64), [-1])
        labels = tf.reshape(tf.cast(labels, tf.int64), [-1])
        with tf.control_dependencies(_labels_checks(labels)):
            all_predictions, add_predictions = streaming_concat(predictions, name="concat_preds")
            all_labels, add_labels = streaming_concat(labels, name="concat_labels")
            all_weights, updates = None, [add_labels, add_predictions]
            if weights is not None:
                weights = tf.reshape(tf.cast(weights, tf.float64), [-1])
                all_weights, add_weights = streaming_concat(weights, name="concat_weights")
                updates.append(add_weights)
            update = tf.group(*updates)
            auc = _dynamic_auc(all_labels, all_predictions, curve, all_weights)
        return collect(metrics_collections, auc), collect(updates_collections, update)


def _dynamic_auc(labels: Any, predictions: Any, curve: str, weights: Any) -> Any:
    """The area by trapezoids; 0 where all labels are the same."""
    if weights is None:
        weights = tf.ones_like(labels, dtype=tf.float64)
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    none = tf.zeros_like(labels, dtype=tf.float64)
    total = tf.reduce_sum(weights)
    positive = tf.reduce_sum(tf.where(tf.greater(labels, 0), weights, none))

    def area() -> Any:
        ordered, order = tf.nn.top_k(predictions, k=tf.size(predictions))
        of_positive = tf.where(tf.greater(labels, 0), weights, none)
        _, _, counts = tf.unique_with_counts(ordered)
        # Equal predictions are one step of the curve.
        steps = tf.pad(tf.cumsum(counts), paddings=[[1, 0]])

        def so_far(amounts: Any) -> Any:
            summed = tf.cumsum(tf.gather(amounts, order))
            return tf.gather(tf.pad(summed, paddings=[[1, 0]]), steps)

        hits = so_far(of_positive)
        if curve == "ROC":
            x = tf.truediv(so_far(weights - of_positive), total - positive)
            y = tf.truediv(hits, positive)
        else:
            x = tf.truediv(hits, positive)
            y = tf.where(
                tf.greater(steps, 0), tf.truediv(hits, so_far(weights)), tf.ones_like(hits)
            )
        return tf.reduce_sum((y[1:] + y[:-1]) / 2.0 * tf.abs(x[1:] - x[:-1]))

    is_trivial = tf.logical_or(tf.equal(positive, 0), tf.equal(positive, total))
    return tf.cond(is_trivial, lambda: tf.constant(0, tf.float64), area)


class AucData(NamedTuple):
    """An area under a curve and the bounds of its confidence interval."""

    auc: Any
    lower: Any
    upper: Any


def auc_with_confidence_intervals(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
) -> Metric:
    """The area under the ROC curve with its confidence interval, by placement values.

    Args:
      alpha: how sure the interval is to contain the area, between 0 and 1.
      logit_transformation: whether the interval is that of the area's logit, and so within 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    if weights is None:
        weights = tf.ones_like(predictions)
    with tf.variable_scope(
        name,
        default_name="auc_with_confidence_intervals",
        values=[labels, predictions, weights],
    ):
        predictions, labels, weights = match_ranks(predictions, labels, weights)
        total = tf.reduce_sum(weights)
        weights = tf.reshape(weights, [-1])
        predictions = tf.reshape(tf.cast(predictions, tf.float64), [-1])
        labels = tf.reshape(tf.cast(labels, tf.int64), [-1])
        with tf.control_dependencies(_labels_checks(labels)):
            all_predictions, add_predictions = streaming_concat(predictions, name="concat_preds")
            all_labels, add_labels = streaming_concat(labels, name="concat_labels")
            all_weights, add_weights = streaming_concat(weights, name="concat_weights")
            updates = tf.group(add_labels, add_predictions, add_weights)
            has_both = tf.logical_and(
                tf.equal(tf.reduce_min(labels), 0), tf.equal(tf.reduce_max(labels), 1)
            )
            has_weight = tf.greater_equal(total, 1.0)
            update = tf.cond(has_weight, lambda: updates, tf.no_op)
            found = _placement_auc(
                all_labels, all_predictions, all_weights, alpha, logit_transformation
            )
            parts = tf.cond(
                tf.logical_and(has_both, has_weight),
                lambda: list(found),
                lambda: [tf.constant(0.0)] * 3,
            )
            auc = AucData(*parts)
        return collect(metrics_collections, auc), collect(updates_collections, update)


def _placement_auc(
    labels: Any, predictions: Any, weights: Any, alpha: float, logit_transformation: bool
) -> AucData:
    """The area as the probability that a positive's prediction is above a negative's.

    A positive's placement is the part of the negatives below it, and a negative's that of the
    positives; the variance of the placements is that of the area (DeLong and others, 1988).
    """
    falling, order = tf.nn.top_k(predictions, k=tf.size(predictions), sorted=True)
    rising, order = tf.reverse(falling, [0]), tf.reverse(order, [0])
    weights = tf.gather(weights, order)
    is_positive = tf.cast(tf.gather(labels, order), weights.dtype)
    _, level = tf.unique(rising)
    of_positives, of_negatives = weights * is_positive, weights * (1.0 - is_positive)

    def placements(among: Any) -> Any:
        """Which part of `among` is below each prediction; of equal ones half."""
        at_level = tf.segment_sum(among, level)
        below = tf.cumsum(at_level, exclusive=True) + at_level / 2.0
        return tf.gather(below / (tf.reduce_sum(at_level) + _EPSILON), level)

    def mean_and_spread(values: Any, weighted: Any) -> tuple[Any, Any, Any]:
        total = tf.reduce_sum(weighted)
        mean = tf.reduce_sum(weighted * values) / (total + _EPSILON)
        spread = tf.reduce_sum(weighted * tf.squared_difference(values, mean))
        variance = spread / (total - 1.0 + _EPSILON)
        return total, mean, variance / (total + _EPSILON)

    positives, from_positives, first = mean_and_spread(placements(of_negatives), of_positives)
    negatives, from_negatives, second = mean_and_spread(
        1.0 - placements(of_positives), of_negatives
    )
    auc = tf.where(tf.less(negatives, positives), from_positives, from_negatives)
    return _with_interval(auc, tf.sqrt(first + second), alpha, logit_transformation)


def _with_interval(auc: Any, deviation: Any, alpha: float, in_logits: bool) -> AucData:
    below = NormalDist().inv_cdf((1.0 - alpha) / 2.0)
    if in_logits:
        logit = tf.log(auc / (1.0 - auc + _EPSILON))
        step = below * deviation / (auc * (1.0 - auc + _EPSILON))
        bounds = [1.0 / (1.0 + tf.exp(-each) + _EPSILON) for each in (logit + step, logit - step)]
    else:
        bounds = [auc + below * deviation, auc - below * deviation]
    is_certain = tf.logical_or(tf.equal(auc, tf.ones_like(auc)), tf.equal(auc, tf.zeros_like(auc)))
    return AucData(auc, *(tf.where(is_certain, auc, bound) for bound in bounds))
