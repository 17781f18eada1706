"""Metrics that count right and wrong binary predictions, and precision and recall."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor
from penstock.metrics.matching import match_ranks
from penstock.metrics.means import Metric
from penstock.metrics.streaming import (
    collect,
    collect_across_replicas,
    graph_mode_only,
    metric_variable,
)
from penstock.ops.binary import div, multiply
from penstock.ops.casts import cast
from penstock.ops.comparison import equal, greater, logical_and
from penstock.ops.identity import identity
from penstock.ops.masking import where
from penstock.ops.rank_assertions import assert_rank_in
from penstock.ops.reductions import reduce_sum
from penstock.ops.shaping import rank
from penstock.ops.type_assertions import assert_type
from penstock.ops.variable_scope import variable_scope
from penstock.ops.variable_updates import assign_add

__all__ = [
    "false_negatives",
    "false_positives",
    "precision",
    "recall",
    "true_negatives",
    "true_positives",
]


def _as_bool(labels: Any, predictions: Any, weights: Any) -> tuple[Tensor, Tensor, Any]:
    return match_ranks(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)


def _count_pairs(
    scope: str,
    label: bool,
    prediction: bool,
    labels: Any,
    predictions: Any,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> Metric:
    """How often a label came with a prediction, as a sum of weights."""
    with variable_scope(name, scope, [predictions, labels, weights]):
        predictions, labels, weights = _as_bool(labels, predictions, weights)
        is_pair = logical_and(equal(labels, label), equal(predictions, prediction))
        return _count_condition(is_pair, weights, metrics_collections, updates_collections)


def _count_condition(
    values: Tensor, weights: Any, metrics_collections: Any, updates_collections: Any
) -> Metric:
    assert_type(values, dtypes.bool)
    count = metric_variable([], dtypes.float32, name="count")
    values = cast(values, dtypes.float32)
    if weights is not None:
        check = assert_rank_in(weights, (0, rank(values)))
        with get_default_graph().control_dependencies([check]):
            weights = cast(weights, dtypes.float32)
            values = multiply(values, weights)
    value = collect_across_replicas(metrics_collections, identity, count)
    update = assign_add(count, reduce_sum(values))
    return value, collect(updates_collections, update)


@graph_mode_only
def true_positives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a true label was predicted true, as a sum of weights."""
    arguments = (labels, predictions, weights, metrics_collections, updates_collections, name)
    return _count_pairs("true_positives", True, True, *arguments)


@graph_mode_only
def true_negatives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a false label was predicted false, as a sum of weights."""
    arguments = (labels, predictions, weights, metrics_collections, updates_collections, name)
    return _count_pairs("true_negatives", False, False, *arguments)


@graph_mode_only
def false_positives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a false label was predicted true, as a sum of weights."""
    arguments = (labels, predictions, weights, metrics_collections, updates_collections, name)
    return _count_pairs("false_positives", False, True, *arguments)


@graph_mode_only
def false_negatives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a true label was predicted false, as a sum of weights."""
    arguments = (labels, predictions, weights, metrics_collections, updates_collections, name)
    return _count_pairs("false_negatives", True, False, *arguments)


@graph_mode_only
def precision(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the true predictions has a true label, 0 if there are none."""
    with variable_scope(name, "precision", [predictions, labels, weights]):
        predictions, labels, weights = _as_bool(labels, predictions, weights)
        right, right_update = true_positives(labels, predictions, weights)
        wrong, wrong_update = false_positives(labels, predictions, weights)
        value = collect_across_replicas(metrics_collections, _part, right, wrong)
        return value, collect(updates_collections, _part(right_update, wrong_update, "update_op"))


@graph_mode_only
def recall(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the true labels was predicted true, 0 if there are none."""
    with variable_scope(name, "recall", [predictions, labels, weights]):
        predictions, labels, weights = _as_bool(labels, predictions, weights)
        right, right_update = true_positives(labels, predictions, weights)
        wrong, wrong_update = false_negatives(labels, predictions, weights)
        value = collect_across_replicas(metrics_collections, _part, right, wrong)
        return value, collect(updates_collections, _part(right_update, wrong_update, "update_op"))


def _part(right: Any, wrong: Any, name: str = "value") -> Tensor:
    return where(greater(right + wrong, 0), div(right, right + wrong), 0, name)
