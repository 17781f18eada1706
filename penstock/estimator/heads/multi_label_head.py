"""A head for classes of which an example may have any number."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.export.outputs import ExportOutput
from penstock.estimator.heads import head, tensor_checks
from penstock.estimator.heads.keys import MetricKeys, PredictionKeys
from penstock.lookup.vocabularies import index_table_from_tensor
from penstock.ops.sparse_conversion import sparse_to_indicator


class MultiLabelHead(head.Head):
    """Predicts for each class whether an example has it.

    Labels are zeros and ones for each class, or a SparseTensor of the classes that an example has.

    Args:
      n_classes: how many classes there are.
      weight_column: the feature that gives examples their weights: its name, or its column.
      thresholds: probabilities at which to measure accuracy, precision and recall.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: a `tf.losses.Reduction` that gives a scalar.
      loss_fn: a function of `labels` and `logits` (and `features`) for the loss of examples.
      classes_for_class_based_metrics: classes, by number or name, to measure by themselves.
      name: the head's scope, and what the names of its metrics end with.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: Any = tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        classes_for_class_based_metrics: Any = None,
        name: str | None = None,
    ):
        if n_classes is None or n_classes < 2:
            raise ValueError(
                f"n_classes must be > 1 for multi-label classification. Given: {n_classes}"
            )
        for threshold in thresholds or ():
            if not 0.0 < threshold < 1.0:
                raise ValueError(f"thresholds must be in (0, 1) range. Given: {threshold}")
        if label_vocabulary is not None:
            if not isinstance(label_vocabulary, list | tuple):
                raise ValueError(
                    "label_vocabulary must be a list or tuple. "
                    f"Given type: {type(label_vocabulary)}"
                )
            if len(label_vocabulary) != n_classes:
                raise ValueError(
                    f"Length of label_vocabulary must be n_classes ({n_classes}). "
                    f"Given: {len(label_vocabulary)}"
                )
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes = n_classes
        self._thresholds = tuple(thresholds or ())
        self._label_vocabulary = label_vocabulary
        self._measured_classes = [
            self._class_id(named) for named in classes_for_class_based_metrics or ()
        ]

    def _class_id(self, named: Any) -> int:
        if isinstance(named, str):
            if not self._label_vocabulary:
                raise ValueError(
                    "label_vocabulary must be provided when classes_for_class_based_metrics are "
                    "sting."  # as TensorFlow spells it
                )
            return int(self._label_vocabulary.index(named))
        if not 0 <= named < self._n_classes:
            raise ValueError(
                "All classes_for_class_based_metrics must be in range "
                f"[0, {self._n_classes - 1}]. Given: {named}"
            )
        return int(named)

    @property
    def logits_dimension(self) -> int:
        return self._n_classes

    def _processed_labels(self, labels: Any, logits: Any) -> Any:
        if isinstance(labels, tf.SparseTensor):
            labels = tf.cast(self._indicators(labels), tf.int64)
        elif labels is not None:
            labels = tensor_checks.in_range(
                tf.convert_to_tensor(labels),
                n_classes=2,
                message="labels must be an integer indicator Tensor with values in [0, 1]",
            )
        return tensor_checks.checked_labels(labels, logits, self._n_classes, self._wording)

    def _indicators(self, labels: Any) -> Any:
        if labels.dtype == tf.string:
            table = index_table_from_tensor(
                vocabulary_list=tuple(self._label_vocabulary), name="class_id_lookup"
            )
            ids = tf.SparseTensor(labels.indices, table.lookup(labels.values), labels.dense_shape)
            return sparse_to_indicator(ids, self._n_classes)
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        message = f"labels must be an integer SparseTensor with values in [0, {self._n_classes})"
        checked = tensor_checks.in_range(labels.values, self._n_classes, message)
        with tf.control_dependencies([checked]):
            return sparse_to_indicator(labels, self._n_classes)

    def _unweighted_loss(self, labels: Any, logits: Any) -> Any:
        loss = tf.losses.sigmoid_cross_entropy(
            multi_class_labels=labels, logits=logits, reduction=tf.losses.Reduction.NONE
        )
        return tf.reduce_mean(loss, axis=-1, keepdims=True)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        keys = PredictionKeys
        logits = self._checked_logits(logits)
        with tf.name_scope(None, "predictions", (logits,)):
            return {
                keys.LOGITS: logits,
                keys.PROBABILITIES: tf.sigmoid(logits, name=keys.PROBABILITIES),
            }

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        return head.classification_outputs(
            predictions[PredictionKeys.PROBABILITIES], self._n_classes, self._label_vocabulary
        )

    def _metrics(
        self, predictions: dict[str, Any], loss: head.LossSpec, labels: Any
    ) -> dict[str, Any]:
        keys = MetricKeys
        labels, weights = loss.processed_labels, loss.weights
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        with tf.name_scope(None, "metrics"):
            metrics = {
                keys.LOSS_MEAN: tf.metrics.mean(
                    values=loss.unreduced_loss, weights=weights, name=keys.LOSS_MEAN
                ),
                keys.AUC: head.auc_metric(labels, probabilities, weights, "ROC", keys.AUC),
                keys.AUC_PR: head.auc_metric(labels, probabilities, weights, "PR", keys.AUC_PR),
                **head.threshold_metrics(labels, probabilities, weights, self._thresholds),
            }
            for class_id in self._measured_classes:
                metrics.update(self._class_metrics(class_id, labels, probabilities, weights))
        return metrics

    def _class_keys(self, class_id: int) -> tuple[str, str, str]:
        """What the metrics of a class are called: its mean probability and the areas."""
        keys = MetricKeys
        if self._label_vocabulary is None:
            return (
                keys.PROBABILITY_MEAN_AT_CLASS % class_id,
                keys.AUC_AT_CLASS % class_id,
                keys.AUC_PR_AT_CLASS % class_id,
            )
        name = self._label_vocabulary[class_id]
        return (
            keys.PROBABILITY_MEAN_AT_NAME % name,
            keys.AUC_AT_NAME % name,
            keys.AUC_PR_AT_NAME % name,
        )

    def _class_metrics(
        self, class_id: int, labels: Any, probabilities: Any, weights: Any
    ) -> dict[str, Any]:
        mean, roc, pr = self._class_keys(class_id)
        of_class = probabilities[..., class_id : class_id + 1]
        labels = labels[..., class_id : class_id + 1]
        return {
            mean: head.mean_metric(of_class, weights, mean, "predictions_mean", "predictions"),
            roc: head.auc_metric(labels, of_class, weights, "ROC", roc),
            pr: head.auc_metric(labels, of_class, weights, "PR", pr),
        }
