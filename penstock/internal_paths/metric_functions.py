"""What `tensorflow.python.ops.metrics_impl` has besides the public metrics."""

from __future__ import annotations

from typing import Any

from penstock.ir.tensor import Tensor
from penstock.metrics.average_precision import (
    average_precision_of_choices as _streaming_sparse_average_precision_at_top_k,
)
from penstock.metrics.classes import streaming_confusion_matrix as _streaming_confusion_matrix
from penstock.metrics.matching import expanded_labels as _maybe_expand_labels
from penstock.metrics.matching import match_ranks as _remove_squeezable_dimensions
from penstock.metrics.streaming import collect, metric_variable
from penstock.metrics.thresholds import counts_at_thresholds
from penstock.ops.binary import div_no_nan

__all__ = [
    "_aggregate_variable",
    "_confusion_matrix_at_thresholds",
    "_maybe_expand_labels",
    "_remove_squeezable_dimensions",
    "_safe_scalar_div",
    "_streaming_confusion_matrix",
    "_streaming_sparse_average_precision_at_top_k",
    "metric_variable",
]


def _confusion_matrix_at_thresholds(
    labels: Any, predictions: Any, thresholds: Any, weights: Any = None, includes: Any = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    kinds = includes or ("tp", "fn", "tn", "fp")
    return counts_at_thresholds(labels, predictions, thresholds, weights, kinds)


def _safe_scalar_div(numerator: Any, denominator: Any, name: str) -> Tensor:
    numerator.get_shape().with_rank_at_most(1)
    denominator.get_shape().with_rank_at_most(1)
    return div_no_nan(numerator, denominator, name=name)


def _aggregate_variable(v: Any, collections: Any) -> Any:
    return collect(collections, v.read_value())
