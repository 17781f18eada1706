"""The model functions of the canned estimators: linear models, networks, and their sum."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock.contrib import layers
from penstock.contrib.layers.columns.embedding import _EmbeddingColumn
from penstock.contrib.layers.columns.protocol import _FeatureColumn
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps

_DNN_LEARNING_RATE = 0.05
_LINEAR_LEARNING_RATE = 0.2
_SLICE = 64 << 20
_ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.nn.tanh, "sigmoid": tf.nn.sigmoid}


def dnn_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> ModelFnOps:
    """A network of dense layers."""
    head = params["head"]
    optimizer = params.get("optimizer") or "Adagrad"
    features = _by_name(features)
    partitioner = _partitioner(config, params.get("input_layer_min_slice_size") or _SLICE)
    with _tower("dnn", features, _partitioner(config)):
        logits, input_scope = _network(
            features,
            params["feature_columns"],
            params["hidden_units"],
            _activation(params.get("activation_fn")),
            params.get("dropout"),
            head.logits_dimension,
            mode,
            partitioner,
            "%s_fraction_of_zero_values %s_activation",
        )

        def train_op_fn(loss: Any) -> Any:
            return layers.optimize_loss(
                loss=loss,
                global_step=tf.train.get_global_step(),
                learning_rate=_DNN_LEARNING_RATE,
                optimizer=_made(optimizer),
                gradient_multipliers=_multipliers(params, input_scope),
                clip_gradients=params.get("gradient_clip_norm"),
                name="dnn",
                summaries=[],
            )

        made: ModelFnOps = head.create_model_fn_ops(
            features, mode, labels, train_op_fn, logits=logits
        )
        return made


def linear_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> ModelFnOps:
    """A linear model."""
    head, columns = params["head"], params["feature_columns"]
    features = _by_name(features)
    with _tower("linear", features, _partitioner(config, _SLICE)) as scope:
        logits = _sum(features, columns, head.logits_dimension, params.get("joint_weights"), scope)

        def train_op_fn(loss: Any) -> Any:
            variables = tf.get_collection("linear")
            gradients = tf.gradients(loss, variables)
            if params.get("gradient_clip_norm"):
                gradients, _ = tf.clip_by_global_norm(gradients, params["gradient_clip_norm"])
            return _linear_optimizer(params.get("optimizer"), columns).apply_gradients(
                zip(gradients, variables, strict=True), global_step=tf.train.get_global_step()
            )

        made: ModelFnOps = head.create_model_fn_ops(
            features, mode, labels, train_op_fn, logits=logits
        )
        return made


def combined_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> ModelFnOps:
    """The sum of a linear model and a network."""
    head = params["head"]
    linear_columns = params.get("linear_feature_columns")
    dnn_columns = params.get("dnn_feature_columns")
    features = _by_name(features)
    linear_optimizer = _made(params.get("linear_optimizer") or "Ftrl")
    dnn_optimizer = _made(params.get("dnn_optimizer") or "Adagrad")
    _check_not_synchronous(linear_optimizer, dnn_optimizer)
    parts: list[Any] = []
    trainings: list[dict[str, Any]] = []
    if dnn_columns:
        if not params.get("dnn_hidden_units"):
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is specified."
            )
        with _tower("dnn", features, _partitioner(config)):
            logits, input_scope = _network(
                features,
                dnn_columns,
                params["dnn_hidden_units"],
                params.get("dnn_activation_fn") or tf.nn.relu,
                params.get("dnn_dropout"),
                head.logits_dimension,
                mode,
                params.get("input_layer_partitioner") or _partitioner(config, _SLICE),
                "%s/fraction_of_zero_values %s/activation",
            )
        parts.append(logits)
        multipliers = _multipliers(params, input_scope)
        trainings.append(
            {
                "name": "dnn",
                "optimizer": dnn_optimizer,
                "learning_rate": _DNN_LEARNING_RATE,
                "gradient_multipliers": multipliers,
            }
        )
    if linear_columns:
        joint = params.get("joint_linear_weights")
        with _tower("linear", features, _partitioner(config, _SLICE)) as scope:
            logits = _sum(features, linear_columns, head.logits_dimension, joint, scope)
            _summarize(logits, scope.name, "%s/fraction_of_zero_values %s/activation")
        parts.append(logits)
        rate = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(linear_columns)))
        trainings.append({"name": "linear", "optimizer": linear_optimizer, "learning_rate": rate})

    def train_op_fn(loss: Any) -> Any:
        return _trained_together(loss, trainings, params)

    made: ModelFnOps = head.create_model_fn_ops(
        features, mode, labels, train_op_fn, logits=sum(parts[1:], parts[0])
    )
    return made


def _trained_together(loss: Any, trainings: list[dict[str, Any]], params: dict[str, Any]) -> Any:
    """A step of all parts; each counts it, unless `fix_global_step_increment_bug` is set."""
    global_step = tf.train.get_global_step()
    counts_once = params.get("fix_global_step_increment_bug", True)
    steps = [
        layers.optimize_loss(
            loss=loss,
            global_step=global_step,
            clip_gradients=params.get("gradient_clip_norm"),
            variables=tf.get_collection(training["name"]),
            summaries=[],
            increment_global_step=not counts_once,
            **training,
        )
        for training in trainings
    ]
    if not counts_once:
        return tf.group(*steps)
    with tf.control_dependencies([tf.group(*steps)]), tf.colocate_with(global_step):
        return tf.assign_add(global_step, 1).op


def _by_name(features: Any) -> dict[str, Any]:
    return features if isinstance(features, dict) else {"": features}


def _tower(name: str, features: dict[str, Any], partitioner: Any) -> Any:
    return tf.variable_scope(name, values=tuple(features.values()), partitioner=partitioner)


def _partitioner(config: Any, min_slice_size: int | None = None) -> Any:
    parameter_servers = config.num_ps_replicas if config else 0
    sizes = {} if min_slice_size is None else {"min_slice_size": min_slice_size}
    return tf.min_max_variable_partitioner(max_partitions=parameter_servers, **sizes)


def _are_old_columns(columns: Any) -> bool:
    return all(isinstance(column, _FeatureColumn) for column in columns)


def _network(
    features: dict[str, Any],
    columns: Any,
    hidden_units: Any,
    activation: Any,
    dropout: float | None,
    outputs: int,
    mode: str,
    partitioner: Any,
    tags: str,
) -> tuple[Any, str]:
    """The logits of a network, and the scope of its input layer."""
    with tf.variable_scope(
        "input_from_feature_columns", values=tuple(features.values()), partitioner=partitioner
    ) as input_scope:
        if _are_old_columns(columns):
            net = layers.input_from_feature_columns(
                features, columns, weight_collections=["dnn"], scope=input_scope
            )
        else:
            net = tf.feature_column.input_layer(features, columns, weight_collections=["dnn"])
    for place, units in enumerate(hidden_units):
        with tf.variable_scope(f"hiddenlayer_{place}", values=(net,)) as scope:
            net = layers.fully_connected(
                net, units, activation_fn=activation, variables_collections=["dnn"], scope=scope
            )
            if dropout is not None and mode == ModeKeys.TRAIN:
                net = layers.dropout(net, keep_prob=1.0 - dropout)
        _summarize(net, scope.name, tags)
    with tf.variable_scope("logits", values=(net,)) as scope:
        logits = layers.fully_connected(
            net, outputs, activation_fn=None, variables_collections=["dnn"], scope=scope
        )
    _summarize(logits, scope.name, tags)
    return logits, input_scope.name


def _sum(features: dict[str, Any], columns: Any, outputs: int, joint: Any, scope: Any) -> Any:
    """The logits of a linear model."""
    if not _are_old_columns(columns):
        return tf.feature_column.linear_model(
            features, columns, units=outputs, weight_collections=["linear"]
        )
    model: Any = layers.weighted_sum_from_feature_columns
    if joint:
        model = layers.joint_weighted_sum_from_feature_columns
    logits, _, _ = model(features, columns, outputs, weight_collections=["linear"], scope=scope)
    return logits


def _summarize(value: Any, scope: str, tags: str) -> None:
    zeros, activation = tags.split()
    tf.summary.scalar(zeros % scope, tf.nn.zero_fraction(value))
    tf.summary.histogram(activation % scope, value)


def _activation(activation: Any) -> Any:
    if not isinstance(activation, str):
        return activation
    if activation not in _ACTIVATIONS:
        names = ", ".join(_ACTIVATIONS)
        raise ValueError(f"Activation name should be one of [{names}], you provided {activation}.")
    return _ACTIVATIONS[activation]


def _made(optimizer: Any) -> Any:
    return optimizer() if callable(optimizer) else optimizer


def _linear_optimizer(optimizer: Any, columns: Any) -> Any:
    if optimizer is None:
        rate = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(columns)))
        return tf.train.FtrlOptimizer(learning_rate=rate)
    if isinstance(optimizer, str):
        return layers.OPTIMIZER_CLS_NAMES[optimizer](learning_rate=_LINEAR_LEARNING_RATE)
    return _made(optimizer)


def _check_not_synchronous(*optimizers: Any) -> None:
    if any(isinstance(each, tf.train.SyncReplicasOptimizer) for each in optimizers):
        raise ValueError(
            "SyncReplicasOptimizer is not supported in DNNLinearCombined model. If you want to use "
            "this optimizer, please use either DNN or Linear model."
        )


def _multipliers(params: dict[str, Any], input_scope: str) -> dict[Any, float] | None:
    """What the gradients of columns' embeddings are multiplied with."""
    found = {}
    for column, factor in (params.get("embedding_lr_multipliers") or {}).items():
        if not isinstance(column, _EmbeddingColumn):
            raise ValueError(
                "learning rate multipler can only be defined for embedding columns. "
                f"It is defined for {column}"
            )
        embeddings = _get_embedding_variable(column, "dnn", input_scope)
        if not embeddings:
            raise ValueError(f"Couldn't find a variable for column {column}")
        found.update(dict.fromkeys(embeddings, factor))
    return found or None


def _get_embedding_variable(column: Any, collection_key: str, input_layer_scope: str) -> list[Any]:
    """The variables of an embedding column in a network."""
    return tf.get_collection(collection_key, f"{input_layer_scope}/{column.name}")


# Their names in TensorFlow's modules.
_dnn_model_fn = dnn_model_fn
_linear_model_fn = linear_model_fn
_dnn_linear_combined_model_fn = combined_model_fn
