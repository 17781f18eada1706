"""The canned estimators of `tf.contrib.learn` that are the sum of a linear model and a network."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.learn.canned import _Classifier, _Regressor
from penstock.contrib.learn.canned_models import combined_model_fn
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.head import multi_class_head, regression_head


class DNNLinearCombinedEstimator(Estimator):
    """The sum of a linear model and a network, with any head; see `DNNClassifier`.

    Args:
      fix_global_step_increment_bug: whether a step counts once, and not once for each part.
    """

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Any = None,
    ):
        params = {
            "head": head,
            **_columns(linear_feature_columns, dnn_feature_columns),
            "linear_optimizer": linear_optimizer,
            "joint_linear_weights": _joint_linear_weights,
            "dnn_optimizer": dnn_optimizer,
            "dnn_hidden_units": dnn_hidden_units,
            "dnn_activation_fn": dnn_activation_fn,
            "dnn_dropout": dnn_dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "fix_global_step_increment_bug": fix_global_step_increment_bug,
            "input_layer_partitioner": input_layer_partitioner,
        }
        super().__init__(combined_model_fn, model_dir, config, params, feature_engineering_fn)


class DNNLinearCombinedClassifier(_Classifier):
    """The sum of a linear model and a network, for classes; see `DNNLinearCombinedEstimator`."""

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
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Any = None,
        fix_global_step_increment_bug: bool = False,
    ):
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        params = {
            "head": head,
            **_columns(linear_feature_columns, dnn_feature_columns),
            "linear_optimizer": linear_optimizer,
            "joint_linear_weights": _joint_linear_weights,
            "dnn_optimizer": dnn_optimizer,
            "dnn_hidden_units": dnn_hidden_units,
            "dnn_activation_fn": dnn_activation_fn,
            "dnn_dropout": dnn_dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "fix_global_step_increment_bug": fix_global_step_increment_bug,
            "input_layer_partitioner": _partitioner(input_layer_min_slice_size, config),
        }
        super().__init__(combined_model_fn, model_dir, config, params, feature_engineering_fn)


class DNNLinearCombinedRegressor(_Regressor):
    """The sum of a linear model and a network, for numbers; see `DNNLinearCombinedEstimator`."""

    def __init__(
        self,
        model_dir: Any = None,
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
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ):
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        params = {
            "head": head,
            **_columns(linear_feature_columns, dnn_feature_columns),
            "linear_optimizer": linear_optimizer,
            "joint_linear_weights": _joint_linear_weights,
            "dnn_optimizer": dnn_optimizer,
            "dnn_hidden_units": dnn_hidden_units,
            "dnn_activation_fn": dnn_activation_fn,
            "dnn_dropout": dnn_dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "fix_global_step_increment_bug": fix_global_step_increment_bug,
            "input_layer_partitioner": _partitioner(input_layer_min_slice_size, config),
        }
        super().__init__(combined_model_fn, model_dir, config, params, feature_engineering_fn)


def _columns(linear: Any, dnn: Any) -> dict[str, Any]:
    if not linear and not dnn:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    return {
        "linear_feature_columns": tuple(linear or ()),
        "dnn_feature_columns": tuple(dnn or ()),
    }


def _partitioner(min_slice_size: int | None, config: Any) -> Any:
    if min_slice_size is None:
        return None
    parameter_servers = config.num_ps_replicas if config else 0
    return tf.min_max_variable_partitioner(
        max_partitions=parameter_servers, min_slice_size=min_slice_size
    )
