"""Metrics of counts: true and false positives and negatives at thresholds."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.metrics.base import Metric
from penstock.keras.metrics.confusion_matrix import (
    NEG_INF,
    AUCCurve,
    AUCSummationMethod,
    ConfusionMatrix,
    parse_init_thresholds,
    update_confusion_matrix_variables,
)

__all__ = [
    "AUC",
    "FalseNegatives",
    "FalsePositives",
    "MeanIoU",
    "Precision",
    "Recall",
    "SensitivityAtSpecificity",
    "SensitivitySpecificityBase",
    "SpecificityAtSensitivity",
    "TrueNegatives",
    "TruePositives",
]


class _ConditionCount(Metric):
    """How many examples meet a condition."""

    _condition: ConfusionMatrix

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = parse_init_thresholds(thresholds)
        self.accumulator = self.add_weight(
            "accumulator", shape=(len(self.thresholds),), initializer="zeros"
        )

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "thresholds": self.init_thresholds}

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        return update_confusion_matrix_variables(
            {self._condition: self.accumulator},
            y_true,
            y_pred,
            thresholds=self.thresholds,
            sample_weight=sample_weight,
        )

    def result(self) -> Any:
        return self.accumulator[0] if len(self.thresholds) == 1 else tf.identity(self.accumulator)


class TruePositives(_ConditionCount):
    """How many positive examples are predicted to be so."""

    _condition = ConfusionMatrix.TRUE_POSITIVES


class FalsePositives(_ConditionCount):
    """How many negative examples are predicted to be positive."""

    _condition = ConfusionMatrix.FALSE_POSITIVES


class TrueNegatives(_ConditionCount):
    """How many negative examples are predicted to be so."""

    _condition = ConfusionMatrix.TRUE_NEGATIVES


class FalseNegatives(_ConditionCount):
    """How many positive examples are predicted to be negative."""

    _condition = ConfusionMatrix.FALSE_NEGATIVES


class _Ratio(Metric):
    """True positives over them and another condition."""

    _other: ConfusionMatrix
    _other_name: str
    _CONFIG = ("top_k", "class_id")

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = parse_init_thresholds(thresholds, 0.5 if top_k is None else NEG_INF)
        self.top_k = top_k
        self.class_id = class_id
        shape = (len(self.thresholds),)
        self.true_positives = self.add_weight("true_positives", shape, initializer="zeros")
        self._others = self.add_weight(self._other_name, shape, initializer="zeros")
        self.__dict__[self._other_name] = self._others

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        variables = {ConfusionMatrix.TRUE_POSITIVES: self.true_positives, self._other: self._others}
        return update_confusion_matrix_variables(
            variables,
            y_true,
            y_pred,
            thresholds=self.thresholds,
            top_k=self.top_k,
            class_id=self.class_id,
            sample_weight=sample_weight,
        )

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "thresholds": self.init_thresholds}

    def result(self) -> Any:
        ratio = tf.div_no_nan(self.true_positives, self.true_positives + self._others)
        return ratio[0] if len(self.thresholds) == 1 else ratio


class Precision(_Ratio):
    """How many of the positive predictions are right."""

    _other = ConfusionMatrix.FALSE_POSITIVES
    _other_name = "false_positives"


class Recall(_Ratio):
    """How many of the positive examples are found."""

    _other = ConfusionMatrix.FALSE_NEGATIVES
    _other_name = "false_negatives"


class _Thresholded(Metric):
    """Counts of the four conditions at several thresholds."""

    def _add_counts(self, thresholds: list[float]) -> None:
        self.thresholds = thresholds
        for condition in ("true_positives", "true_negatives", "false_positives", "false_negatives"):
            counts = self.add_weight(condition, (len(thresholds),), initializer="zeros")
            setattr(self, condition, counts)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        variables = {
            ConfusionMatrix.TRUE_POSITIVES: self.true_positives,
            ConfusionMatrix.TRUE_NEGATIVES: self.true_negatives,
            ConfusionMatrix.FALSE_POSITIVES: self.false_positives,
            ConfusionMatrix.FALSE_NEGATIVES: self.false_negatives,
        }
        return update_confusion_matrix_variables(
            variables, y_true, y_pred, thresholds=self.thresholds, sample_weight=sample_weight
        )


def _between_zero_and_one(count: int) -> list[float]:
    """The inner ones of `count` evenly spread thresholds from 0 to 1."""
    return [(index + 1) / (count - 1) for index in range(count - 2)]


class AUC(_Thresholded):
    """The area under the ROC or precision-recall curve.

    Args:
      curve: "ROC" or "PR".
      summation_method: "interpolation", "minoring" or "majoring".
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: Any = "ROC",
        summation_method: Any = "interpolation",
        name: str | None = None,
        dtype: Any = None,
        thresholds: Any = None,
    ):
        self.curve = curve if isinstance(curve, AUCCurve) else AUCCurve.from_str(curve)
        self.summation_method = (
            summation_method
            if isinstance(summation_method, AUCSummationMethod)
            else AUCSummationMethod.from_str(summation_method)
        )
        super().__init__(name=name, dtype=dtype)
        if thresholds is None and num_thresholds <= 1:
            raise ValueError("`num_thresholds` must be > 1.")
        inner = _between_zero_and_one(num_thresholds) if thresholds is None else sorted(thresholds)
        self.num_thresholds = len(inner) + 2
        # A little outside of [0, 1], so that the ends have all and none.
        self._add_counts([0.0 - K.epsilon(), *inner, 1.0 + K.epsilon()])

    def result(self) -> Any:
        tp, fp = self.true_positives, self.false_positives
        tn, fn = self.true_negatives, self.false_negatives
        method = self.summation_method
        if self.curve is AUCCurve.PR and method is AUCSummationMethod.INTERPOLATION:
            return self.interpolate_pr_auc()
        recall = tf.div_no_nan(tp, tp + fn)
        if self.curve is AUCCurve.ROC:
            x, y = tf.div_no_nan(fp, fp + tn), recall
        else:
            x, y = recall, tf.div_no_nan(tp, tp + fp)
        if method is AUCSummationMethod.INTERPOLATION:
            heights = (y[:-1] + y[1:]) / 2.0
        elif method is AUCSummationMethod.MINORING:
            heights = tf.minimum(y[:-1], y[1:])
        else:
            heights = tf.maximum(y[:-1], y[1:])
        return tf.reduce_sum((x[:-1] - x[1:]) * heights)

    def interpolate_pr_auc(self) -> Any:
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
            "curve": self.curve.value,
            "summation_method": self.summation_method.value,
            "thresholds": self.thresholds[1:-1],
        }


class SensitivitySpecificityBase(_Thresholded):
    """One rate at the threshold at which another is nearest to a value."""

    def __init__(
        self, value: float, num_thresholds: int = 200, name: str | None = None, dtype: Any = None
    ):
        super().__init__(name=name, dtype=dtype)
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        self.value = value
        self.num_thresholds = num_thresholds
        is_one = num_thresholds == 1
        self._add_counts([0.5] if is_one else [0.0, *_between_zero_and_one(num_thresholds), 1.0])

    def _sensitivity(self) -> Any:
        return tf.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)

    def _specificity(self) -> Any:
        return tf.div_no_nan(self.true_negatives, self.true_negatives + self.false_positives)


class SensitivityAtSpecificity(SensitivitySpecificityBase):
    """The sensitivity at a given specificity."""

    _CONFIG = ("num_thresholds", "specificity")

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        name: str | None = None,
        dtype: Any = None,
    ):
        if not 0 <= specificity <= 1:
            raise ValueError("`specificity` must be in the range [0, 1].")
        super().__init__(specificity, num_thresholds, name, dtype)
        self.specificity = specificity

    def result(self) -> Any:
        index = tf.argmin(tf.abs(self._specificity() - self.value), axis=0)
        return tf.gather(self._sensitivity(), index)


class SpecificityAtSensitivity(SensitivitySpecificityBase):
    """The specificity at a given sensitivity."""

    _CONFIG = ("num_thresholds", "sensitivity")

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        name: str | None = None,
        dtype: Any = None,
    ):
        if not 0 <= sensitivity <= 1:
            raise ValueError("`sensitivity` must be in the range [0, 1].")
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
