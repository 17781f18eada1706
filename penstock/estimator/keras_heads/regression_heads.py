"""Heads that predict numbers."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.heads import regression_heads as canned
from penstock.estimator.heads import tensor_checks
from penstock.estimator.heads.keys import MetricKeys, PredictionKeys
from penstock.estimator.keras_heads.head import SingleHead, update_mean

_SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


class RegressionHead(SingleHead, canned.RegressionHead):
    """Predicts numbers; the loss is the mean squared error.

    Args:
      label_dimension: how many numbers for an example.
      weight_column: the feature that gives examples their weights: its name, or its column.
      loss_reduction: a `tf.keras.losses.Reduction` that gives a scalar.
      loss_fn: a function of `labels` and `logits` (and `features`) for the loss of examples.
      inverse_link_fn: from logits to predictions.
      name: the head's scope, and what the names of its metrics end with.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        inverse_link_fn: Any = None,
        name: str | None = None,
    ):
        super().__init__(
            label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name
        )

    def _own_metrics(self) -> dict[str, Any]:
        keys = (MetricKeys.PREDICTION_MEAN, MetricKeys.LABEL_MEAN)
        return {key: tf.keras.metrics.Mean(name=key) for key in keys}

    def _update_own_metrics(
        self, metrics: dict[str, Any], logits: Any, labels: Any, weights: Any
    ) -> None:
        self._metric(metrics, MetricKeys.LABEL_MEAN).update_state(
            values=labels, sample_weight=weights
        )
        predicted = self.predictions(logits)[PredictionKeys.PREDICTIONS]
        update_mean(self._metric(metrics, MetricKeys.PREDICTION_MEAN), predicted, weights)


class PoissonRegressionHead(RegressionHead):
    """Predicts counts: the loss is that of a Poisson distribution, the logits are its log rate.

    Args:
      compute_full_loss: whether the loss has the term that doesn't depend on predictions.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        compute_full_loss: bool = True,
        name: str | None = None,
    ):
        self._compute_full_loss = compute_full_loss
        super().__init__(
            label_dimension,
            weight_column,
            loss_reduction,
            loss_fn=self._poisson_loss,
            inverse_link_fn=tf.exp,
            name=name,
        )

    def _poisson_loss(self, labels: Any, logits: Any) -> Any:
        return tf.nn.log_poisson_loss(
            targets=labels, log_input=logits, compute_full_loss=self._compute_full_loss
        )


class LogisticRegressionHead(RegressionHead):
    """Predicts probabilities, from labels between 0 and 1."""

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        name: str | None = None,
    ):
        super().__init__(
            1,
            weight_column,
            loss_reduction,
            loss_fn=self._logistic_loss,
            inverse_link_fn=tf.sigmoid,
            name=name,
        )

    def _logistic_loss(self, labels: Any, logits: Any) -> Any:
        labels = tensor_checks.in_range(
            labels, n_classes=2, message="Labels must be in range [0, 1]"
        )
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
