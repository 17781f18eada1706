"""Heads under the names that TensorFlow's canned estimators know them by."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.heads.class_heads import (
    BinaryClassHead,
    MultiClassHead,
    binary_or_multi_class_head,
)
from penstock.estimator.heads.head import LossSpec, _Head
from penstock.estimator.heads.regression_heads import RegressionHead

__all__ = [
    "LossSpec",
    "_Head",
    "_binary_logistic_head_with_sigmoid_cross_entropy_loss",
    "_binary_logistic_or_multi_class_head",
    "_multi_class_head_with_softmax_cross_entropy_loss",
    "_regression_head",
]

_SUM = tf.losses.Reduction.SUM

_binary_logistic_or_multi_class_head = binary_or_multi_class_head


def _binary_logistic_head_with_sigmoid_cross_entropy_loss(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: Any = _SUM,
    loss_fn: Any = None,
    name: str | None = None,
) -> BinaryClassHead:
    return BinaryClassHead(
        weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
    )


def _multi_class_head_with_softmax_cross_entropy_loss(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: Any = _SUM,
    loss_fn: Any = None,
    name: str | None = None,
) -> MultiClassHead:
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def _regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: Any = _SUM,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> RegressionHead:
    return RegressionHead(
        label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name
    )
