"""Metrics of counts: true and false positives and negatives at thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.metrics.base import Metric, squeezed
from penstock.keras.utils.weighting import matched_weights

__all__ = [
    "AUC",
    "FalseNegatives",
    "FalsePositives",
    "MeanIoU",
    "Precision",
    "Recall",
    "SensitivityAtSpecificity",
    "SpecificityAtSensitivity",
    "TrueNegatives",
    "TruePositives",
]

_CONDITIONS = {
    "tp": (True, True),
    "fp": (False, True),
    "tn": (False, False),
    "fn": (True, False),
}


def _checked_thresholds(thresholds: Any, default: float = 0.5) -> list[float]:
    found = thresholds if isinstance(thresholds, (list, tuple)) else [thresholds]
    found = [default if each is None else each for each in found]
    wrong = [each for each in found if not 0 <= each <= 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return [float(each) for each in found]


def _counts(
    metric: Metric,
    y_true: Any,
    y_pred: Any,
    thresholds: list[float],
    wanted: list[str],
    sample_weight: Any,
    top_k: int | None = None,
    class_id: int | None = None,
) -> list[Any]:
    """How many (weighted) examples meet each condition at each threshold."""
    y_true, y_pred = tf.cast(y_true, metric.dtype), tf.cast(y_pred, metric.dtype)
    y_true, y_pred = squeezed(y_true, y_pred)
    if top_k is not None:
        values, _ = tf.nn.top_k(y_pred, top_k, sorted=False)
        is_top = y_pred >= tf.reduce_min(values, axis=-1, keepdims=True)
        y_pred = tf.where(is_top, y_pred, tf.fill(tf.shape(y_pred), -np.inf))
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    is_true = tf.reshape(tf.cast(y_true, tf.bool), [1, -1])
    limits = tf.reshape(tf.constant(thresholds, metric.dtype), [-1, 1])
    is_positive = tf.reshape(y_pred, [1, -1]) > limits
    weights = None
    if sample_weight is not None:
        given = matched_weights(y_pred, tf.cast(sample_weight, metric.dtype))
        weights = tf.reshape(tf.broadcast_to(given, tf.shape(y_pred)), [1, -1])
    found = []
    for condition in wanted:
        of_true, of_positive = _CONDITIONS[condition]
        first = is_true if of_true else tf.logical_not(is_true)
        second = is_positive if of_positive else tf.logical_not(is_positive)
        met = tf.cast(tf.logical_and(first, second), metric.dtype)
        found.append(tf.reduce_sum(met if weights is None else met * weights, axis=1))
    return found


class _ConditionCount(Metric):
    """How many examples meet a condition."""

    _condition: str

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = _checked_thresholds(thresholds)
        self._is_single = not isinstance(thresholds, (list, tuple))
        self.accumulator = self.add_weight(
            "accumulator", shape=(len(self.thresholds),), initializer="zeros"
        )

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "thresholds": self.init_thresholds}

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        (count,) = _counts(self, y_true, y_pred, self.thresholds, [self._condition], sample_weight)
        return self.accumulator.assign_add(count)

    def result(self) -> Any:
        return self.accumulator[0] if len(self.thresholds) == 1 else tf.identity(self.accumulator)


class TruePositives(_ConditionCount):
    """How many positive examples are predicted to be so."""

    _condition = "tp"


class FalsePositives(_ConditionCount):
    """How many negative examples are predicted to be positive."""

    _condition = "fp"


class TrueNegatives(_ConditionCount):
    """How many negative examples are predicted to be so."""

    _condition = "tn"


class FalseNegatives(_ConditionCount):
    """How many positive examples are predicted to be negative."""

    _condition = "fn"


class _Ratio(Metric):
    """True positives over them and another condition."""

    _other: str
    _other_name: str
    _CONFIG = ("thresholds", "top_k", "class_id")

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(name=name, dtype=dtype)
        default = 0.5 if top_k is None else -np.inf
        self._limits = _checked_thresholds(thresholds) if thresholds is not None else [default]
        self.thresholds = thresholds
        self.top_k = top_k
        self.class_id = class_id
        shape = (len(self._limits),)
        self.true_positives = self.add_weight("true_positives", shape, initializer="zeros")
        self._others = self.add_weight(self._other_name, shape, initializer="zeros")
        self.__dict__[self._other_name] = self._others

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        right, other = _counts(
            self,
            y_true,
            y_pred,
            self._limits,
            ["tp", self._other],
            sample_weight,
            self.top_k,
            self.class_id,
        )
        return tf.group(self.true_positives.assign_add(right).op, self._others.assign_add(other).op)

    def result(self) -> Any:
        ratio = tf.div_no_nan(self.true_positives, self.true_positives + self._others)
        return ratio[0] if len(self._limits) == 1 else ratio


class Precision(_Ratio):
    """How many of the positive predictions are right."""

    _other = "fp"
    _other_name = "false_positives"


class Recall(_Ratio):
    """How many of the positive examples are found."""

    _other = "fn"
    _other_name = "false_negatives"


class _Thresholded(Metric):
    """Counts of the four conditions at evenly spread thresholds."""

    def __init__(self, num_thresholds: int, thresholds: Any, name: str | None, dtype: Any):
        super().__init__(name=name, dtype=dtype)
        if thresholds is not None:
            inner = sorted(_checked_thresholds(list(thresholds)))
        else:
            if num_thresholds <= 1:
                raise ValueError("`num_thresholds` must be > 1.")
            inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        # A little outside of [0, 1], so that the ends have all and none.
        self.thresholds = [-K.epsilon(), *inner, 1.0 + K.epsilon()]
        self.num_thresholds = len(self.thresholds)
        for name_of in ("true_positives", "true_negatives", "false_positives", "false_negatives"):
            setattr(
                self,
                name_of,
                self.add_weight(name_of, (self.num_thresholds,), initializer="zeros"),
            )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        counts = _counts(
            self, y_true, y_pred, self.thresholds, ["tp", "tn", "fp", "fn"], sample_weight
        )
        variables = (
            self.true_positives,
            self.true_negatives,
            self.false_positives,
            self.false_negatives,
        )
        return tf.group(
            *[v.assign_add(count).op for v, count in zip(variables, counts, strict=True)]
        )


class AUC(_Thresholded):
    """The area under the ROC or precision-recall curve.

    Args:
      curve: "ROC" or "PR".
      summation_method: "interpolation", "minoring" or "majoring".
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: Any = None,
        thresholds: Any = None,
    ):
        curve = getattr(curve, "value", curve)
        summation_method = getattr(summation_method, "value", summation_method)
        if curve not in ("ROC", "PR"):
            raise ValueError(f'Invalid AUC curve value "{curve}".')
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(f'Invalid AUC summation method value "{summation_method}".')
        super().__init__(num_thresholds, thresholds, name, dtype)
        self.curve = curve
        self.summation_method = summation_method

    def result(self) -> Any:
        tp, fp = self.true_positives, self.false_positives
        tn, fn = self.true_negatives, self.false_negatives
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._interpolated_pr_area()
        recall = tf.div_no_nan(tp, tp + fn)
        if self.curve == "ROC":
            x, y = tf.div_no_nan(fp, fp + tn), recall
        else:
            x, y = recall, tf.div_no_nan(tp, tp + fp)
        heights = {
            "interpolation": lambda: (y[:-1] + y[1:]) / 2.0,
            "minoring": lambda: tf.minimum(y[:-1], y[1:]),
            "majoring": lambda: tf.maximum(y[:-1], y[1:]),
        }[self.summation_method]()
        return tf.reduce_sum((x[:-1] - x[1:]) * heights)

    def _interpolated_pr_area(self) -> Any:
        """The area with counts, not the ratios of them, interpolated between thresholds."""
        tp, fp, fn = self.true_positives, self.false_positives, self.false_negatives
        positives = tp + fp
        more_true = tp[:-1] - tp[1:]
        more = positives[:-1] - positives[1:]
        slope = tf.div_no_nan(more_true, tf.maximum(more, 0))
        intercept = tp[1:] - slope * positives[1:]
        is_safe = tf.logical_and(positives[:-1] > 0, positives[1:] > 0)
        ratio = tf.where(
            is_safe,
            tf.div_no_nan(positives[:-1], tf.maximum(positives[1:], 0)),
            tf.ones_like(positives[1:]),
        )
        areas = tf.div_no_nan(
            slope * (more_true + intercept * tf.log(ratio)), tf.maximum(tp[1:] + fn[1:], 0)
        )
        return tf.reduce_sum(areas)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_thresholds": self.num_thresholds,
            "curve": self.curve,
            "summation_method": self.summation_method,
            "thresholds": self.thresholds[1:-1],
        }


class _AtValue(_Thresholded):
    """One rate at the threshold at which another is nearest to a value."""

    def __init__(
        self, value: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None
    ):
        if not 0 <= value <= 1:
            raise ValueError(f"`{self._CONFIG[-1]}` must be in the range [0, 1].")
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        super().__init__(max(num_thresholds, 2), None, name, dtype)
        self.value = value

    def _sensitivity(self) -> Any:
        return tf.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)

    def _specificity(self) -> Any:
        return tf.div_no_nan(self.true_negatives, self.true_negatives + self.false_positives)


class SensitivityAtSpecificity(_AtValue):
    """The sensitivity at a given specificity."""

    _CONFIG = ("num_thresholds", "specificity")

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(specificity, num_thresholds, name, dtype)
        self.specificity = specificity

    def result(self) -> Any:
        index = tf.argmin(tf.abs(self._specificity() - self.value), axis=0)
        return tf.gather(self._sensitivity(), index)


class SpecificityAtSensitivity(_AtValue):
    """The specificity at a given sensitivity."""

    _CONFIG = ("num_thresholds", "sensitivity")

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(sensitivity, num_thresholds, name, dtype)
        self.sensitivity = sensitivity

    def result(self) -> Any:
        index = tf.argmin(tf.abs(self._sensitivity() - self.value), axis=0)
        return tf.gather(self._specificity(), index)


class MeanIoU(Metric):
    """The mean over classes of intersection over union of labels and predicted classes."""

    _CONFIG = ("num_classes",)

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix",
            shape=(num_classes, num_classes),
            initializer="zeros",
            dtype=tf.float64,
        )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        y_true, y_pred = tf.cast(y_true, tf.int64), tf.cast(y_pred, tf.int64)
        weights = None if sample_weight is None else tf.reshape(sample_weight, [-1])
        matrix = tf.confusion_matrix(
            tf.reshape(y_true, [-1]),
            tf.reshape(y_pred, [-1]),
            self.num_classes,
            weights=weights,
            dtype=tf.float64,
        )
        return self.total_cm.assign_add(matrix)

    def result(self) -> Any:
        matrix = tf.cast(self.total_cm, self.dtype)
        by_row, by_column = tf.reduce_sum(matrix, axis=0), tf.reduce_sum(matrix, axis=1)
        hits = tf.diag_part(matrix)
        union = by_row + by_column - hits
        valid = tf.reduce_sum(tf.cast(tf.not_equal(union, 0), self.dtype))
        return tf.div_no_nan(tf.reduce_sum(tf.div_no_nan(hits, union)), valid)
