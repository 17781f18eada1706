"""The model functions of canned estimators: logits, a head, and optimizers."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock.estimator.canned.logits import (
    add_layer_summary,
    check_features,
    dnn_logit_fn_builder,
    linear_logit_fn_builder,
)
from penstock.estimator.canned.optimizers import get_optimizer_instance
from penstock.estimator.sdca.linear_sdca import LinearSDCA, sdca_model_fn
from penstock.train.sync_replicas import SyncReplicasOptimizer

_LARGE = 64 << 20  # parts of a table are not smaller

_DNN_LEARNING_RATE = 0.05
_LINEAR_LEARNING_RATE = 0.2
_BASELINE_LEARNING_RATE = 0.3
_COMBINED_DNN_LEARNING_RATE = 0.001
_COMBINED_LINEAR_LEARNING_RATE = 0.005


def _partitioner(config: Any, min_slice_size: int = 256 << 10) -> Any:
    """Divides large variables among the cluster's servers of variables."""
    servers = config.num_ps_replicas if config else 0
    return tf.min_max_variable_partitioner(max_partitions=servers, min_slice_size=min_slice_size)


def dnn_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    hidden_units: Any,
    feature_columns: Any,
    optimizer: Any = "Adagrad",
    activation_fn: Any = tf.nn.relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    use_tpu: bool = False,
    batch_norm: bool = False,
) -> Any:
    """A network of dense layers."""
    if use_tpu:
        raise ValueError("use_tpu: there are no TPUs.")
    optimizer = get_optimizer_instance(optimizer, learning_rate=_DNN_LEARNING_RATE)
    check_features(features)
    with tf.variable_scope(
        "dnn", values=tuple(features.values()), partitioner=_partitioner(config)
    ):
        logit_fn = dnn_logit_fn_builder(
            units=head.logits_dimension,
            hidden_units=hidden_units,
            feature_columns=feature_columns,
            activation_fn=activation_fn,
            dropout=dropout,
            input_layer_partitioner=input_layer_partitioner or _partitioner(config, _LARGE),
            batch_norm=batch_norm,
        )
        logits = logit_fn(features=features, mode=mode)
        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, optimizer=optimizer, logits=logits
        )


def linear_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Any,
    optimizer: Any,
    partitioner: Any,
    config: Any,
    sparse_combiner: str = "sum",
) -> Any:
    """A linear model."""
    check_features(features)
    with tf.variable_scope(
        "linear",
        values=tuple(features.values()),
        partitioner=partitioner or _partitioner(config, _LARGE),
    ):
        if isinstance(optimizer, LinearSDCA):
            assert sparse_combiner == "sum"
            return sdca_model_fn(features, labels, mode, head, feature_columns, optimizer)
        logit_fn = linear_logit_fn_builder(
            units=head.logits_dimension,
            feature_columns=feature_columns,
            sparse_combiner=sparse_combiner,
        )
        logits = logit_fn(features=features)
        if optimizer is None:
            rate = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(feature_columns)))
            optimizer = tf.train.FtrlOptimizer(learning_rate=rate)
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            optimizer=get_optimizer_instance(optimizer, learning_rate=_LINEAR_LEARNING_RATE),
            logits=logits,
        )


def dnn_linear_combined_model_fn(
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
    input_layer_partitioner: Any = None,
    config: Any = None,
    batch_norm: bool = False,
    linear_sparse_combiner: str = "sum",
) -> Any:
    """The sum of a linear model and a network, each with an optimizer of its own."""
    check_features(features)
    if not linear_feature_columns and not dnn_feature_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    values = tuple(features.values())
    partitioner = input_layer_partitioner or _partitioner(config, _LARGE)
    logits, minimized = [], []
    if dnn_feature_columns:
        dnn_optimizer = _own_optimizer(dnn_optimizer, _COMBINED_DNN_LEARNING_RATE)
        if not dnn_hidden_units:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is specified."
            )
        with tf.variable_scope("dnn", values=values, partitioner=_partitioner(config)) as scope:
            dnn_logit_fn = dnn_logit_fn_builder(
                units=head.logits_dimension,
                hidden_units=dnn_hidden_units,
                feature_columns=dnn_feature_columns,
                activation_fn=dnn_activation_fn,
                dropout=dnn_dropout,
                input_layer_partitioner=partitioner,
                batch_norm=batch_norm,
            )
            logits.append(dnn_logit_fn(features=features, mode=mode))
        minimized.append((dnn_optimizer, scope.name))
    if linear_feature_columns:
        rate = combined_linear_learning_rate(len(linear_feature_columns))
        linear_optimizer = _own_optimizer(linear_optimizer, rate)
        with tf.variable_scope("linear", values=values, partitioner=partitioner) as scope:
            linear_logit_fn = linear_logit_fn_builder(
                units=head.logits_dimension,
                feature_columns=linear_feature_columns,
                sparse_combiner=linear_sparse_combiner,
            )
            logits.append(linear_logit_fn(features=features))
            add_layer_summary(logits[-1], scope.name)
        minimized.append((linear_optimizer, scope.name))
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=lambda loss: _minimize_each(loss, minimized),
        logits=logits[0] if len(logits) == 1 else logits[0] + logits[1],
    )


def combined_linear_learning_rate(num_linear_feature_columns: int) -> float:
    """The rate of a linear model beside a network, unless an optimizer is given."""
    return min(_COMBINED_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(num_linear_feature_columns))


def _own_optimizer(optimizer: Any, learning_rate: float) -> Any:
    made = get_optimizer_instance(optimizer, learning_rate=learning_rate)
    check_no_sync_replicas_optimizer(made)
    return made


def check_no_sync_replicas_optimizer(optimizer: Any) -> None:
    """ValueError for the optimizer that can't be one of two."""
    if isinstance(optimizer, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support multi optimizers case. Therefore, it is not "
            "supported in DNNLinearCombined model. If you want to use this optimizer, please use "
            "either DNN or Linear model."
        )


def _minimize_each(loss: Any, minimized: list[tuple[Any, str]]) -> Any:
    """One step of each optimizer on the variables of its scope, then one on the global step."""
    steps = [
        optimizer.minimize(
            loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=scope)
        )
        for optimizer, scope in minimized
    ]
    with tf.control_dependencies([tf.group(*steps)]):
        return tf.assign_add(tf.train.get_global_step(), 1).op


def baseline_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    optimizer: Any,
    weight_column: Any = None,
    config: Any = None,
) -> Any:
    """The same logits for all examples: what can be predicted without looking at features."""

    def train_op_fn(loss: Any) -> Any:
        made = get_optimizer_instance(optimizer, learning_rate=_BASELINE_LEARNING_RATE)
        return made.minimize(loss, global_step=tf.train.get_global_step())

    return head.create_estimator_spec(
        features=features,
        mode=mode,
        logits=baseline_logit_fn_builder(head.logits_dimension, weight_column)(features),
        labels=labels,
        train_op_fn=train_op_fn,
    )


def baseline_logit_fn_builder(num_outputs: int, weight_column: Any = None) -> Any:
    """A function of features that gives all examples the same logits."""
    weight_key = getattr(weight_column, "key", weight_column)

    def baseline_logit_fn(features: Any) -> Any:
        sizes = [tf.shape(feature)[0] for key, feature in features.items() if key != weight_key]
        checks = [tf.assert_equal(sizes[0], size) for size in sizes[1:]]
        with tf.control_dependencies(checks), tf.variable_scope("baseline"):
            bias = tf.get_variable("bias", shape=[num_outputs], initializer=tf.zeros_initializer())
            return tf.multiply(bias, tf.ones([sizes[0], num_outputs]))

    return baseline_logit_fn
