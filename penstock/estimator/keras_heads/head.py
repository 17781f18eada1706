"""`tf.estimator.Head`, and what the heads of one model's end share."""

from __future__ import annotations

import abc
from typing import Any

import penstock as tf
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.export.outputs import PredictOutput
from penstock.estimator.heads import head as canned
from penstock.estimator.heads.keys import MetricKeys
from penstock.estimator.heads.wording import OF_KERAS_HEADS
from penstock.estimator.keras_heads.settings import LOSS_FN_MAY_TAKE, checked_reduction
from penstock.estimator.keras_heads.training import summarize, train_op_of
from penstock.estimator.mode_keys import ModeKeys
from penstock.losses.weights_broadcast import broadcast_weights


class Head(abc.ABC):
    """The end of a model: from logits to predictions, loss, metrics and outputs.

    A subclass has what is abstract here, and either `create_estimator_spec` or
    `_create_tpu_estimator_spec`.
    """

    @property
    @abc.abstractmethod
    def name(self) -> Any:
        """The head's scope, and what the names of its metrics end with."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> Any:
        """The size of the logits' last dimension."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> Any:
        """A `tf.keras.losses.Reduction`."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The loss of a batch, with regularization."""

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Any]:
        """What the head makes of logits, by name; all of it, or what `keys` names."""

    @abc.abstractmethod
    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metrics, which are objects, by name."""

    @abc.abstractmethod
    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        mode: str | None = None,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        """The metrics, updated with a batch."""

    def _summary_key(self, key: str) -> str:
        return f"{key}/{self.name}" if self.name else key

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Any = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """The `EstimatorSpec` of a model with these logits.

        Args:
          features: tensors by name.
          mode: a `ModeKeys`.
          logits: the last dimension is `logits_dimension`.
          labels: as the head wants them; not needed for prediction.
          optimizer: a `tf.keras.optimizers.Optimizer` that minimizes the loss; or
          trainable_variables: what it changes.
          train_op_fn: a function from the loss to the training operation.
          update_ops: more to run with a training step.
          regularization_losses: scalars to add to the loss.
        """
        try:
            spec = self._create_tpu_estimator_spec(
                features=features,
                mode=mode,
                logits=logits,
                labels=labels,
                optimizer=optimizer,
                trainable_variables=trainable_variables,
                train_op_fn=train_op_fn,
                update_ops=update_ops,
                regularization_losses=regularization_losses,
            )
        except NotImplementedError:
            raise NotImplementedError(
                "Subclasses of Head must implement `create_estimator_spec()` or "
                "_create_tpu_estimator_spec()."
            ) from None
        made: EstimatorSpec = spec.as_estimator_spec()
        return made

    def _create_tpu_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Any = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        raise NotImplementedError("TPUEstimatorSpec not available for this model head.")


class SingleHead(canned.Head, Head):
    """A head of one end, which says of labels, losses and predictions what its canned twin does.

    A subclass adds `_own_metrics` and `_update_own_metrics`.
    """

    _wording = OF_KERAS_HEADS
    _checked_reduction = staticmethod(checked_reduction)
    _loss_fn_may_take = LOSS_FN_MAY_TAKE

    # What a head is -----------------------------------------------------------------------------

    def _own_metrics(self) -> dict[str, Any]:
        """New metrics, by their names without the head's."""
        raise NotImplementedError

    def _update_own_metrics(
        self, metrics: dict[str, Any], logits: Any, labels: Any, weights: Any
    ) -> None:
        """Updates the metrics but that of the loss; `labels` are as they are used."""
        raise NotImplementedError

    # What is done with it -----------------------------------------------------------------------

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Any = None,
    ) -> Any:
        from penstock.keras.utils.weighting import compute_weighted_loss

        with tf.name_scope("losses"):
            logits = self._checked_logits(logits)
            labels = self._processed_labels(labels, logits)
            losses, weights = self._losses_and_weights(features, logits, labels)
            total = compute_weighted_loss(
                losses, sample_weight=weights, reduction=self._loss_reduction
            )
            if regularization_losses is not None:
                total = total + tf.add_n(regularization_losses)
        return total

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        with tf.name_scope("metrics"):
            found = {MetricKeys.LOSS_MEAN: tf.keras.metrics.Mean(name=MetricKeys.LOSS_MEAN)}
            found.update(self._own_metrics())
            if regularization_losses is not None:
                key = MetricKeys.LOSS_REGULARIZATION
                found[key] = tf.keras.metrics.Mean(name=key)
        return {self._summary_key(key): metric for key, metric in found.items()}

    def update_metrics(  # type: ignore[override] # as TensorFlow's single heads: no mode
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        logits = self._checked_logits(logits)
        labels = self._processed_labels(labels, logits)
        losses, weights = self._losses_and_weights(features, logits, labels)
        self._metric(eval_metrics, MetricKeys.LOSS_MEAN).update_state(
            values=losses, sample_weight=weights
        )
        self._update_own_metrics(eval_metrics, logits, labels, weights)
        if regularization_losses is not None:
            metric = self._metric(eval_metrics, MetricKeys.LOSS_REGULARIZATION)
            metric.update_state(values=tf.add_n(regularization_losses))
        return eval_metrics

    def _metric(self, metrics: dict[str, Any], key: str) -> Any:
        return metrics[self._summary_key(key)]

    def create_estimator_spec(self, *args: Any, **kwargs: Any) -> EstimatorSpec:
        return Head.create_estimator_spec(self, *args, **kwargs)

    def _create_tpu_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Any = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        from penstock.contrib.tpu.estimator import TPUEstimatorSpec

        with tf.name_scope(self._name, "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = {
                    **self._export_outputs(predictions),
                    canned.PREDICT_SERVING_KEY: PredictOutput(predictions),
                }
                return TPUEstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                measured = self._measured(features, logits, labels, regularization_losses)
                return TPUEstimatorSpec(
                    mode, predictions=predictions, loss=loss, eval_metrics=measured
                )
            train_op = train_op_of(
                loss,
                optimizer,
                trainable_variables,
                train_op_fn,
                update_ops,
                self._loss_reduction,
            )
        summarize(loss, regularization_losses, self._summary_key)
        return TPUEstimatorSpec(
            ModeKeys.TRAIN, predictions=predictions, loss=loss, train_op=train_op
        )

    def _measured(
        self, features: Any, logits: Any, labels: Any, regularization_losses: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The function that updates the metrics, and the tensors that it takes."""
        metrics = self.metrics(regularization_losses)

        def updated(logits: Any, labels: Any) -> dict[str, Any]:
            return self.update_metrics(
                metrics, features, logits, labels, regularization_losses=regularization_losses
            )

        return updated, {"logits": logits, "labels": labels}


def update_mean(metric: Any, values: Any, weights: Any) -> None:
    """Updates a mean with values, each with the weight of its example."""
    values = tf.cast(values, tf.float32)
    if weights is not None:
        weights = broadcast_weights(weights, values)
    metric.update_state(values=values, sample_weight=weights)


def threshold_metrics(thresholds: Any, full_key: Any) -> dict[str, Any]:
    """Accuracy, precision and recall where probabilities from a threshold on count as yes."""
    found: dict[str, Any] = {}
    for threshold in thresholds:
        for key, metric, argument in _AT_THRESHOLD:
            key = key % threshold
            made = getattr(tf.keras.metrics, metric)
            found[key] = made(name=full_key(key), **{argument: threshold})
    return found


def threshold_keys(thresholds: Any) -> list[str]:
    """The names of `threshold_metrics`."""
    return [key % threshold for threshold in thresholds for key, _, _ in _AT_THRESHOLD]


_AT_THRESHOLD = (
    (MetricKeys.ACCURACY_AT_THRESHOLD, "BinaryAccuracy", "threshold"),
    (MetricKeys.PRECISION_AT_THRESHOLD, "Precision", "thresholds"),
    (MetricKeys.RECALL_AT_THRESHOLD, "Recall", "thresholds"),
)
