"""Metrics that are means: of values, of correct predictions, of errors."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor
from penstock.losses.weights_broadcast import broadcast_weights
from penstock.metrics.matching import match_ranks
from penstock.metrics.streaming import (
    collect,
    collect_across_replicas,
    graph_mode_only,
    metric_variable,
)
from penstock.ops import confusion
from penstock.ops.binary import (
    div,
    div_no_nan,
    maximum,
    multiply,
    squared_difference,
    subtract,
)
from penstock.ops.casts import cast
from penstock.ops.comparison import equal, less
from penstock.ops.elementwise import abs as absolute
from penstock.ops.elementwise import sqrt
from penstock.ops.filling import ones_like, zeros_like
from penstock.ops.masking import where
from penstock.ops.reductions import reduce_sum
from penstock.ops.shaping import size
from penstock.ops.variable_scope import variable_scope
from penstock.ops.variable_updates import assign_add

__all__ = [
    "accuracy",
    "mean",
    "mean_absolute_error",
    "mean_cosine_distance",
    "mean_relative_error",
    "mean_squared_error",
    "mean_tensor",
    "percentage_below",
    "root_mean_squared_error",
]

Metric = tuple[Any, Any]  # the value, and the operation that updates it and gives the new one


@graph_mode_only
def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of all values seen, and the operation that adds the current ones.

    Args:
      weights: a scalar, or of the rank of the values with each dimension 1 or the values'.
      metrics_collections: collections to add the mean to.
      updates_collections: collections to add the operation to.
    """
    with variable_scope(name, "mean", [values, weights]):
        values = cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            seen = cast(size(values), dtypes.float32)
        else:
            values, weights = _weighted(values, weights)
            seen = reduce_sum(weights)
        total_update = assign_add(total, reduce_sum(values))
        with get_default_graph().control_dependencies([values]):
            count_update = assign_add(count, seen)
        return _quotients(
            total, count, total_update, count_update, metrics_collections, updates_collections
        )


def _weighted(values: Tensor, weights: Any) -> tuple[Tensor, Tensor]:
    values, _, weights = match_ranks(values, None, weights)
    weights = broadcast_weights(cast(weights, dtypes.float32), values)
    return multiply(values, weights), weights


def _quotients(
    total: Any,
    count: Any,
    total_update: Any,
    count_update: Any,
    metrics_collections: Any,
    updates_collections: Any,
) -> Metric:
    def quotient(total: Any, count: Any) -> Tensor:
        return div_no_nan(total, maximum(count, 0), name="value")

    value = collect_across_replicas(metrics_collections, quotient, total, count)
    update = div_no_nan(total_update, maximum(count_update, 0), name="update_op")
    return value, collect(updates_collections, update)


@graph_mode_only
def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The element-wise weighted mean of all tensors seen; see `tf.metrics.mean`."""
    with variable_scope(name, "mean", [values, weights]):
        values = cast(values, dtypes.float32)
        total = metric_variable(values.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(values.shape, dtypes.float32, name="count_tensor")
        seen = ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            seen = multiply(seen, weights)
        total_update = assign_add(total, values)
        with get_default_graph().control_dependencies([values]):
            count_update = assign_add(count, seen)
        return _quotients(
            total, count, total_update, count_update, metrics_collections, updates_collections
        )


@graph_mode_only
def accuracy(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How many predictions equal their labels, as a mean; see `tf.metrics.mean`."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    if labels.dtype != predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    is_correct = cast(equal(predictions, labels), dtypes.float32)
    return mean(is_correct, weights, metrics_collections, updates_collections, name or "accuracy")


@graph_mode_only
def mean_absolute_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean absolute difference of predictions and labels; see `tf.metrics.mean`."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    errors = absolute(predictions - labels)
    return mean(
        errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error"
    )


@graph_mode_only
def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """1 less the mean cosine of the angle between unit vectors along `dim`."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    products = multiply(predictions, labels)
    cosines = reduce_sum(products, axis=[dim], keepdims=True)
    value, update = mean(cosines, weights, None, None, name or "mean_cosine_distance")
    value = collect_across_replicas(metrics_collections, lambda each: subtract(1.0, each), value)
    return value, collect(updates_collections, subtract(1.0, update))


@graph_mode_only
def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of absolute errors divided by `normalizer`, 0 where that is 0."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    predictions, normalizer = confusion.remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = where(
        equal(normalizer, 0.0),
        zeros_like(labels),
        div(absolute(labels - predictions), normalizer),
    )
    return mean(
        errors, weights, metrics_collections, updates_collections, name or "mean_relative_error"
    )


@graph_mode_only
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean squared difference of predictions and labels; see `tf.metrics.mean`."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    errors = squared_difference(labels, predictions)
    return mean(
        errors, weights, metrics_collections, updates_collections, name or "mean_squared_error"
    )


@graph_mode_only
def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The square root of the mean squared difference of predictions and labels."""
    predictions, labels, weights = match_ranks(predictions, labels, weights)
    squared, squared_update = mean_squared_error(
        labels, predictions, weights, None, None, name or "root_mean_squared_error"
    )
    value = collect_across_replicas(metrics_collections, sqrt, squared)
    return value, collect(updates_collections, sqrt(squared_update))


@graph_mode_only
def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the values is below `threshold`; see `tf.metrics.mean`."""
    is_below = cast(less(values, threshold), dtypes.float32)
    return mean(
        is_below,
        weights,
        metrics_collections,
        updates_collections,
        name or "percentage_below_threshold",
    )
