"""The mean average precision of ranked predictions."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import (
    SparseTensor,
    SparseTensorValue,
)
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.losses.weights_broadcast import broadcast_weights
from penstock.metrics.matching import expanded_labels
from penstock.metrics.means import Metric
from penstock.metrics.streaming import (
    collect,
    collect_across_replicas,
    graph_mode_only,
    metric_variable,
)
from penstock.metrics.top_k import at_k_name, true_positives_of
from penstock.ops.binary import div, div_no_nan, minimum, multiply
from penstock.ops.broadcasting import tile
from penstock.ops.casts import cast
from penstock.ops.comparison import greater_equal
from penstock.ops.conditionals import cond
from penstock.ops.filling import ones_like, zeros_like
from penstock.ops.joining import concat
from penstock.ops.reductions import reduce_max, reduce_sum
from penstock.ops.scans import cumsum
from penstock.ops.select import where_v2
from penstock.ops.sets import set_size
from penstock.ops.shaping import expand_dims, reshape, size
from penstock.ops.shaping import shape as shape_of
from penstock.ops.slicing import slice as slice_of
from penstock.ops.sparse_structure import sparse_concat, sparse_reshape
from penstock.ops.sparse_tensors import convert_to_tensor_or_sparse_tensor
from penstock.ops.topk import top_k
from penstock.ops.variable_updates import assign_add

__all__ = ["average_precision_at_k", "sparse_average_precision_at_k"]


@graph_mode_only
def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over examples of the precisions at each rank up to k that has a right class.

    Args:
      labels: classes, in any order, along the last dimension; a sparse tensor may have any number.
      predictions: a number per class along the last dimension.
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}. `k` should be >= 1.")
    values = [predictions, labels, weights]
    with name_scope(name, at_k_name("average_precision", k), values) as scope:
        _, chosen = top_k(predictions, k)
        num_classes = cast(shape_of(predictions)[-1], dtypes.int64)
        labels = _without_unknown_classes(labels, num_classes)
        return average_precision_of_choices(
            labels, chosen, weights, metrics_collections, updates_collections, scope
        )


sparse_average_precision_at_k = average_precision_at_k


def _without_unknown_classes(labels: Any, num_classes: Tensor) -> Any:
    """Labels with -1 for classes that there are no predictions of."""
    is_sparse = isinstance(labels, (SparseTensor, SparseTensorValue))

    def cleaned(values: Any) -> Tensor:
        return where_v2(greater_equal(values, num_classes), -1 * ones_like(values), values)

    def cleaned_labels() -> Any:
        if not is_sparse:
            return cleaned(labels)
        return type(labels)(
            indices=labels.indices,
            values=cleaned(labels.values),
            dense_shape=labels.dense_shape,
        )

    largest = reduce_max(labels.values if is_sparse else labels)
    return cond(greater_equal(largest, num_classes), cleaned_labels, lambda: labels)


def average_precision_of_choices(
    labels: Any,
    predictions_idx: Tensor,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The metric of classes that were chosen already, the best first."""
    values = [predictions_idx, labels, weights]
    with name_scope(name, "average_precision_at_top_k", values) as scope:
        precision = _average_precision(labels, predictions_idx)
        if weights is not None:
            weights = broadcast_weights(cast(weights, dtypes.float64), precision)
            precision = multiply(precision, weights)
        with name_scope(None, "max", [precision]) as max_scope:
            largest = metric_variable([], dtypes.float64, name=max_scope)
            if weights is None:
                batch = cast(size(precision, name="batch_max"), dtypes.float64)
            else:
                batch = reduce_sum(weights, name="batch_max")
            largest_update = assign_add(largest, batch, name="update")
        with name_scope(None, "total", [precision]) as total_scope:
            total = metric_variable([], dtypes.float64, name=total_scope)
            batch = reduce_sum(precision, name="batch_total")
            total_update = assign_add(total, batch, name="update")
        value = collect_across_replicas(
            metrics_collections, lambda t, m: div_no_nan(t, m, name="mean"), total, largest
        )
        update = div_no_nan(total_update, largest_update, name=scope)
        return value, collect(updates_collections, update)


def _average_precision(labels: Any, predictions_idx: Tensor) -> Tensor:
    """The average precision of each example."""
    with name_scope(None, "average_precision", [predictions_idx, labels]) as scope:
        chosen = cast(predictions_idx, dtypes.int64, name="predictions_idx")
        k = _width(chosen)
        labels = expanded_labels(labels, chosen)
        chosen_per_k = expand_dims(chosen, -1, name="predictions_idx_per_k")
        labels_per_k = _repeated(labels, k, name="labels_per_k")
        relevant = true_positives_of(labels_per_k, chosen_per_k, name="relevant_per_k")
        right = cumsum(relevant, axis=-1, name="tp_per_k")
        retrieved = cumsum(ones_like(relevant), axis=-1, name="retrieved_per_k")
        precision = div(
            cast(right, dtypes.float64), cast(retrieved, dtypes.float64), name="precision_per_k"
        )
        relevant_precision = multiply(
            precision, cast(relevant, dtypes.float64), name="relevant_precision_per_k"
        )
        total = reduce_sum(relevant_precision, axis=(-1,), name="precision_sum")
        return div(total, cast(_num_relevant(labels, k), dtypes.float64), name=scope)


def _width(predictions_idx: Tensor) -> int:
    if predictions_idx.shape.ndims == 0:
        raise ValueError("The rank of predictions_idx must be at least 1.")
    width = predictions_idx.shape.as_list()[-1]
    if width is None:
        raise ValueError("The last dimension of predictions_idx must be set.")
    return width


def _repeated(labels: Any, multiple: int, name: str) -> Any:
    """Labels `multiple` times along a new dimension before the last one."""
    with name_scope(name, "expand_and_tile", [labels]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return _repeated_sparse(labels, multiple, scope)
        expanded = expand_dims(labels, -2, name="expand")
        if multiple == 1:
            return expanded
        each = ones_like(shape_of(labels))
        multiples = concat([each[:-1], [multiple], each[-1:]], 0, name="multiples")
        return tile(expanded, multiples, name=scope)


def _repeated_sparse(labels: SparseTensor, multiple: int, scope: str) -> SparseTensor:
    last = reshape(size(labels.dense_shape) + -1, [1])
    shape = concat(
        [slice_of(labels.dense_shape, [0], last), [1], slice_of(labels.dense_shape, last, [-1])],
        0,
        name="expanded_shape",
    )
    expanded = sparse_reshape(labels, shape=shape, name="expand")
    if multiple == 1:
        return expanded
    return sparse_concat(-2, [expanded] * multiple, name=scope)


def _num_relevant(labels: Any, k: int) -> Tensor:
    """How many labels each example has, at most k."""
    with name_scope(None, "num_relevant", [labels]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return minimum(set_size(labels), k, name=scope)
        is_label = where_v2(greater_equal(labels, 0), ones_like(labels), zeros_like(labels))
        return minimum(reduce_sum(is_label, axis=-1), k, name=scope)
