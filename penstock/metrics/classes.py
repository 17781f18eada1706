"""Metrics that are means over classes."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.tensor import Tensor
from penstock.metrics.means import Metric
from penstock.metrics.streaming import (
    collect,
    collect_across_replicas,
    graph_mode_only,
    metric_variable,
)
from penstock.ops import confusion
from penstock.ops.binary import div, div_no_nan, maximum
from penstock.ops.casts import cast
from penstock.ops.comparison import equal, greater, not_equal
from penstock.ops.diagonals import diag_part
from penstock.ops.filling import ones, ones_like
from penstock.ops.masking import where
from penstock.ops.reductions import reduce_mean, reduce_sum
from penstock.ops.shaping import reshape, size
from penstock.ops.variable_scope import variable_scope
from penstock.ops.variable_updates import assign_add, scatter_add

__all__ = ["mean_iou", "mean_per_class_accuracy"]


def _flat(tensor: Tensor) -> Tensor:
    rank = tensor.shape.ndims
    if rank is None:
        raise TypeError(f"The rank of {tensor.name!r} must be known")
    return reshape(tensor, [-1]) if rank > 1 else tensor


@graph_mode_only
def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of their intersection over union; the update gives the counts."""
    with variable_scope(name, "mean_iou", [predictions, labels, weights]):
        predictions.shape.assert_is_compatible_with(labels.shape)
        total, update = streaming_confusion_matrix(labels, predictions, num_classes, weights)
        value = collect_across_replicas(metrics_collections, _mean_iou, total)
        return value, collect(updates_collections, update)


def streaming_confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any, weights: Any = None
) -> tuple[Any, Any]:
    """The sum of the confusion matrices so far, and the op that adds this batch's."""
    total = metric_variable(
        [num_classes, num_classes], dtypes.float64, name="total_confusion_matrix"
    )
    predictions = cast(predictions, dtypes.int64)
    labels = cast(labels, dtypes.int64)
    num_classes = cast(num_classes, dtypes.int64)
    predictions, labels = _flat(predictions), _flat(labels)
    if weights is not None:
        weights = _flat(weights)
    current = confusion.confusion_matrix(
        labels, predictions, num_classes, weights=weights, dtype=dtypes.float64
    )
    return total, assign_add(total, current)


def _mean_iou(counts: Any) -> Tensor:
    predicted = cast(reduce_sum(counts, 0), dtypes.float32)
    labelled = cast(reduce_sum(counts, 1), dtypes.float32)
    both = cast(diag_part(counts), dtypes.float32)
    either = predicted + labelled - both
    occurring = reduce_sum(cast(not_equal(either, 0), dtypes.float32))
    either = where(greater(either, 0), either, ones_like(either))
    iou = div(both, either)
    return where(greater(occurring, 0), reduce_sum(iou, name="mean_iou") / occurring, 0)


@graph_mode_only
def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of their accuracy; the update gives the accuracies."""
    with variable_scope(name, "mean_accuracy", [predictions, labels, weights]):
        labels = _flat(cast(labels, dtypes.int64))
        predictions = _flat(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        each = ones([size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = cast(predictions, labels.dtype)
        is_correct = cast(equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = cast(_flat(weights), dtypes.float32)
            is_correct *= weights
            each *= weights
        total_update = scatter_add(total, labels, each)
        count_update = scatter_add(count, labels, is_correct)
        value = collect_across_replicas(metrics_collections, _mean_accuracy, total, count)
        update = div_no_nan(count_update, maximum(total_update, 0), name="update_op")
        return value, collect(updates_collections, update)


def _mean_accuracy(total: Any, count: Any) -> Tensor:
    return reduce_mean(div_no_nan(count, maximum(total, 0)), name="mean_accuracy")
