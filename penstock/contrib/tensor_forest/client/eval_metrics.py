"""Metrics of random forests, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import penstock as tf
from penstock.contrib import losses
from penstock.contrib.learn.model_fn import PredictionKey

INFERENCE_PROB_NAME = PredictionKey.PROBABILITIES
INFERENCE_PRED_NAME = PredictionKey.CLASSES
FEATURE_IMPORTANCE_NAME = "global_feature_importance"

_THRESHOLDS = np.arange(0, 1, 0.01, dtype=np.float32)


def _top_k_generator(k: int) -> Callable[[Any, Any], Any]:
    """The share of examples whose class is one of the k likeliest."""

    def top_k(probabilities: Any, targets: Any) -> Any:
        targets = tf.cast(targets, tf.int32)
        if targets.get_shape().ndims > 1:
            targets = tf.squeeze(targets, axis=[1])
        return tf.metrics.mean(tf.nn.in_top_k(probabilities, targets, k))

    return top_k


def _of_labels(
    metric: Callable[..., Any], predictions: Any, targets: Any, weights: Any = None
) -> Any:
    return metric(labels=targets, predictions=predictions, weights=weights)


def _of_second_class(
    metric: Callable[..., Any],
    probabilities: Any,
    targets: Any,
    weights: Any = None,
    **options: Any,
) -> Any:
    second = tf.slice(probabilities, [0, 1], [-1, 1])
    return metric(labels=targets, predictions=second, weights=weights, **options)


def _r2(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    """The share of the variance of the targets that is explained."""
    targets = tf.cast(targets, tf.float32)
    total = tf.reduce_sum(tf.squared_difference(targets, tf.reduce_mean(targets, 0)), 0)
    residual = tf.reduce_sum(tf.squared_difference(targets, probabilities), 0)
    return tf.metrics.mean(1 - tf.reduce_sum(residual / total), weights=weights)


def _of_one_hot(
    loss: Callable[..., Any], probabilities: Any, targets: Any, weights: Any = None
) -> Any:
    depth = tf.shape(probabilities)[1]
    one_hot = tf.one_hot(tf.cast(tf.squeeze(targets, axis=[1]), tf.int32), depth)
    return tf.metrics.mean(loss(probabilities, one_hot), weights=weights)


def _softmax_entropy(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    loss = losses.sparse_softmax_cross_entropy(probabilities, tf.cast(targets, tf.int32))
    return tf.metrics.mean(loss, weights=weights)


def _predictions(predictions: Any, unused_targets: Any, **unused_kwargs: Any) -> Any:
    return predictions


_auc = partial(_of_second_class, tf.metrics.auc)
_sigmoid_entropy = partial(_of_one_hot, losses.sigmoid_cross_entropy)
_class_log_loss = partial(_of_one_hot, losses.log_loss)
_accuracy = partial(_of_labels, tf.metrics.accuracy)
_precision = partial(_of_labels, tf.metrics.precision)
_recall = partial(_of_labels, tf.metrics.recall)
_precision_at_thresholds = partial(
    _of_second_class, tf.metrics.precision_at_thresholds, thresholds=_THRESHOLDS
)
_recall_at_thresholds = partial(
    _of_second_class, tf.metrics.recall_at_thresholds, thresholds=_THRESHOLDS
)


class _Metric(NamedTuple):
    """A function of predictions and targets, and which predictions it takes."""

    function: Callable[..., Any]
    key: str


_METRICS = {
    "auc": _Metric(_auc, INFERENCE_PROB_NAME),
    "sigmoid_entropy": _Metric(_sigmoid_entropy, INFERENCE_PROB_NAME),
    "softmax_entropy": _Metric(_softmax_entropy, INFERENCE_PROB_NAME),
    "accuracy": _Metric(_accuracy, INFERENCE_PRED_NAME),
    "r2": _Metric(_r2, PredictionKey.SCORES),
    "predictions": _Metric(_predictions, INFERENCE_PRED_NAME),
    "classification_log_loss": _Metric(_class_log_loss, INFERENCE_PROB_NAME),
    "precision": _Metric(_precision, INFERENCE_PRED_NAME),
    "precision_at_thresholds": _Metric(_precision_at_thresholds, INFERENCE_PROB_NAME),
    "recall": _Metric(_recall, INFERENCE_PRED_NAME),
    "recall_at_thresholds": _Metric(_recall_at_thresholds, INFERENCE_PROB_NAME),
    "top_5": _Metric(_top_k_generator(5), INFERENCE_PROB_NAME),
}


def get_metric(metric_name: str) -> Callable[..., Any]:
    """The function of predictions and targets that is a metric."""
    return _METRICS[metric_name].function


def get_prediction_key(metric_name: str) -> str:
    """Which of the predictions a metric takes."""
    return _METRICS[metric_name].key
