"""The canned estimators of `tf.contrib.learn`: linear models, networks, and their sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib import layers
from penstock.contrib.learn.canned_models import dnn_model_fn, linear_model_fn
from penstock.contrib.learn.dual_ascent import dual_ascent_params, sdca_model_fn
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.head import multi_class_head, regression_head
from penstock.contrib.learn.metric_spec import MetricSpec
from penstock.contrib.learn.model_fn import PredictionKey
from penstock.contrib.linear_optimizer import SDCAOptimizer


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """The columns of arrays: one for each name, or one without a name for a single array."""

    def column(name: str, array: Any) -> Any:
        array = np.asarray(array)
        dimension = int(np.prod(array.shape[1:]))
        return layers.real_valued_column(name, dimension, dtype=tf.as_dtype(array.dtype))

    if not isinstance(x, dict):
        return [column("", x)]
    return [column(name, array) for name, array in sorted(x.items())]


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """The columns of what an input function gives."""
    with tf.Graph().as_default():
        features, _ = input_fn()
        return layers.infer_real_valued_columns(features)


class _Classifier(Estimator):
    """An estimator whose predictions are classes unless others are asked for."""

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The classes of examples, or the `outputs` that are asked for."""
        if not outputs:
            return self.predict_classes(x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The classes that are predicted."""
        return self._predicted(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probabilities of the classes."""
        return self._predicted(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class _Regressor(Estimator):
    """An estimator whose predictions are numbers."""

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The numbers of examples, or the `outputs` that are asked for."""
        if not outputs:
            return self.predict_scores(x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The numbers that are predicted."""
        return self._predicted(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)

    def _evaluate(
        self, feed: Any, steps: Any, metrics: Any, name: Any, checkpoint_path: Any, hooks: Any
    ) -> Any:
        of_scores = {
            key
            if isinstance(key, tuple) or isinstance(metric, MetricSpec)
            else (key, PredictionKey.SCORES): metric
            for key, metric in (metrics or {}).items()
        }
        return super()._evaluate(feed, steps, of_scores, name, checkpoint_path, hooks)


class DNNClassifier(_Classifier):
    """A network of dense layers that predicts classes.

    Args:
      hidden_units: the sizes of the layers.
      feature_columns: columns of `tf.contrib.layers` or `tf.feature_column`.
      weight_column_name: the name of the feature that weighs examples.
      optimizer: an optimizer, its name, or a function that makes one; Adagrad by default.
      dropout: the share of units that are left out in training.
      gradient_clip_norm: the norm that gradients are shortened to.
      embedding_lr_multipliers: for embedding columns, what their gradients are multiplied with.
      label_keys: the classes' names, if labels are strings.
    """

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
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Any = None,
    ):
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        params = {
            "head": head,
            "hidden_units": hidden_units,
            "feature_columns": tuple(feature_columns or ()),
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(dnn_model_fn, model_dir, config, params, feature_engineering_fn)


class DNNRegressor(_Regressor):
    """A network of dense layers that predicts numbers; see `DNNClassifier`."""

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
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ):
        head = regression_head(
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
        )
        params = {
            "head": head,
            "hidden_units": hidden_units,
            "feature_columns": tuple(feature_columns or ()),
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(dnn_model_fn, model_dir, config, params, feature_engineering_fn)


class DNNEstimator(Estimator):
    """A network of dense layers with any head; see `DNNClassifier`."""

    def __init__(
        self,
        head: Any,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ):
        params = {
            "head": head,
            "hidden_units": hidden_units,
            "feature_columns": feature_columns,
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(dnn_model_fn, model_dir, config, params, feature_engineering_fn)


class LinearClassifier(_Classifier):
    """A linear model that predicts classes; see `DNNClassifier`.

    Args:
      optimizer: an optimizer, its name, or a function that makes one; Ftrl by default.
    """

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
        feature_engineering_fn: Any = None,
        label_keys: Any = None,
    ):
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        params = _linear_params(head, feature_columns, optimizer, gradient_clip_norm, _joint_weight)
        model_fn, params = _linear_model(params, weight_column_name)
        super().__init__(model_fn, model_dir, config, params, feature_engineering_fn)


class LinearRegressor(_Regressor):
    """A linear model that predicts numbers; see `LinearClassifier`."""

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
        feature_engineering_fn: Any = None,
    ):
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        params = _linear_params(
            head, feature_columns, optimizer, gradient_clip_norm, _joint_weights
        )
        model_fn, params = _linear_model(params, weight_column_name)
        super().__init__(model_fn, model_dir, config, params, feature_engineering_fn)


class LinearEstimator(Estimator):
    """A linear model with any head; see `LinearClassifier`."""

    def __init__(
        self,
        feature_columns: Any,
        head: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ):
        params = _linear_params(
            head, feature_columns, optimizer, gradient_clip_norm, _joint_weights
        )
        model_fn, params = _linear_model(params, weight_column_name)
        super().__init__(model_fn, model_dir, config, params, feature_engineering_fn)


def _linear_params(
    head: Any, feature_columns: Any, optimizer: Any, clip_norm: Any, joint_weights: bool
) -> dict[str, Any]:
    columns = tuple(feature_columns or ())
    if not columns:
        raise AssertionError("feature_columns must not be empty.")
    return {
        "head": head,
        "feature_columns": columns,
        "optimizer": optimizer,
        "gradient_clip_norm": clip_norm,
        "joint_weights": joint_weights,
    }


def _linear_model(params: dict[str, Any], weight_column_name: str | None) -> tuple[Any, Any]:
    """The model function for the optimizer of a linear model, and its hyperparameters."""
    if not isinstance(params["optimizer"], SDCAOptimizer):
        return linear_model_fn, params
    return sdca_model_fn, dual_ascent_params(params, weight_column_name)
