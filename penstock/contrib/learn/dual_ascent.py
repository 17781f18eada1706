"""Linear models of `tf.contrib.learn` that dual coordinate ascent trains, and support vectors."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib import layers
from penstock.contrib.learn.head import binary_svm_head
from penstock.contrib.learn.model_fn import ModelFnOps
from penstock.contrib.learn.single_heads import (
    _BinaryLogisticHead,
    _BinarySvmHead,
    _RegressionHead,
)
from penstock.contrib.linear_optimizer import SDCAOptimizer

_BIAS = "tf_virtual_bias_column"


class UpdateWeightsHook(tf.train.SessionRunHook):
    """Gives the variables of a model their new weights after each step of training."""

    def set_parameters(self, sdca_model: Any, train_op: Any) -> None:
        self._sdca_model, self._train_op = sdca_model, train_op

    def begin(self) -> None:
        self._update_op = self._sdca_model.update_weights(self._train_op)

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._update_op)


def sdca_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> ModelFnOps:
    """A linear model trained by an `SDCAOptimizer`."""
    head, columns, optimizer = params["head"], params["feature_columns"], params["optimizer"]
    hook = params.get("update_weights_hook")
    if not isinstance(optimizer, SDCAOptimizer):
        raise ValueError("Optimizer must be of type SDCAOptimizer")
    loss_type = _loss_type(head)
    with tf.variable_scope(
        name_or_scope="linear", values=features.values(), partitioner=optimizer.partitioner
    ) as scope:
        features = {**features, **layers.transform_features(features, columns)}
        logits, variables, bias = layers.weighted_sum_from_feature_columns(
            columns_to_tensors=features, feature_columns=columns, num_outputs=1, scope=scope
        )
        _add_bias_column(columns, features, bias, variables)

    def train_op_fn(loss: Any) -> Any:
        model, train_op = optimizer.get_train_step(
            variables,
            params["weight_column_name"],
            loss_type,
            features,
            labels,
            tf.train.get_global_step(),
        )
        if hook is not None:
            hook.set_parameters(model, train_op)
        return train_op

    made: ModelFnOps = head.create_model_fn_ops(
        features=features, labels=labels, mode=mode, train_op_fn=train_op_fn, logits=logits
    )
    if hook is not None and mode == tf.estimator.ModeKeys.TRAIN:
        made = made._replace(training_chief_hooks=[*made.training_chief_hooks, hook])
    return made


def _loss_type(head: Any) -> str:
    if isinstance(head, _BinarySvmHead):
        return "hinge_loss"
    if isinstance(head, _BinaryLogisticHead):
        return "logistic_loss"
    if isinstance(head, _RegressionHead):
        if head.logits_dimension != 1:
            raise AssertionError("SDCA only applies for logits_dimension=1.")
        return "squared_loss"
    raise ValueError(f"Unsupported head type: {head}")


def _add_bias_column(columns: Any, tensors: Any, bias: Any, variables: Any) -> None:
    """Makes the bias the weight of one more feature, which is 1 for all examples."""
    if any(column.name == _BIAS for column in columns):
        raise ValueError(f"{_BIAS} is a reserved column name.")
    if not columns:
        raise ValueError("feature_columns can't be empty.")
    column = layers.real_valued_column(_BIAS)
    tensors[column] = tf.ones([_batch_size(tensors), 1], dtype=tf.float32)
    variables[column] = [bias]


def _batch_size(tensors: Any) -> Any:
    for value in tensors.values():
        tensor = value[0] if isinstance(value, tuple) and not hasattr(value, "indices") else value
        if isinstance(tensor, tf.SparseTensor):
            return tensor.dense_shape[0]
        return tf.shape(tensor)[0]
    raise ValueError("Could not infer batch size from input features.")


def dual_ascent_params(params: dict[str, Any], weight_column_name: str | None) -> dict[str, Any]:
    """What `sdca_model_fn` needs of the hyperparameters of a linear estimator."""
    if params["joint_weights"]:
        raise ValueError("_joint_weights is incompatible with the SDCAOptimizer.")
    return {
        "head": params["head"],
        "feature_columns": params["feature_columns"],
        "optimizer": params["optimizer"],
        "weight_column_name": weight_column_name,
        "update_weights_hook": UpdateWeightsHook(),
    }


def svm_params(
    example_id_column: str,
    feature_columns: Any,
    weight_column_name: str | None,
    l1: float,
    l2: float,
    partitions: int,
) -> dict[str, Any]:
    """The hyperparameters of a linear support vector machine."""
    return {
        "head": binary_svm_head(weight_column_name=weight_column_name, enable_centered_bias=False),
        "feature_columns": feature_columns,
        "optimizer": SDCAOptimizer(
            example_id_column=example_id_column,
            num_loss_partitions=partitions,
            symmetric_l1_regularization=l1,
            symmetric_l2_regularization=l2,
        ),
        "weight_column_name": weight_column_name,
        "update_weights_hook": UpdateWeightsHook(),
    }
