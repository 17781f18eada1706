"""Estimators that learn nothing but the mean of their labels, to check inputs with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import penstock as tf
from penstock.contrib import layers
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.head import multi_class_head, regression_head
from penstock.contrib.learn.model_fn import ModelFnOps, PredictionKey

__all__ = ["DebugClassifier", "DebugRegressor", "debug_model_fn"]

_LEARNING_RATE = 0.3


def debug_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> ModelFnOps:
    """A model whose logits are 0, so that only the head's bias is trained."""
    features = features if isinstance(features, dict) else {"": features}
    if not features:
        raise ValueError("Features cannot be empty.")
    head = params["head"]
    sizes = [tf.shape(feature)[0] for feature in features.values()]
    with tf.control_dependencies([tf.assert_equal(sizes[0], size) for size in sizes[1:]]):
        logits = tf.zeros([sizes[0], head.logits_dimension])

    def train_op_fn(loss: Any) -> Any:
        return layers.optimize_loss(
            loss, global_step=None, learning_rate=_LEARNING_RATE, optimizer="Adagrad"
        )

    made: ModelFnOps = head.create_model_fn_ops(
        features=features, labels=labels, mode=mode, train_op_fn=train_op_fn, logits=logits
    )
    return made


class DebugClassifier(Estimator):
    """Predicts how frequent the classes are, whatever the features.

    Args:
      weight_column_name: the name of the feature that weighs examples.
      label_keys: the classes' names, if labels are strings.
    """

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_keys: Any = None,
    ):
        head = multi_class_head(
            n_classes=n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=True,
            label_keys=label_keys,
        )
        super().__init__(debug_model_fn, model_dir, config, {"head": head}, feature_engineering_fn)

    def predict_classes(self, input_fn: Any = None, batch_size: int | None = None) -> Iterator[Any]:
        """The most frequent class, for each example."""
        return self._each(PredictionKey.CLASSES, input_fn, batch_size)

    def predict_proba(self, input_fn: Any = None, batch_size: int | None = None) -> Iterator[Any]:
        """The probabilities of the classes, for each example."""
        return self._each(PredictionKey.PROBABILITIES, input_fn, batch_size)

    def _each(self, key: str, input_fn: Any, batch_size: int | None) -> Iterator[Any]:
        found = self.predict(input_fn=input_fn, batch_size=batch_size, outputs=[key])
        return (each[key] for each in found)


class DebugRegressor(Estimator):
    """Predicts the mean of the labels, whatever the features; see `DebugClassifier`."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column_name: str | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ):
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=True,
        )
        super().__init__(debug_model_fn, model_dir, config, {"head": head}, feature_engineering_fn)

    def predict_scores(self, input_fn: Any = None, batch_size: int | None = None) -> Iterator[Any]:
        """The mean of the labels, for each example."""
        key = PredictionKey.SCORES
        found = self.predict(input_fn=input_fn, batch_size=batch_size, outputs=[key])
        return (each[key] for each in found)
