"""An estimator for models of one's own that predict the probability of one class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib import metrics
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.head_metrics import MetricKey
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, ProblemType


def LogisticRegressor(
    model_fn: Callable[..., Any],
    thresholds: Any = None,
    model_dir: Any = None,
    config: Any = None,
    feature_engineering_fn: Any = None,
) -> Estimator:
    """An `Estimator` of a model, with the metrics of a logistic regression.

    Args:
      model_fn: `(features, labels, mode) -> (predictions, loss, train_op)`; predictions are
        probabilities.
      thresholds: from which probability on a prediction counts as positive; [0.5] by default.
    """

    def with_metrics(features: Any, labels: Any, mode: str, params: Any) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        evaluated = None
        if mode == ModeKeys.EVAL:
            evaluated = _metrics(labels, predictions, params.get("thresholds") or [0.5])
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=evaluated,
            output_alternatives={
                "head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})
            },
        )

    return Estimator(
        model_fn=with_metrics,
        model_dir=model_dir,
        config=config,
        params={"thresholds": thresholds},
        feature_engineering_fn=feature_engineering_fn,
    )


def _metrics(labels: Any, predictions: Any, thresholds: Any) -> dict[str, Any]:
    if isinstance(labels, dict) and len(labels) == 1:
        (labels,) = labels.values()
    found = {
        MetricKey.PREDICTION_MEAN: metrics.streaming_mean(predictions),
        MetricKey.LABEL_MEAN: metrics.streaming_mean(labels),
        MetricKey.ACCURACY_BASELINE: metrics.streaming_mean(labels),
        MetricKey.AUC: metrics.streaming_auc(labels=labels, predictions=predictions),
    }
    for threshold in thresholds:
        positive = tf.cast(
            tf.greater_equal(predictions, threshold),
            tf.float32,
            name=f"predictions_at_threshold_{threshold:f}",
        )
        for key, metric in (
            (MetricKey.ACCURACY_MEAN, metrics.streaming_accuracy),
            (MetricKey.PRECISION_MEAN, metrics.streaming_precision),
            (MetricKey.RECALL_MEAN, metrics.streaming_recall),
        ):
            found[key % threshold] = metric(labels=labels, predictions=positive)
    return found
