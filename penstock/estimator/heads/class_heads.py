"""Heads for classes of which an example has one: two of them, or more."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.export.outputs import ExportOutput, RegressionOutput
from penstock.estimator.heads import head, tensor_checks
from penstock.estimator.heads.keys import MetricKeys, PredictionKeys
from penstock.lookup.vocabularies import (
    index_table_from_tensor,
    index_to_string_table_from_tensor,
)

_SUM_OVER_BATCH_SIZE = tf.losses.Reduction.SUM_OVER_BATCH_SIZE


class _ClassHead(head.Head):
    """Predicts one class of several, which labels name by a number or by a string."""

    def __init__(
        self,
        weight_column: Any,
        label_vocabulary: Any,
        loss_reduction: Any,
        loss_fn: Any,
        name: str | None,
    ):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._label_vocabulary = label_vocabulary

    def _looked_up(self, labels: Any) -> Any:
        table = index_table_from_tensor(
            vocabulary_list=tuple(self._label_vocabulary), name="class_id_lookup"
        )
        return table.lookup(labels)

    def _class_names(self, class_ids: Any) -> Any:
        if not self._label_vocabulary:
            return tf.as_string(class_ids, name="str_classes")
        table = index_to_string_table_from_tensor(
            vocabulary_list=self._label_vocabulary, name="class_string_lookup"
        )
        return table.lookup(class_ids)

    def _all_classes(self, logits: Any, n_classes: int) -> tuple[Any, Any]:
        ids = head.for_each_example(logits, tf.range(n_classes))
        return ids, head.all_classes(logits, n_classes, self._label_vocabulary)


class BinaryClassHead(_ClassHead):
    """Predicts one of two classes, by the logit of the second.

    Args:
      weight_column: the feature that gives examples their weights: its name, or its column.
      thresholds: probabilities at which to measure accuracy, precision and recall.
      label_vocabulary: the names of the two classes, if labels are strings.
      loss_reduction: a `tf.losses.Reduction` that gives a scalar.
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
        if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
            raise TypeError(
                f"label_vocabulary should be a list or tuple. Given type: {type(label_vocabulary)}"
            )
        super().__init__(weight_column, label_vocabulary, loss_reduction, loss_fn, name)
        self._thresholds = head.checked_thresholds(thresholds)

    @property
    def logits_dimension(self) -> int:
        return 1

    def _processed_labels(self, labels: Any, logits: Any) -> Any:
        labels = tensor_checks.checked_labels(labels, logits, 1, self._wording)
        if self._label_vocabulary is not None:
            labels = self._looked_up(labels)
        return tensor_checks.in_range(
            tf.cast(labels, tf.float32), n_classes=2, wording=self._wording
        )

    def _unweighted_loss(self, labels: Any, logits: Any) -> Any:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        keys = PredictionKeys
        with tf.name_scope(None, "predictions", (logits,)):
            logits = self._checked_logits(logits)
            logistic = tf.sigmoid(logits, name=keys.LOGISTIC)
            two_class_logits = tf.concat(
                (tf.zeros_like(logits), logits), axis=-1, name="two_class_logits"
            )
            probabilities = tf.nn.softmax(two_class_logits, name=keys.PROBABILITIES)
            class_ids = tf.argmax(two_class_logits, axis=-1, name=keys.CLASS_IDS)
            class_ids = tf.expand_dims(class_ids, axis=-1)
            all_ids, all_names = self._all_classes(logits, 2)
            return {
                keys.LOGITS: logits,
                keys.LOGISTIC: logistic,
                keys.PROBABILITIES: probabilities,
                keys.CLASS_IDS: class_ids,
                keys.CLASSES: self._class_names(class_ids),
                keys.ALL_CLASS_IDS: all_ids,
                keys.ALL_CLASSES: all_names,
            }

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        return {
            **head.classification_outputs(probabilities, 2, self._label_vocabulary),
            head.REGRESS_SERVING_KEY: RegressionOutput(predictions[PredictionKeys.LOGISTIC]),
        }

    def _metrics(
        self, predictions: dict[str, Any], loss: head.LossSpec, labels: Any
    ) -> dict[str, Any]:
        keys = MetricKeys
        labels, weights = loss.processed_labels, loss.weights
        logistic = predictions[PredictionKeys.LOGISTIC]
        class_ids = predictions[PredictionKeys.CLASS_IDS]
        of_classes = {"labels": labels, "predictions": class_ids, "weights": weights}
        with tf.name_scope(None, "metrics"):
            labels_mean = head.mean_metric(
                labels, weights, keys.LABEL_MEAN, "labels_mean", "labels"
            )
            return {
                keys.LOSS_MEAN: tf.metrics.mean(
                    values=loss.unreduced_loss, weights=weights, name=keys.LOSS_MEAN
                ),
                keys.ACCURACY: tf.metrics.accuracy(**of_classes, name=keys.ACCURACY),
                keys.PRECISION: tf.metrics.precision(**of_classes, name=keys.PRECISION),
                keys.RECALL: tf.metrics.recall(**of_classes, name=keys.RECALL),
                keys.PREDICTION_MEAN: head.mean_metric(
                    logistic, weights, keys.PREDICTION_MEAN, "predictions_mean", "predictions"
                ),
                keys.LABEL_MEAN: labels_mean,
                keys.ACCURACY_BASELINE: _accuracy_baseline(labels_mean),
                keys.AUC: head.auc_metric(labels, logistic, weights, "ROC", keys.AUC),
                keys.AUC_PR: head.auc_metric(labels, logistic, weights, "PR", keys.AUC_PR),
                **head.threshold_metrics(labels, logistic, weights, self._thresholds),
            }


def _accuracy_baseline(labels_mean: tuple[Any, Any]) -> tuple[Any, Any]:
    """The accuracy of a model that always predicts the more frequent class."""
    value, update = labels_mean
    with tf.name_scope(None, "accuracy_baseline", labels_mean):
        return (
            tf.maximum(value, 1.0 - value, name="value"),
            tf.maximum(update, 1 - update, name="update_op"),
        )


class MultiClassHead(_ClassHead):
    """Predicts one of more than two classes, by a logit for each.

    Args:
      n_classes: how many classes there are.
      weight_column: the feature that gives examples their weights: its name, or its column.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: a `tf.losses.Reduction` that gives a scalar.
      loss_fn: a function of `labels` and `logits` (and `features`) for the loss of examples.
      name: the head's scope, and what the names of its metrics end with.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        name: str | None = None,
    ):
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
            raise ValueError(
                "label_vocabulary should be a list or a tuple. "
                f"Given type: {type(label_vocabulary)}"
            )
        super().__init__(weight_column, label_vocabulary, loss_reduction, loss_fn, name)
        self._n_classes = n_classes

    @property
    def logits_dimension(self) -> int:
        return self._n_classes

    def _processed_labels(self, labels: Any, logits: Any) -> Any:
        labels = tensor_checks.checked_labels(labels, logits, 1, self._wording)
        if self._label_vocabulary is None:
            if not labels.dtype.is_integer:
                raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        else:
            if labels.dtype != tf.string:
                raise ValueError(
                    "Labels dtype should be string if there is a vocabulary. "
                    f"Instead got {labels.dtype}"
                )
            labels = self._looked_up(labels)
        return tensor_checks.in_range(labels, self._n_classes, wording=self._wording)

    def _unweighted_loss(self, labels: Any, logits: Any) -> Any:
        loss = tf.losses.sparse_softmax_cross_entropy(
            labels=labels, logits=logits, reduction=tf.losses.Reduction.NONE
        )
        return tf.expand_dims(loss, axis=-1)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        keys = PredictionKeys
        logits = self._checked_logits(logits)
        with tf.name_scope(None, "predictions", (logits,)):
            all_ids, all_names = self._all_classes(logits, self._n_classes)
            class_ids = tf.argmax(logits, axis=-1, name=keys.CLASS_IDS)
            class_ids = tf.expand_dims(class_ids, axis=-1)
            return {
                keys.LOGITS: logits,
                keys.PROBABILITIES: tf.nn.softmax(logits, name=keys.PROBABILITIES),
                keys.CLASS_IDS: class_ids,
                keys.CLASSES: self._class_names(class_ids),
                keys.ALL_CLASS_IDS: all_ids,
                keys.ALL_CLASSES: all_names,
            }

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        return head.classification_outputs(
            predictions[PredictionKeys.PROBABILITIES], self._n_classes, self._label_vocabulary
        )

    def _metrics(
        self, predictions: dict[str, Any], loss: head.LossSpec, labels: Any
    ) -> dict[str, Any]:
        keys = MetricKeys
        with tf.name_scope(None, "metrics"):
            return {
                keys.LOSS_MEAN: tf.metrics.mean(
                    values=loss.unreduced_loss, weights=loss.weights, name=keys.LOSS_MEAN
                ),
                keys.ACCURACY: tf.metrics.accuracy(
                    labels=loss.processed_labels,
                    predictions=predictions[PredictionKeys.CLASS_IDS],
                    weights=loss.weights,
                    name=keys.ACCURACY,
                ),
            }


def binary_or_multi_class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: Any
) -> Any:
    """The head for so many classes."""
    if n_classes == 2:
        return BinaryClassHead(
            weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction
        )
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
