"""What all heads share: from logits and labels to an `EstimatorSpec`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import penstock as tf
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.export.outputs import ClassificationOutput, ExportOutput, PredictOutput
from penstock.estimator.heads import tensor_checks
from penstock.estimator.heads.keys import MetricKeys
from penstock.estimator.heads.wording import OF_CANNED_HEADS, Wording
from penstock.estimator.mode_keys import ModeKeys
from penstock.losses.weights_broadcast import broadcast_weights
from penstock.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

CLASSIFY_SERVING_KEY = "classification"
REGRESS_SERVING_KEY = "regression"
PREDICT_SERVING_KEY = "predict"

LossSpec = namedtuple(
    "LossSpec", ["training_loss", "unreduced_loss", "weights", "processed_labels"]
)


class _Head:
    """The end of a model, of which a subclass says all; `Head` has what most of them share."""

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> EstimatorSpec:
        """What a model function returns, made of logits and labels."""
        try:
            spec = self._create_tpu_estimator_spec(
                features, mode, logits, labels, optimizer, *args, **kwargs
            )
        except NotImplementedError:
            raise NotImplementedError(
                "Subclasses of _Head must implement `create_estimator_spec()` or "
                "_create_tpu_estimator_spec()."
            ) from None
        made: EstimatorSpec = spec.as_estimator_spec()
        return made

    def _create_tpu_estimator_spec(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("TPUEstimatorSpec not available for this model head.")


class Head(_Head):
    """The end of a model: what it makes of logits, and what it loses by them.

    A subclass says what the labels, the loss of an example, the predictions and the metrics are.

    Args:
      weight_column: the feature that gives examples their weights: its name, or its column.
      loss_reduction: a `tf.losses.Reduction` that gives a scalar.
      loss_fn: a function of `labels` and `logits` (and `features`) for the loss of examples.
      name: the head's scope, and what the names of its metrics end with.
    """

    #: Whether a weight may be given for each logit.
    _weights_per_logit = False

    #: What the head says of labels, logits and weights that it can't use.
    _wording: Wording = OF_CANNED_HEADS

    _checked_reduction = staticmethod(tensor_checks.checked_reduction)

    #: What a loss function may ask for besides labels and logits.
    _loss_fn_may_take: tuple[str, ...] = ("features",)

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: Any = tf.losses.Reduction.SUM,
        loss_fn: Any = None,
        name: str | None = None,
    ):
        tensor_checks.check_loss_fn(loss_fn, self._loss_fn_may_take)
        self._weight_column = weight_column
        self._loss_reduction = self._checked_reduction(loss_reduction)
        self._loss_fn = loss_fn
        self._name = name

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def loss_reduction(self) -> Any:
        return self._loss_reduction

    @property
    def logits_dimension(self) -> int:
        """The size of the logits' last dimension."""
        raise NotImplementedError

    # What a head is -----------------------------------------------------------------------------

    def _processed_labels(self, labels: Any, logits: Any) -> Any:
        raise NotImplementedError

    def _unweighted_loss(self, labels: Any, logits: Any) -> Any:
        raise NotImplementedError

    #: The last dimension of the loss of an example.
    @property
    def _loss_dimension(self) -> int:
        return 1

    def _predictions(self, logits: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        raise NotImplementedError

    def _metrics(
        self, predictions: dict[str, Any], loss: LossSpec, labels: Any
    ) -> dict[str, tuple[Any, Any]]:
        """Metrics by their names, without the head's."""
        raise NotImplementedError

    # What is done with it -----------------------------------------------------------------------

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """The loss of a batch, those of its examples, their weights, and the labels as used."""
        logits = tf.convert_to_tensor(logits)
        labels = self._processed_labels(labels, logits)
        unweighted, weights = self._losses_and_weights(features, logits, labels)
        reduced = tf.losses.compute_weighted_loss(
            unweighted, weights=weights, reduction=self._loss_reduction
        )
        return LossSpec(reduced, unweighted, weights, labels)

    def _losses_and_weights(self, features: Any, logits: Any, labels: Any) -> tuple[Any, Any]:
        """The losses of examples, from labels as they are used, and their weights."""
        if self._loss_fn:
            losses = tensor_checks.called_loss_fn(
                self._loss_fn, labels, logits, features, self._loss_dimension
            )
        else:
            losses = self._unweighted_loss(labels, logits)
        weights = tensor_checks.checked_weights(
            features, self._weight_column, logits, self._weights_per_logit, self._wording
        )
        return losses, weights

    def _checked_logits(self, logits: Any) -> Any:
        return tensor_checks.checked_logits(logits, self.logits_dimension)

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The loss of a batch, with regularization."""
        with tf.name_scope("losses"):
            logits = self._checked_logits(logits)
            spec = self.create_loss(features, mode or ModeKeys.TRAIN, logits, labels)
            return _regularized(spec.training_loss, regularization_losses)[0]

    def predictions(self, logits: Any, keys: Any = None) -> dict[str, Any]:
        """What the head makes of logits, by `PredictionKeys`; all of it, or what `keys` names."""
        predictions = self._predictions(logits)
        for key in keys or ():
            if key not in predictions:
                raise ValueError(
                    f"Prediction key must be in PredictionKeys, given: {key}.Valid prediction keys "
                    f"include {list(predictions)}."
                )
        return {key: predictions[key] for key in keys} if keys else predictions

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
          optimizer: minimizes the loss; or
          train_op_fn: a function from the loss to the training operation.
          trainable_variables: what the optimizer may change; all trainable ones by default.
          update_ops: more to run with a training step; the graph's UPDATE_OPS by default.
          regularization_losses: scalars to add to the loss.
        """
        with tf.name_scope(self._name, "head"):
            predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = {
                    **self._export_outputs(predictions),
                    PREDICT_SERVING_KEY: PredictOutput(predictions),
                }
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self.create_loss(features, mode, logits, labels)
            total, regularization = _regularized(loss.training_loss, regularization_losses)
            if mode != ModeKeys.EVAL:
                train_op = made_train_op(
                    total, optimizer, train_op_fn, trainable_variables, update_ops
                )
                mean_loss = self._mean_loss(loss)
        if mode == ModeKeys.EVAL:  # outside of the head's scope, as TensorFlow names metrics
            metrics = self._all_metrics(predictions, loss, labels, regularization)
            return EstimatorSpec(mode, predictions=predictions, loss=total, eval_metric_ops=metrics)
        self._summarize(total, mean_loss, regularization)
        return EstimatorSpec(mode, predictions=predictions, loss=total, train_op=train_op)

    def _summary_key(self, key: str) -> str:
        return f"{key}/{self._name}" if self._name else key

    def _all_metrics(
        self, predictions: dict[str, Any], loss: LossSpec, labels: Any, regularization: Any
    ) -> dict[str, Any]:
        metrics = self._metrics(predictions, loss, labels)
        if regularization is not None:
            key = MetricKeys.LOSS_REGULARIZATION
            metrics[key] = tf.metrics.mean(values=regularization, name=key)
        return {self._summary_key(key): metric for key, metric in metrics.items()}

    def _mean_loss(self, loss: LossSpec) -> Any:
        if self._loss_reduction != tf.losses.Reduction.SUM:
            return None
        total_weight = tf.reduce_sum(loss.weights * tf.ones_like(loss.unreduced_loss))
        return loss.training_loss / total_weight

    def _summarize(self, total: Any, mean_loss: Any, regularization: Any) -> None:
        with tf.name_scope(""):
            tf.summary.scalar(self._summary_key(MetricKeys.LOSS), total)
            if mean_loss is not None:
                tf.summary.scalar(self._summary_key(MetricKeys.LOSS_MEAN), mean_loss)
            if regularization is not None:
                key = self._summary_key(MetricKeys.LOSS_REGULARIZATION)
                tf.summary.scalar(key, regularization)


def _regularized(loss: Any, regularization_losses: Any) -> tuple[Any, Any]:
    """The loss with regularization, and the regularization alone (None without)."""
    if not regularization_losses:
        return loss, None
    regularization = tf.add_n(regularization_losses)
    return tf.add_n([loss, regularization]), regularization


def made_train_op(
    loss: Any, optimizer: Any, train_op_fn: Any, trainable_variables: Any, update_ops: Any
) -> Any:
    """A training step by an optimizer or a user's function, and the updates that go with it."""
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is None and train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    if train_op_fn is not None:
        train_op = train_op_fn(loss)
    elif hasattr(optimizer, "get_updates") and not hasattr(optimizer, "minimize"):
        train_op = tf.group(*optimizer.get_updates(loss, trainable_variables))
    else:
        chosen = {} if trainable_variables is None else {"var_list": trainable_variables}
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step(), **chosen)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
    return tf.group(train_op, *updates) if updates else train_op


# Of classes --------------------------------------------------------------------------------------


def all_classes(logits: Any, n_classes: int, label_vocabulary: Any) -> Any:
    """The names of all classes, for each example."""
    names = label_vocabulary or tf.as_string(tf.range(n_classes))
    return for_each_example(logits, names)


def for_each_example(logits: Any, values: Any) -> Any:
    """The same values for each example of a batch."""
    return tf.tile(tf.expand_dims(values, axis=0), multiples=[tf.shape(logits)[0], 1])


def classification_outputs(
    scores: Any, n_classes: int, label_vocabulary: Any
) -> dict[str, ExportOutput]:
    """Scores of classes as the default output of an exported model."""
    output = ClassificationOutput(
        scores=scores, classes=all_classes(scores, n_classes, label_vocabulary)
    )
    return {DEFAULT_SERVING_SIGNATURE_DEF_KEY: output, CLASSIFY_SERVING_KEY: output}


# Metrics -----------------------------------------------------------------------------------------


def mean_metric(values: Any, weights: Any, name: str, scope: str, cast_name: str) -> Any:
    """The mean of values, each with the weight of its example."""
    with tf.name_scope(name, scope, (values, weights)) as opened:
        values = tf.cast(values, tf.float32, name=cast_name)
        if weights is not None:
            weights = broadcast_weights(weights, values)
        return tf.metrics.mean(values, weights=weights, name=opened)


def auc_metric(labels: Any, predictions: Any, weights: Any, curve: str, name: str) -> Any:
    """The area under a curve."""
    with tf.name_scope(name, "auc", (predictions, labels, weights)) as opened:
        predictions = tf.cast(predictions, tf.float32, name="predictions")
        if weights is not None:
            weights = broadcast_weights(weights, predictions)
        return tf.metrics.auc(
            labels=labels, predictions=predictions, weights=weights, curve=curve, name=opened
        )


def threshold_metrics(
    labels: Any, predictions: Any, weights: Any, thresholds: Any
) -> dict[str, Any]:
    """Accuracy, precision and recall where probabilities from a threshold on count as yes."""
    metrics: dict[str, Any] = {}
    for threshold in thresholds:
        key = MetricKeys.ACCURACY_AT_THRESHOLD % threshold
        with tf.name_scope(key, values=(predictions, labels, weights)) as opened:
            yes = tf.to_float(tf.greater_equal(predictions, threshold))
            metrics[key] = tf.metrics.accuracy(
                labels=labels, predictions=yes, weights=weights, name=opened
            )
        for key, metric in (
            (MetricKeys.PRECISION_AT_THRESHOLD % threshold, tf.metrics.precision_at_thresholds),
            (MetricKeys.RECALL_AT_THRESHOLD % threshold, tf.metrics.recall_at_thresholds),
        ):
            with tf.name_scope(key, values=(predictions, labels, weights)) as opened:
                value, update = metric(
                    labels=labels,
                    predictions=predictions,
                    thresholds=(threshold,),
                    weights=weights,
                    name=opened,
                )
                metrics[key] = tf.squeeze(value), tf.squeeze(update)
    return metrics


def checked_thresholds(thresholds: Any) -> tuple[float, ...]:
    """Thresholds of probabilities, as a tuple."""
    thresholds = tuple(thresholds or ())
    if not all(0.0 < threshold < 1.0 for threshold in thresholds):
        raise ValueError(f"thresholds not in (0, 1): {(thresholds,)}.")
    return thresholds
