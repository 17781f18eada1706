"""A head for classes of which an example may have any number."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.heads import multi_label_head as canned
from penstock.estimator.heads.keys import MetricKeys, PredictionKeys
from penstock.estimator.keras_heads.head import (
    SingleHead,
    threshold_keys,
    threshold_metrics,
    update_mean,
)


class MultiLabelHead(SingleHead, canned.MultiLabelHead):
    """Predicts for each class whether an example has it.

    Labels are zeros and ones for each class, or a SparseTensor of the classes that an example has.

    Args:
      n_classes: how many classes there are.
      weight_column: the feature that gives examples their weights: its name, or its column.
      thresholds: probabilities at which to measure accuracy, precision and recall.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: a `tf.keras.losses.Reduction` that gives a scalar.
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
        loss_reduction: Any = "sum_over_batch_size",
        loss_fn: Any = None,
        classes_for_class_based_metrics: Any = None,
        name: str | None = None,
    ):
        super().__init__(
            n_classes,
            weight_column,
            thresholds,
            label_vocabulary,
            loss_reduction,
            loss_fn,
            classes_for_class_based_metrics,
            name,
        )

    def _own_metrics(self) -> dict[str, Any]:
        metrics = tf.keras.metrics
        found = {
            MetricKeys.AUC: metrics.AUC(name=MetricKeys.AUC),
            MetricKeys.AUC_PR: metrics.AUC(curve="PR", name=MetricKeys.AUC_PR),
            **threshold_metrics(self._thresholds, self._summary_key),
        }
        for class_id in self._measured_classes:
            mean, roc, pr = self._class_keys(class_id)
            found[mean] = metrics.Mean(name=self._summary_key(mean))
            found[roc] = metrics.AUC(name=self._summary_key(roc))
            found[pr] = metrics.AUC(curve="PR", name=self._summary_key(pr))
        return found

    def _update_own_metrics(
        self, metrics: dict[str, Any], logits: Any, labels: Any, weights: Any
    ) -> None:
        probabilities = self.predictions(logits)[PredictionKeys.PROBABILITIES]
        for key in (MetricKeys.AUC, MetricKeys.AUC_PR, *threshold_keys(self._thresholds)):
            self._metric(metrics, key).update_state(
                y_true=labels, y_pred=probabilities, sample_weight=weights
            )
        for class_id in self._measured_classes:
            mean, *areas = self._class_keys(class_id)
            of_class = probabilities[..., class_id : class_id + 1]
            update_mean(self._metric(metrics, mean), of_class, weights)
            for key in areas:
                self._metric(metrics, key).update_state(
                    y_true=labels[..., class_id : class_id + 1],
                    y_pred=of_class,
                    sample_weight=weights,
                )
