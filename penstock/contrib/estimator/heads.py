"""Heads by the functions that `tf.contrib.estimator` makes them with."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator import heads

_SUM_OVER_BATCH_SIZE = tf.losses.Reduction.SUM_OVER_BATCH_SIZE

binary_classification_head = heads.BinaryClassHead
multi_class_head = heads.MultiClassHead
multi_head = heads.MultiHead
logistic_regression_head = heads.LogisticRegressionHead


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
    loss_fn: Any = None,
    classes_for_class_based_metrics: Any = None,
    name: str | None = None,
) -> heads.MultiLabelHead:
    """A head for classes of which an example may have any number; see `MultiLabelHead`."""
    return heads.MultiLabelHead(
        n_classes,
        weight_column,
        thresholds,
        label_vocabulary,
        loss_reduction,
        loss_fn,
        classes_for_class_based_metrics,
        name,
    )


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> heads.RegressionHead:
    """A head that predicts numbers; see `RegressionHead`."""
    return heads.RegressionHead(
        label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name
    )


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> heads.PoissonRegressionHead:
    """A head that predicts counts; see `PoissonRegressionHead`."""
    return heads.PoissonRegressionHead(
        label_dimension, weight_column, loss_reduction, compute_full_loss, name
    )
