"""The canned estimators of `tf.contrib.learn`, on those of `tf.estimator`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.learn.estimator import BaseEstimator
from penstock.contrib.learn.model_fn import PredictionKey
from penstock.estimator.canned import model_functions
from penstock.estimator.estimator import Estimator as CoreEstimator
from penstock.estimator.extenders import clip_gradients_by_norm
from penstock.estimator.heads.class_heads import binary_or_multi_class_head
from penstock.estimator.heads.regression_heads import RegressionHead
from penstock.feature_column.numeric import numeric_column

_SINGLE_FEATURE = "features"
_MEAN = tf.losses.Reduction.SUM_OVER_BATCH_SIZE


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """The columns of arrays: one for each name, or one for a single array."""
    if not isinstance(x, dict):
        x = {_SINGLE_FEATURE: x}
    columns = []
    for key in sorted(x):
        array = np.asarray(x[key])
        columns.append(numeric_column(key, shape=array.shape[1:] or (1,)))
    return columns


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """The columns of what an input function gives."""
    with tf.Graph().as_default():
        features, _ = input_fn()
        if not isinstance(features, dict):
            features = {_SINGLE_FEATURE: features}
        return [
            numeric_column(key, shape=tuple(features[key].shape.as_list()[1:]) or (1,))
            for key in sorted(features)
        ]


def _core(
    model_function: Callable[..., Any], settings: dict[str, Any], model_dir: Any, config: Any
) -> CoreEstimator:
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        if not isinstance(features, dict):
            features = {_SINGLE_FEATURE: features}
        return model_function(
            features=features, labels=labels, mode=mode, config=config, **settings
        )

    return CoreEstimator(model_fn, model_dir, config)


def _optimizer(optimizer: Any, default: Any, clip_norm: float | None) -> Any:
    chosen = default if optimizer is None else optimizer
    if clip_norm is None:
        return chosen
    return lambda: clip_gradients_by_norm(chosen() if callable(chosen) else chosen, clip_norm)


class _Classifier(BaseEstimator):
    def predict_classes(self, x: Any = None, input_fn: Any = None, **kwargs: Any) -> Any:
        """The numbers of the classes that are predicted."""
        found = self.predict(x=x, input_fn=input_fn, outputs=["class_ids"], **kwargs)
        return (row["class_ids"][0] for row in found)

    def predict_proba(self, x: Any = None, input_fn: Any = None, **kwargs: Any) -> Any:
        """The probabilities of the classes."""
        key = PredictionKey.PROBABILITIES
        found = self.predict(x=x, input_fn=input_fn, outputs=[key], **kwargs)
        return (row[key] for row in found)


class _Regressor(BaseEstimator):
    def predict_scores(self, x: Any = None, input_fn: Any = None, **kwargs: Any) -> Any:
        """The numbers that are predicted."""
        found = self.predict(x=x, input_fn=input_fn, outputs=["predictions"], **kwargs)
        return (row["predictions"] for row in found)


class DNNClassifier(_Classifier):
    """A network of dense layers that predicts classes; see `tf.estimator.DNNClassifier`."""

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
    ):
        settings = _dnn_settings(
            binary_or_multi_class_head(n_classes, weight_column_name, None, _MEAN),
            hidden_units,
            feature_columns,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
        )
        super().__init__(_core(model_functions.dnn_model_fn, settings, model_dir, config))


class DNNRegressor(_Regressor):
    """A network of dense layers that predicts numbers; see `tf.estimator.DNNRegressor`."""

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_dimension: int = 1,
    ):
        settings = _dnn_settings(
            RegressionHead(label_dimension, weight_column_name, _MEAN),
            hidden_units,
            feature_columns,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
        )
        super().__init__(_core(model_functions.dnn_model_fn, settings, model_dir, config))


def _dnn_settings(
    head: Any,
    hidden_units: Any,
    feature_columns: Any,
    optimizer: Any,
    activation_fn: Any,
    dropout: Any,
    clip_norm: Any,
) -> dict[str, Any]:
    return {
        "head": head,
        "hidden_units": hidden_units,
        "feature_columns": tuple(feature_columns),
        "optimizer": _optimizer(optimizer, "Adagrad", clip_norm),
        "activation_fn": activation_fn,
        "dropout": dropout,
    }


class LinearClassifier(_Classifier):
    """A linear model that predicts classes; see `tf.estimator.LinearClassifier`."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
    ):
        head = binary_or_multi_class_head(n_classes, weight_column_name, None, _MEAN)
        settings = _linear_settings(head, feature_columns, optimizer, gradient_clip_norm)
        super().__init__(_core(model_functions.linear_model_fn, settings, model_dir, config))


class LinearRegressor(_Regressor):
    """A linear model that predicts numbers; see `tf.estimator.LinearRegressor`."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
    ):
        head = RegressionHead(label_dimension, weight_column_name, _MEAN)
        settings = _linear_settings(head, feature_columns, optimizer, gradient_clip_norm)
        super().__init__(_core(model_functions.linear_model_fn, settings, model_dir, config))


def _linear_settings(
    head: Any, feature_columns: Any, optimizer: Any, clip_norm: Any
) -> dict[str, Any]:
    return {
        "head": head,
        "feature_columns": tuple(feature_columns),
        "optimizer": _optimizer(optimizer, None, clip_norm),
        "partitioner": None,
    }


class DNNLinearCombinedClassifier(_Classifier):
    """The sum of a linear model and a network, for classes."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
    ):
        settings = {
            "head": binary_or_multi_class_head(n_classes, weight_column_name, None, _MEAN),
            "linear_feature_columns": tuple(linear_feature_columns or ()),
            "linear_optimizer": _optimizer(linear_optimizer, "Ftrl", gradient_clip_norm),
            "dnn_feature_columns": tuple(dnn_feature_columns or ()),
            "dnn_optimizer": _optimizer(dnn_optimizer, "Adagrad", gradient_clip_norm),
            "dnn_hidden_units": dnn_hidden_units,
            "dnn_activation_fn": dnn_activation_fn,
            "dnn_dropout": dnn_dropout,
        }
        core = _core(model_functions.dnn_linear_combined_model_fn, settings, model_dir, config)
        super().__init__(core)
