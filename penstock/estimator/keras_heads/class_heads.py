"""Heads for classes of which an example has one: two of them, or more."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.heads import class_heads as canned
from penstock.estimator.heads.keys import MetricKeys, PredictionKeys
from penstock.estimator.keras_heads.head import (
    SingleHead,
    threshold_keys,
    threshold_metrics,
    update_mean,
)
from penstock.estimator.keras_heads.settings import checked_n_classes
from penstock.losses.weights_broadcast import broadcast_weights

_SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


def _check_vocabulary(label_vocabulary: Any) -> None:
    if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
        raise ValueError(
            f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}"
        )


class BinaryClassHead(SingleHead, canned.BinaryClassHead):
    """Predicts one of two classes, by the logit of the second.

    Args:
      weight_column: the feature that gives examples their weights: its name, or its column.
      thresholds: probabilities at which to measure accuracy, precision and recall.
      label_vocabulary: the names of the two classes, if labels are strings.
      loss_reduction: a `tf.keras.losses.Reduction` that gives a scalar.
      loss_fn: a function of `labels` and `logits` (and `features`) for the loss of examples.
      name: the head's scope, and what the names of its metrics end with.
    """

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        name: str | None = None,
    ):
        _check_vocabulary(label_vocabulary)
        super().__init__(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)

    def _own_metrics(self) -> dict[str, Any]:
        keys, metrics = MetricKeys, tf.keras.metrics
        return {
            keys.ACCURACY: metrics.Accuracy(name=keys.ACCURACY),
            keys.PRECISION: metrics.Precision(name=keys.PRECISION),
            keys.RECALL: metrics.Recall(name=keys.RECALL),
            keys.PREDICTION_MEAN: metrics.Mean(name=keys.PREDICTION_MEAN),
            keys.LABEL_MEAN: metrics.Mean(name=keys.LABEL_MEAN),
            keys.ACCURACY_BASELINE: metrics.Mean(name=keys.ACCURACY_BASELINE),
            keys.AUC: metrics.AUC(name=keys.AUC),
            keys.AUC_PR: metrics.AUC(curve="PR", name=keys.AUC_PR),
            **threshold_metrics(self._thresholds, self._summary_key),
        }

    def _update_own_metrics(
        self, metrics: dict[str, Any], logits: Any, labels: Any, weights: Any
    ) -> None:
        keys = MetricKeys
        predictions = self.predictions(logits)
        class_ids = predictions[PredictionKeys.CLASS_IDS]
        logistic = predictions[PredictionKeys.LOGISTIC]
        for key in (keys.ACCURACY, keys.PRECISION, keys.RECALL):
            self._metric(metrics, key).update_state(
                y_true=labels, y_pred=class_ids, sample_weight=weights
            )
        update_mean(self._metric(metrics, keys.PREDICTION_MEAN), logistic, weights)
        update_mean(self._metric(metrics, keys.LABEL_MEAN), labels, weights)
        _follow(
            self._metric(metrics, keys.ACCURACY_BASELINE), self._metric(metrics, keys.LABEL_MEAN)
        )
        each = None if weights is None else broadcast_weights(weights, logistic)
        for key in (keys.AUC, keys.AUC_PR):
            self._metric(metrics, key).update_state(
                y_true=labels, y_pred=logistic, sample_weight=each
            )
        for key in threshold_keys(self._thresholds):
            self._metric(metrics, key).update_state(
                y_true=labels, y_pred=logistic, sample_weight=weights
            )


def _follow(accuracy_baseline: Any, label_mean: Any) -> None:
    """Lets the accuracy of the more frequent class be computed from the mean of labels.

    It has nothing to update: its total and count are tensors of the other metric's variables.
    """
    accuracy_baseline._updates = [tf.no_op()]
    accuracy_baseline.total = tf.maximum(label_mean.total, label_mean.count - label_mean.total)
    accuracy_baseline.count = label_mean.count


class MultiClassHead(SingleHead, canned.MultiClassHead):
    """Predicts one of more than two classes, by a logit for each.

    Args:
      n_classes: how many classes there are.
      weight_column: the feature that gives examples their weights: its name, or its column.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: a `tf.keras.losses.Reduction` that gives a scalar.
      loss_fn: a function of `labels` and `logits` (and `features`) for the loss of examples.
      name: the head's scope, and what the names of its metrics end with.
    """

    def __init__(
        self,
        n_classes: Any,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        name: str | None = None,
    ):
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        _check_vocabulary(label_vocabulary)
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(
                '"label_vocabulary" does not have "n_classes" items. '
                f"len(label_vocabulary)={len(label_vocabulary)}, n_classes={n_classes}, "
                f"label_vocabulary={label_vocabulary}"
            )
        canned._ClassHead.__init__(
            self, weight_column, label_vocabulary, loss_reduction, loss_fn, name
        )
        self._n_classes = checked_n_classes(n_classes)

    def _own_metrics(self) -> dict[str, Any]:
        return {MetricKeys.ACCURACY: tf.keras.metrics.Accuracy(name=MetricKeys.ACCURACY)}

    def _update_own_metrics(
        self, metrics: dict[str, Any], logits: Any, labels: Any, weights: Any
    ) -> None:
        self._metric(metrics, MetricKeys.ACCURACY).update_state(
            y_true=labels,
            y_pred=self.predictions(logits)[PredictionKeys.CLASS_IDS],
            sample_weight=weights,
        )


def binary_or_multi_class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: Any
) -> SingleHead:
    """The head for so many classes."""
    if n_classes == 2:
        return BinaryClassHead(
            weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction
        )
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
