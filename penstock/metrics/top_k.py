"""Metrics of the k classes with the highest predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.losses.weights_broadcast import assert_broadcastable
from penstock.metrics.matching import expanded_labels
from penstock.metrics.means import Metric
from penstock.metrics.streaming import (
    collect,
    collect_across_replicas,
    graph_mode_only,
    metric_variable,
)
from penstock.ops.binary import add, div, multiply
from penstock.ops.casts import cast
from penstock.ops.comparison import equal
from penstock.ops.filling import fill
from penstock.ops.joining import concat
from penstock.ops.reductions import reduce_sum
from penstock.ops.sets import set_difference, set_intersection, set_size
from penstock.ops.shaping import shape as shape_of
from penstock.ops.sparse_structure import sparse_retain
from penstock.ops.sparse_tensors import convert_to_tensor_or_sparse_tensor
from penstock.ops.topk import top_k
from penstock.ops.variable_updates import assign_add

__all__ = [
    "precision_at_k",
    "precision_at_top_k",
    "recall_at_k",
    "recall_at_top_k",
    "sparse_precision_at_k",
]

# The set whose size counts, from predicted classes and labels.
_Compared = Callable[[Any, Any], SparseTensor]


def at_k_name(name: str, k: int | None = None, class_id: int | None = None) -> str:
    """The name of a metric at k, for one class if `class_id` is given."""
    name = f"{name}_at_k" if k is None else f"{name}_at_{k}"
    return name if class_id is None else f"{name}_class{class_id}"


def _only_class(ids: Any, class_id: Any) -> SparseTensor:
    ids = convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, SparseTensor):
        return sparse_retain(ids, equal(ids.values, class_id))
    shape = shape_of(ids, out_type=dtypes.int64)
    one_each = concat([shape[:-1], [1]], 0)
    wanted = fill(one_each, cast(class_id, dtypes.int64))
    found = set_intersection(wanted, ids)
    return SparseTensor(indices=found.indices, values=found.values, dense_shape=shape)


def _set_sizes(
    compared: _Compared, predictions_idx: Any, labels: Any, class_id: Any, weights: Any
) -> Tensor:
    if class_id is not None:
        labels, predictions_idx = (
            _only_class(labels, class_id),
            _only_class(predictions_idx, class_id),
        )
    sizes = cast(set_size(compared(predictions_idx, labels)), dtypes.float64)
    if weights is None:
        return sizes
    with get_default_graph().control_dependencies([assert_broadcastable(weights, sizes)]):
        return multiply(sizes, cast(weights, dtypes.float64))


def true_positives_of(
    labels: Any,
    predictions_idx: Any,
    class_id: Any = None,
    weights: Any = None,
    name: str | None = None,
) -> Tensor:
    """How many of the predicted classes are among the labels, along the last dimension."""
    with name_scope(name, "true_positives", [predictions_idx, labels, weights]):
        return _set_sizes(set_intersection, predictions_idx, labels, class_id, weights)


def _streamed(
    kind: str,
    compared: _Compared,
    labels: Any,
    predictions_idx: Any,
    k: int | None,
    class_id: Any,
    weights: Any,
) -> tuple[Any, Any]:
    """A variable with the number of classes of a kind seen so far, and its update."""
    values = [predictions_idx, labels, weights]
    with name_scope(None, at_k_name(kind, k, class_id), values) as scope:
        with name_scope(None, f"{kind}s", values):
            sizes = _set_sizes(compared, predictions_idx, labels, class_id, weights)
        batch = cast(reduce_sum(sizes), dtypes.float64)
        variable = metric_variable([], dtypes.float64, name=scope)
        return variable, assign_add(variable, batch, name="update")


def _missed(predictions_idx: Any, labels: Any) -> SparseTensor:
    return set_difference(predictions_idx, labels, aminusb=False)


def _part_at_top_k(
    metric: str,
    wrong_kind: str,
    wrongly: _Compared,
    labels: Any,
    predictions_idx: Any,
    k: int | None,
    class_id: Any,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> Metric:
    values = [predictions_idx, labels, weights]
    with name_scope(name, at_k_name(metric, k, class_id), values) as scope:
        labels = expanded_labels(labels, predictions_idx)
        chosen = cast(predictions_idx, dtypes.int64)
        arguments = (labels, chosen, k, class_id, weights)
        right, right_update = _streamed("true_positive", set_intersection, *arguments)
        wrong, wrong_update = _streamed(wrong_kind, wrongly, *arguments)
        value = collect_across_replicas(
            metrics_collections, lambda r, w: div(r, add(r, w), name=scope), right, wrong
        )
        update = div(right_update, add(right_update, wrong_update), name="update")
        return value, collect(updates_collections, update)


@graph_mode_only
def precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the predicted classes is among the labels.

    Args:
      labels: classes, in any order, along the last dimension; a sparse tensor may have any number.
      predictions_idx: the predicted classes along the last dimension.
      class_id: the only class to count, None for all.
    """
    arguments = (labels, predictions_idx, k, class_id, weights)
    collections = (metrics_collections, updates_collections)
    return _part_at_top_k(
        "precision", "false_positive", set_difference, *arguments, *collections, name
    )


@graph_mode_only
def recall_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the labels is among the predicted classes; see `precision_at_top_k`."""
    arguments = (labels, predictions_idx, k, class_id, weights)
    collections = (metrics_collections, updates_collections)
    return _part_at_top_k("recall", "false_negative", _missed, *arguments, *collections, name)


@graph_mode_only
def precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the k classes with the highest predictions is among the labels."""
    values = [predictions, labels, weights]
    with name_scope(name, at_k_name("precision", k, class_id), values) as scope:
        _, chosen = top_k(predictions, k)
        collections = (metrics_collections, updates_collections)
        return precision_at_top_k(labels, chosen, k, class_id, weights, *collections, name=scope)


@graph_mode_only
def recall_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the labels is among the k classes with the highest predictions."""
    values = [predictions, labels, weights]
    with name_scope(name, at_k_name("recall", k, class_id), values) as scope:
        _, chosen = top_k(predictions, k)
        collections = (metrics_collections, updates_collections)
        return recall_at_top_k(labels, chosen, k, class_id, weights, *collections, name=scope)


sparse_precision_at_k = precision_at_k
