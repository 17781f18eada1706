"""The heads that boosted trees grow for: two classes, or one number."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.heads.class_heads import BinaryClassHead
from penstock.estimator.heads.regression_heads import RegressionHead
from penstock.estimator.heads.tensor_checks import checked_labels

_MEAN = tf.losses.Reduction.SUM_OVER_BATCH_SIZE


def classification_head(
    n_classes: int, weight_column: Any = None, label_vocabulary: Any = None
) -> BinaryClassHead:
    """A head that tells two classes apart; ValueError for more."""
    if n_classes != 2:
        raise ValueError(
            f"For now only binary classification is supported.n_classes given as {n_classes}"
        )
    return BinaryClassHead(
        weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=_MEAN
    )


def classification_head_and_closed_form(
    n_classes: int, weight_column: Any, label_vocabulary: Any
) -> tuple[BinaryClassHead, Any]:
    """A head for two classes, and the derivatives of its loss where a formula knows them."""
    head = classification_head(n_classes, weight_column, label_vocabulary)
    is_plain = weight_column is None and label_vocabulary is None
    return head, _logistic_derivatives(head) if is_plain else None


def regression_head(label_dimension: int, weight_column: Any = None) -> RegressionHead:
    """A head that predicts a number; ValueError for more."""
    if label_dimension != 1:
        raise ValueError(
            "For now only 1 dimension regression is supported."
            f"label_dimension given as {label_dimension}"
        )
    return RegressionHead(label_dimension, weight_column, _MEAN)


def _logistic_derivatives(head: Any) -> Any:
    """The derivatives of the mean logistic loss, in closed form."""

    def derivatives(logits: Any, labels: Any) -> tuple[Any, Any]:
        predictions = tf.reciprocal(tf.exp(-logits) + 1.0)
        share = tf.reciprocal(tf.cast(tf.size(predictions), tf.float32))
        wanted = checked_labels(tf.cast(labels, tf.float32), logits, head.logits_dimension)
        return (predictions - wanted) * share, predictions * (1.0 - predictions) * share

    return derivatives
