"""Metrics of binary predictions by probability, at several thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor
from penstock.losses.weights_broadcast import broadcast_weights
from penstock.metrics.matching import match_ranks
from penstock.metrics.means import Metric
from penstock.metrics.streaming import (
    collect,
    collect_across_replicas,
    graph_mode_only,
    metric_variable,
)
from penstock.ops.binary import div
from penstock.ops.broadcasting import tile
from penstock.ops.casts import cast
from penstock.ops.comparison import greater, logical_and, logical_not
from penstock.ops.constants import constant
from penstock.ops.identity import identity
from penstock.ops.joining import stack
from penstock.ops.permuting import transpose
from penstock.ops.reductions import reduce_sum
from penstock.ops.shaping import expand_dims, reshape
from penstock.ops.shaping import shape as shape_of
from penstock.ops.value_assertions import assert_greater_equal, assert_less_equal
from penstock.ops.variable_scope import variable_scope
from penstock.ops.variable_updates import assign_add

__all__ = [
    "false_negatives_at_thresholds",
    "false_positives_at_thresholds",
    "precision_at_thresholds",
    "recall_at_thresholds",
    "true_negatives_at_thresholds",
    "true_positives_at_thresholds",
]

# Kind of count: name of its variable, whether the label is true, whether the prediction is.
_KINDS = {
    "tp": ("true_positives", True, True),
    "fn": ("false_negatives", True, False),
    "tn": ("true_negatives", False, False),
    "fp": ("false_positives", False, True),
}
_EPSILON = 1e-7


def counts_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    includes: Sequence[str] = tuple(_KINDS),
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables and updates, by kind, that count predictions above and below each threshold.

    Args:
      predictions: probabilities, from 0 to 1.
      includes: the kinds to count: "tp", "fn", "tn", "fp".
    """
    for kind in includes:
        if kind not in _KINDS:
            raise ValueError(f"Invalid key: {kind}.")
    predictions, labels, weights = _checked(predictions, labels, weights)
    count = len(thresholds)
    column = reshape(predictions, [-1, 1])
    label_row = reshape(cast(labels, dtypes.bool), [1, -1])
    number: Any = column.shape.as_list()[0]
    if number is None:
        number = shape_of(column)[0]
    limits = tile(expand_dims(constant(thresholds), [1]), stack([1, number]))
    predicted = {True: greater(tile(transpose(column), [count, 1]), limits)}
    if "fn" in includes or "tn" in includes:
        predicted[False] = logical_not(predicted[True])
    labelled = {True: tile(label_row, [count, 1])}
    if "fp" in includes or "tn" in includes:
        labelled[False] = logical_not(labelled[True])
    if weights is not None:
        weights = broadcast_weights(cast(weights, dtypes.float32), predictions)
        weights = tile(reshape(weights, [1, -1]), [count, 1])
        limits.shape.assert_is_compatible_with(weights.shape)
    values, updates = {}, {}
    for kind, (name, label, prediction) in _KINDS.items():
        if kind in includes:
            values[kind] = metric_variable([count], dtypes.float32, name=name)
            is_kind = logical_and(labelled[label], predicted[prediction])
            updates[kind] = _added(values[kind], is_kind, weights)
    return values, updates


def _checked(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Tensor, Any]:
    message = "predictions must be in [0, 1]"
    predictions = convert_to_tensor(predictions)
    checks = [
        assert_greater_equal(predictions, cast(0.0, predictions.dtype), message=message),
        assert_less_equal(predictions, cast(1.0, predictions.dtype), message=message),
    ]
    with get_default_graph().control_dependencies(checks):
        return match_ranks(cast(predictions, dtypes.float32), cast(labels, dtypes.bool), weights)


def _added(variable: Any, is_counted: Tensor, weights: Tensor | None) -> Tensor:
    counted = cast(is_counted, dtypes.float32)
    if weights is not None:
        counted *= weights
    return assign_add(variable, reduce_sum(counted, 1))


def _count_at_thresholds(
    kind: str,
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> Metric:
    with variable_scope(name, _KINDS[kind][0], [predictions, labels, weights]):
        values, updates = counts_at_thresholds(
            labels, predictions, thresholds, weights, includes=(kind,)
        )
        value = collect_across_replicas(metrics_collections, identity, values[kind])
        return value, collect(updates_collections, updates[kind])


@graph_mode_only
def true_positives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a true label had a probability above each threshold."""
    collections = (metrics_collections, updates_collections)
    return _count_at_thresholds("tp", labels, predictions, thresholds, weights, *collections, name)


@graph_mode_only
def true_negatives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a false label had a probability of at most each threshold."""
    collections = (metrics_collections, updates_collections)
    return _count_at_thresholds("tn", labels, predictions, thresholds, weights, *collections, name)


@graph_mode_only
def false_positives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a false label had a probability above each threshold."""
    collections = (metrics_collections, updates_collections)
    return _count_at_thresholds("fp", labels, predictions, thresholds, weights, *collections, name)


@graph_mode_only
def false_negatives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a true label had a probability of at most each threshold."""
    collections = (metrics_collections, updates_collections)
    return _count_at_thresholds("fn", labels, predictions, thresholds, weights, *collections, name)


@graph_mode_only
def precision_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the probabilities above each threshold has a true label."""
    with variable_scope(name, "precision_at_thresholds", [predictions, labels, weights]):
        values, updates = counts_at_thresholds(
            labels, predictions, thresholds, weights, includes=("tp", "fp")
        )
        value = collect_across_replicas(
            metrics_collections,
            lambda tp, fp: _part(tp, fp, "precision_value"),
            values["tp"],
            values["fp"],
        )
        update = _part(updates["tp"], updates["fp"], "precision_update_op")
        return value, collect(updates_collections, update)


@graph_mode_only
def recall_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the true labels has a probability above each threshold."""
    with variable_scope(name, "recall_at_thresholds", [predictions, labels, weights]):
        values, updates = counts_at_thresholds(
            labels, predictions, thresholds, weights, includes=("tp", "fn")
        )
        value = collect_across_replicas(
            metrics_collections,
            lambda tp, fn: _part(tp, fn, "recall_value"),
            values["tp"],
            values["fn"],
        )
        update = _part(updates["tp"], updates["fn"], "recall_update_op")
        return value, collect(updates_collections, update)


def _part(right: Any, wrong: Any, name: str) -> Tensor:
    return div(right, _EPSILON + right + wrong, name=name)
