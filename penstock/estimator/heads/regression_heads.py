"""Heads that predict numbers."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.export.outputs import ExportOutput, RegressionOutput
from penstock.estimator.heads import head, tensor_checks
from penstock.estimator.heads.keys import MetricKeys, PredictionKeys
from penstock.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

_SUM_OVER_BATCH_SIZE = tf.losses.Reduction.SUM_OVER_BATCH_SIZE


class RegressionHead(head.Head):
    """Predicts numbers; the loss is the mean squared error.

    Args:
      label_dimension: how many numbers for an example.
      weight_column: the feature that gives examples their weights: its name, or its column.
      loss_reduction: a `tf.losses.Reduction` that gives a scalar.
      loss_fn: a function of `labels` and `logits` (and `features`) for the loss of examples.
      inverse_link_fn: from logits to predictions.
      name: the head's scope, and what the names of its metrics end with.
    """

    _weights_per_logit = True

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        inverse_link_fn: Any = None,
        name: str | None = None,
    ):
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._label_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        return self._label_dimension

    @property
    def _loss_dimension(self) -> int:
        return self._label_dimension

    def _processed_labels(self, labels: Any, logits: Any) -> Any:
        labels = tensor_checks.checked_labels(labels, logits, self._label_dimension, self._wording)
        return tf.cast(labels, tf.float32)

    def _unweighted_loss(self, labels: Any, logits: Any) -> Any:
        return tf.losses.mean_squared_error(
            labels=labels, predictions=logits, reduction=tf.losses.Reduction.NONE
        )

    def _predictions(self, logits: Any) -> dict[str, Any]:
        logits = self._checked_logits(logits)
        if self._inverse_link_fn is None:
            return {PredictionKeys.PREDICTIONS: logits}
        predicted = self._inverse_link_fn(logits)
        return {PredictionKeys.PREDICTIONS: predicted, PredictionKeys.LOGITS: logits}

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        output = RegressionOutput(predictions[PredictionKeys.PREDICTIONS])
        return {DEFAULT_SERVING_SIGNATURE_DEF_KEY: output, head.REGRESS_SERVING_KEY: output}

    def _metrics(
        self, predictions: dict[str, Any], loss: head.LossSpec, labels: Any
    ) -> dict[str, Any]:
        keys = MetricKeys
        return {
            keys.LOSS_MEAN: tf.metrics.mean(values=loss.unreduced_loss, weights=loss.weights),
            keys.PREDICTION_MEAN: head.mean_metric(
                predictions[PredictionKeys.PREDICTIONS],
                loss.weights,
                keys.PREDICTION_MEAN,
                "predictions_mean",
                "predictions",
            ),
            keys.LABEL_MEAN: tf.metrics.mean(values=loss.processed_labels, weights=loss.weights),
        }


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
        def poisson_loss(labels: Any, logits: Any) -> Any:
            return tf.nn.log_poisson_loss(
                targets=labels, log_input=logits, compute_full_loss=compute_full_loss
            )

        super().__init__(
            label_dimension,
            weight_column,
            loss_reduction,
            loss_fn=poisson_loss,
            inverse_link_fn=tf.exp,
            name=name,
        )


class LogisticRegressionHead(RegressionHead):
    """Predicts probabilities, from labels between 0 and 1."""

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        name: str | None = None,
    ):
        def logistic_loss(labels: Any, logits: Any) -> Any:
            labels = tensor_checks.in_range(
                labels, n_classes=2, message="Labels must be in range [0, 1]"
            )
            return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

        super().__init__(
            1,
            weight_column,
            loss_reduction,
            loss_fn=logistic_loss,
            inverse_link_fn=tf.sigmoid,
            name=name,
        )
