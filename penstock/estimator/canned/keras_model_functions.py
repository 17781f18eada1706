"""The model functions of TensorFlow 2's canned estimators: Keras' models and optimizers."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock.estimator.canned.keras_models import dnn_logits, linear_logits
from penstock.estimator.canned.logits import add_layer_summary, check_features
from penstock.estimator.canned.model_functions import (
    check_no_sync_replicas_optimizer,
    combined_linear_learning_rate,
)
from penstock.estimator.canned.optimizers import get_optimizer_instance_v2
from penstock.estimator.keras_heads.training import replica_loss
from penstock.estimator.mode_keys import ModeKeys
from penstock.estimator.sdca.linear_sdca import LinearSDCA, sdca_model_fn
from penstock.feature_column.numeric import NumericColumn

_LINEAR_LEARNING_RATE = 0.2
_BASELINE_LEARNING_RATE = 0.3
_COMBINED_DNN_LEARNING_RATE = 0.001
_SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


def _counting_steps(optimizer: Any) -> Any:
    """An optimizer whose number of updates is the global step."""
    optimizer.iterations = tf.train.get_or_create_global_step()
    return optimizer


def dnn_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    hidden_units: Any,
    feature_columns: Any,
    optimizer: Any = "Adagrad",
    activation_fn: Any = tf.nn.relu,
    dropout: float | None = None,
    config: Any = None,
    use_tpu: bool = False,
    batch_norm: bool = False,
) -> Any:
    """A network of dense layers."""
    check_features(features)
    logits, variables, updates = dnn_logits(
        units=head.logits_dimension,
        hidden_units=hidden_units,
        feature_columns=feature_columns,
        activation_fn=activation_fn,
        dropout=dropout,
        batch_norm=batch_norm,
        features=features,
        mode=mode,
    )
    if mode == ModeKeys.TRAIN:
        optimizer = _counting_steps(get_optimizer_instance_v2(optimizer))
    made = head._create_tpu_estimator_spec if use_tpu else head.create_estimator_spec
    return made(
        features=features,
        mode=mode,
        labels=labels,
        optimizer=optimizer,
        logits=logits,
        trainable_variables=variables,
        update_ops=updates,
    )


def linear_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Any,
    optimizer: Any,
    config: Any,
    sparse_combiner: str = "sum",
) -> Any:
    """A linear model."""
    check_features(features)
    if isinstance(optimizer, LinearSDCA):
        assert sparse_combiner == "sum"
        return sdca_model_fn(features, labels, mode, head, feature_columns, optimizer)
    logits, variables = linear_logits(
        units=head.logits_dimension,
        feature_columns=feature_columns,
        sparse_combiner=sparse_combiner,
        features=features,
    )
    if mode == ModeKeys.TRAIN:
        if not optimizer:
            rate = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(feature_columns)))
            optimizer = tf.keras.optimizers.Ftrl(learning_rate=rate)
        made = get_optimizer_instance_v2(optimizer, learning_rate=_LINEAR_LEARNING_RATE)
        optimizer = _counting_steps(made)
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        optimizer=optimizer,
        trainable_variables=variables,
        logits=logits,
    )


class _Part:
    """A part of a model: its logits, variables, updates and the optimizer that trains it."""

    def __init__(self, logits: Any, variables: Any, updates: Any, optimizer: Any):
        self.logits = logits
        self._variables = variables
        self._updates = updates
        self.optimizer = optimizer

    def steps(self, loss: Any) -> list[Any]:
        return [*self.optimizer.get_updates(loss, self._variables), *self._updates]


def dnn_linear_combined_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    linear_feature_columns: Any = None,
    linear_optimizer: Any = "Ftrl",
    dnn_feature_columns: Any = None,
    dnn_optimizer: Any = "Adagrad",
    dnn_hidden_units: Any = None,
    dnn_activation_fn: Any = tf.nn.relu,
    dnn_dropout: float | None = None,
    config: Any = None,
    batch_norm: bool = False,
    linear_sparse_combiner: str = "sum",
    loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
) -> Any:
    """The sum of a linear model and a network, each with an optimizer of its own."""
    check_features(features)
    if not linear_feature_columns and not dnn_feature_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    parts = []
    if dnn_feature_columns:
        dnn_optimizer = _own_optimizer(dnn_optimizer, _COMBINED_DNN_LEARNING_RATE, mode)
        if not dnn_hidden_units:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is specified."
            )
        made = dnn_logits(
            units=head.logits_dimension,
            hidden_units=dnn_hidden_units,
            feature_columns=dnn_feature_columns,
            activation_fn=dnn_activation_fn,
            dropout=dnn_dropout,
            batch_norm=batch_norm,
            features=features,
            mode=mode,
        )
        parts.append(_Part(*made, dnn_optimizer))
    if linear_feature_columns:
        rate = combined_linear_learning_rate(len(linear_feature_columns))
        linear_optimizer = _own_optimizer(linear_optimizer, rate, mode)
        logits, variables = linear_logits(
            units=head.logits_dimension,
            feature_columns=linear_feature_columns,
            sparse_combiner=linear_sparse_combiner,
            features=features,
        )
        add_layer_summary(logits, "linear")
        parts.append(_Part(logits, variables, [], linear_optimizer))

    def train_op_fn(loss: Any) -> Any:
        loss = replica_loss(loss, loss_reduction)
        return tf.group(*[step for part in parts for step in part.steps(loss)])

    if mode == ModeKeys.TRAIN:
        _counting_steps(parts[0].optimizer)
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=train_op_fn,
        logits=parts[0].logits if len(parts) == 1 else parts[0].logits + parts[1].logits,
    )


def _own_optimizer(optimizer: Any, learning_rate: float, mode: str) -> Any:
    if mode != ModeKeys.TRAIN:
        return optimizer
    made = get_optimizer_instance_v2(optimizer, learning_rate=learning_rate)
    check_no_sync_replicas_optimizer(made)
    return made


def baseline_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    optimizer: Any,
    weight_column: Any = None,
    config: Any = None,
    loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
) -> Any:
    """The same logits for all examples: what can be predicted without looking at features."""
    variables, logits = baseline_logits(features, head.logits_dimension, weight_column)
    if mode == ModeKeys.TRAIN:
        made = get_optimizer_instance_v2(optimizer, learning_rate=_BASELINE_LEARNING_RATE)
        optimizer = _counting_steps(made)

    def train_op_fn(loss: Any) -> Any:
        return optimizer.get_updates(replica_loss(loss, loss_reduction), variables)[0]

    return head.create_estimator_spec(
        features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn
    )


def baseline_logits(
    features: Any, num_outputs: int, weight_column: Any = None
) -> tuple[list[Any], Any]:
    """The variables of a baseline, and the logits, which are the same for all examples."""
    weight_key = _weight_key(weight_column)
    sizes = [tf.shape(feature)[0] for key, feature in features.items() if key != weight_key]
    checks = [tf.assert_equal(sizes[0], size) for size in sizes[1:]]
    with tf.control_dependencies(checks), tf.name_scope("baseline"):
        bias = tf.Variable(tf.zeros([num_outputs]), name="bias", use_resource=True)
        return [bias], tf.multiply(bias, tf.ones([sizes[0], num_outputs]))


def _weight_key(weight_column: Any) -> Any:
    if weight_column is None or isinstance(weight_column, str):
        return weight_column
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(
            "Weight column must be either a string or NumericColumn. "
            f"Given type: {type(weight_column)}."
        )
    return weight_column.key
