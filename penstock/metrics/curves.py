"""Metrics of the curve that a threshold runs along: the area below it, points on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.tensor import Tensor
from penstock.metrics.means import Metric
from penstock.metrics.streaming import collect, collect_across_replicas, graph_mode_only
from penstock.metrics.thresholds import counts_at_thresholds
from penstock.ops.binary import div, div_no_nan, maximum, minimum, multiply
from penstock.ops.casts import cast
from penstock.ops.comparison import equal, logical_and
from penstock.ops.elementwise import abs as absolute
from penstock.ops.elementwise import log
from penstock.ops.filling import ones_like
from penstock.ops.masking import where
from penstock.ops.reductions import argmax, argmin, reduce_min, reduce_sum
from penstock.ops.scans import cumsum
from penstock.ops.variable_scope import variable_scope

__all__ = ["auc", "sensitivity_at_specificity", "specificity_at_sensitivity"]

_EDGE = 1e-7  # how far the first and last thresholds are outside of [0, 1]
_EPSILON = 1e-6
_METHODS = ("trapezoidal", "careful_interpolation", "minoring", "majoring")


def _even_thresholds(count: int) -> list[float]:
    """`count - 2` thresholds between 0 and 1."""
    return [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]


@graph_mode_only
def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """The area below a curve that is known at some thresholds.

    Args:
      predictions: probabilities, from 0 to 1.
      num_thresholds: how many thresholds, spread evenly; `thresholds` gives others.
      curve: "ROC", true over false positive rate, or "PR", precision over recall.
      summation_method: "trapezoidal", "careful_interpolation" (for PR), "minoring", "majoring".
    """
    with variable_scope(name, "auc", [labels, predictions, weights]):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown.")
        inner = _even_thresholds(num_thresholds) if thresholds is None else sorted(thresholds)
        all_thresholds = [0.0 - _EDGE, *inner, 1.0 + _EDGE]
        values, updates = counts_at_thresholds(labels, predictions, all_thresholds, weights)
        area = _interpolated_area if _is_careful(curve, summation_method) else _area
        value = collect_across_replicas(
            metrics_collections, lambda v: area(v, curve, summation_method, "value"), values
        )
        update = area(updates, curve, summation_method, "update_op")
        return value, collect(updates_collections, update)


def _is_careful(curve: str, method: str) -> bool:
    return curve == "PR" and method == "careful_interpolation"


def _area(counts: dict[str, Any], curve: str, method: str, name: str) -> Tensor:
    if method not in _METHODS:
        raise ValueError(
            f"Invalid summation_method: {method}. summation_method should be one of {_METHODS}."
        )
    tp, fn, tn, fp = (counts[kind] for kind in ("tp", "fn", "tn", "fp"))
    recalls = div(tp + _EPSILON, tp + fn + _EPSILON)
    if curve == "ROC":
        x, y = div(fp, fp + tn + _EPSILON), recalls
    else:
        x, y = recalls, div(tp + _EPSILON, tp + fp + _EPSILON)
    last = tp.shape.as_list()[0] - 1
    widths = x[:last] - x[1:]
    if method == "minoring":
        heights = minimum(y[:last], y[1:])
    elif method == "majoring":
        heights = maximum(y[:last], y[1:])
    else:
        heights = (y[:last] + y[1:]) / 2.0
    return reduce_sum(multiply(widths, heights), name=name)


def _interpolated_area(counts: dict[str, Any], curve: str, method: str, name: str) -> Tensor:
    """The area below the PR curve, where counts between thresholds are interpolated linearly."""
    tp, fn, fp = (counts[kind] for kind in ("tp", "fn", "fp"))
    last = tp.shape.as_list()[0] - 1
    more_tp = tp[:last] - tp[1:]
    positives = tp + fp
    slope = div_no_nan(more_tp, maximum(positives[:last] - positives[1:], 0), name="prec_slope")
    intercept = tp[1:] - multiply(slope, positives[1:])
    ratio = where(
        logical_and(positives[:last] > 0, positives[1:] > 0),
        div_no_nan(positives[:last], maximum(positives[1:], 0), name="recall_relative_ratio"),
        ones_like(positives[1:]),
    )
    increments = div_no_nan(
        slope * (more_tp + intercept * log(ratio)),
        maximum(tp[1:] + fn[1:], 0),
        name="pr_auc_increment",
    )
    return reduce_sum(increments, name="interpolate_pr_auc")


@graph_mode_only
def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The true positive rate at the threshold whose true negative rate is next to that given."""
    if not 0 <= specificity <= 1:
        raise ValueError(
            "`specificity` must be in the range [0, 1]. Currently, `specificity` got "
            f"{specificity}."
        )

    def point(counts: dict[str, Any], name: str) -> Tensor:
        tp, fn, tn, fp = (counts[kind] for kind in ("tp", "fn", "tn", "fp"))
        found = div(tn, tn + fp + _EDGE)
        index = cast(argmin(absolute(found - specificity), 0), dtypes.int32)
        return div(tp[index], tp[index] + fn[index] + _EDGE, name)

    with variable_scope(name, "sensitivity_at_specificity", [predictions, labels, weights]):
        thresholds = [0.0 - _EDGE, *_even_thresholds(num_thresholds), 1.0 + _EDGE]
        counts = counts_at_thresholds(labels, predictions, thresholds, weights)
        return _points(point, counts, metrics_collections, updates_collections)


@graph_mode_only
def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The true negative rate at the threshold whose true positive rate is next to that given."""
    if not 0 <= sensitivity <= 1:
        raise ValueError(
            f"`sensitivity` must be in the range [0, 1]. Currently, `sensitivity` is {sensitivity}."
        )

    def point(counts: dict[str, Any], name: str) -> Tensor:
        tp, fn, tn, fp = (counts[kind] for kind in ("tp", "fn", "tn", "fp"))
        found = div(tp, tp + fn + _EDGE)
        nearest = reduce_min(absolute(found - sensitivity))
        is_nearest = equal(absolute(found - sensitivity), nearest)
        # The last of equally near ones: there the running count is largest first.
        running = cumsum(cast(is_nearest, dtypes.int64))
        index = cast(argmax(running, 0), dtypes.int32)
        return div(tn[index], tn[index] + fp[index] + _EDGE, name)

    with variable_scope(name, "specificity_at_sensitivity", [predictions, labels, weights]):
        thresholds = [0.0 - _EDGE, *_even_thresholds(num_thresholds), 1.0 - _EDGE]
        counts = counts_at_thresholds(labels, predictions, thresholds, weights)
        return _points(point, counts, metrics_collections, updates_collections)


def _points(
    point: Callable[[dict[str, Any], str], Tensor],
    counts: tuple[dict[str, Any], dict[str, Any]],
    metrics_collections: Any,
    updates_collections: Any,
) -> Metric:
    values, updates = counts
    value = collect_across_replicas(metrics_collections, lambda v: point(v, "value"), values)
    return value, collect(updates_collections, point(updates, "update_op"))
