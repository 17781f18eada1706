"""`tf.metrics`: the variables and updates of each metric."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _of_all_weights(tf: Any, metric: Callable[..., Any], *arguments: Any) -> list[Any]:
    """A metric with weights of each kind, in collections."""
    labels = tf.placeholder(tf.float32, [4, 3], "labels")
    predictions = tf.placeholder(tf.float32, [4, 3], "predictions")
    weights = tf.placeholder(tf.float32, [4, 1], "weights")
    made = [
        metric(labels, predictions, *arguments),
        metric(labels, predictions, *arguments, weights=weights, name="named"),
        metric(labels, predictions, *arguments, weights=2.0),
    ]
    collections = {"metrics_collections": ["values"], "updates_collections": "updates"}
    made.append(metric(labels, predictions, *arguments, **collections))
    return [made, tf.local_variables(), tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)]


def mean(tf: Any) -> Any:
    return _of_all_weights(tf, lambda _, values, **kwargs: tf.metrics.mean(values, **kwargs))


def unknown_shapes(tf: Any) -> Any:
    labels, predictions, weights = (tf.placeholder(tf.float32) for _ in range(3))
    return [
        tf.metrics.accuracy(labels, predictions, weights),
        tf.metrics.precision(labels, predictions, weights),
        tf.metrics.recall_at_thresholds(labels, predictions, [0.2, 0.5], weights),
    ]


def mean_tensor(tf: Any) -> Any:
    values = tf.placeholder(tf.float32, [4, 3], "values")
    weights = tf.placeholder(tf.float32, [4, 1], "weights")
    return [tf.metrics.mean_tensor(values), tf.metrics.mean_tensor(values, weights)]


def percentage_below(tf: Any) -> Any:
    return _of_all_weights(
        tf, lambda _, values, **kwargs: tf.metrics.percentage_below(values, 0.5, **kwargs)
    )


def accuracy(tf: Any) -> Any:
    classes = tf.placeholder(tf.int64, [None], "classes")
    column = tf.placeholder(tf.int32, [None, 1], "column")
    return [_of_all_weights(tf, tf.metrics.accuracy), tf.metrics.accuracy(classes, column)]


def mean_absolute_error(tf: Any) -> Any:
    return _of_all_weights(tf, tf.metrics.mean_absolute_error)


def mean_squared_error(tf: Any) -> Any:
    return _of_all_weights(tf, tf.metrics.mean_squared_error)


def root_mean_squared_error(tf: Any) -> Any:
    return _of_all_weights(tf, tf.metrics.root_mean_squared_error)


def mean_cosine_distance(tf: Any) -> Any:
    return _of_all_weights(tf, tf.metrics.mean_cosine_distance, 1)


def mean_relative_error(tf: Any) -> Any:
    normalizer = tf.placeholder(tf.float32, [4, 3], "normalizer")
    return _of_all_weights(tf, tf.metrics.mean_relative_error, normalizer)


def counts(tf: Any) -> Any:
    labels = tf.placeholder(tf.float32, [4, 3], "labels")
    metrics = tf.metrics
    return [
        _of_all_weights(tf, metrics.true_positives),
        metrics.true_negatives(labels, labels),
        metrics.false_positives(labels, labels),
        metrics.false_negatives(labels, labels),
    ]


def precision(tf: Any) -> Any:
    return _of_all_weights(tf, tf.metrics.precision)


def recall(tf: Any) -> Any:
    return _of_all_weights(tf, tf.metrics.recall)


def counts_at_thresholds(tf: Any) -> Any:
    labels = tf.placeholder(tf.float32, [4, 3], "labels")
    metrics, thresholds = tf.metrics, [0.2, 0.5, 0.7]
    return [
        _of_all_weights(tf, metrics.true_positives_at_thresholds, thresholds),
        metrics.true_negatives_at_thresholds(labels, labels, thresholds),
        metrics.false_positives_at_thresholds(labels, labels, thresholds),
        metrics.false_negatives_at_thresholds(labels, labels, thresholds),
    ]


def precision_at_thresholds(tf: Any) -> Any:
    return _of_all_weights(tf, tf.metrics.precision_at_thresholds, [0.2, 0.5, 0.7])


def recall_at_thresholds(tf: Any) -> Any:
    return _of_all_weights(tf, tf.metrics.recall_at_thresholds, [0.2, 0.5, 0.7])


def auc(tf: Any) -> Any:
    labels = tf.placeholder(tf.float32, [4, 3], "labels")
    predictions = tf.placeholder(tf.float32, [4, 3], "predictions")
    made = [_of_all_weights(tf, tf.metrics.auc)]
    for curve in ("ROC", "PR"):
        for method in ("trapezoidal", "careful_interpolation", "minoring", "majoring"):
            made.append(
                tf.metrics.auc(
                    labels, predictions, num_thresholds=5, curve=curve, summation_method=method
                )
            )
    return [*made, tf.metrics.auc(labels, predictions, thresholds=[0.7, 0.3])]


def points_of_the_curve(tf: Any) -> Any:
    return [
        _of_all_weights(tf, tf.metrics.sensitivity_at_specificity, 0.6),
        _of_all_weights(tf, tf.metrics.specificity_at_sensitivity, 0.6),
    ]


def mean_iou(tf: Any) -> Any:
    labels = tf.placeholder(tf.int32, [4, 2], "labels")
    predictions = tf.placeholder(tf.int64, [4, 2], "predictions")
    weights = tf.placeholder(tf.float32, [4, 2], "weights")
    return [
        tf.metrics.mean_iou(labels, predictions, 3),
        tf.metrics.mean_iou(labels, predictions, 3, weights),
    ]


def mean_per_class_accuracy(tf: Any) -> Any:
    labels = tf.placeholder(tf.int32, [4, 2], "labels")
    predictions = tf.placeholder(tf.int32, [4, 2], "predictions")
    weights = tf.placeholder(tf.float32, [4, 2], "weights")
    return [
        tf.metrics.mean_per_class_accuracy(labels, predictions, 3),
        tf.metrics.mean_per_class_accuracy(labels, predictions, 3, weights),
    ]


def _ranked(tf: Any) -> list[Any]:
    """Labels in each form that metrics of ranked predictions take."""
    sparse = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([1, 0, 4], tf.int64), [4, 2])
    return [
        tf.placeholder(tf.int64, [4, 2], "labels"),
        tf.placeholder(tf.int64, [4], "one_each"),
        sparse,
    ]


def precision_at_k(tf: Any) -> Any:
    predictions = tf.placeholder(tf.float32, [4, 5], "predictions")
    weights = tf.placeholder(tf.float32, [4], "weights")
    made = []
    for labels in _ranked(tf):
        made += [
            tf.metrics.precision_at_k(labels, predictions, 2),
            tf.metrics.sparse_precision_at_k(labels, predictions, 2, weights=weights),
        ]
    chosen = tf.placeholder(tf.int64, [4, 2], "chosen")
    return [made, tf.metrics.precision_at_top_k(_ranked(tf)[0], chosen), tf.local_variables()]


def recall_at_k(tf: Any) -> Any:
    predictions = tf.placeholder(tf.float32, [4, 5], "predictions")
    weights = tf.placeholder(tf.float32, [4], "weights")
    made = []
    for labels in _ranked(tf):
        made += [
            tf.metrics.recall_at_k(labels, predictions, 2),
            tf.metrics.recall_at_k(labels, predictions, 2, weights=weights),
        ]
    chosen = tf.placeholder(tf.int64, [4, 2], "chosen")
    return [made, tf.metrics.recall_at_top_k(_ranked(tf)[0], chosen), tf.local_variables()]


def average_precision_at_k(tf: Any) -> Any:
    predictions = tf.placeholder(tf.float32, [4, 5], "predictions")
    weights = tf.placeholder(tf.float32, [4], "weights")
    made = []
    for labels in _ranked(tf):
        made += [
            tf.metrics.average_precision_at_k(labels, predictions, 3),
            tf.metrics.sparse_average_precision_at_k(labels, predictions, 1, weights),
        ]
    return [made, tf.local_variables()]
