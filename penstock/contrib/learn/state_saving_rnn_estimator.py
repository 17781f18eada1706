"""`tf.contrib.learn.StateSavingRnnEstimator`: recurrent models of parts of sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib import layers
from penstock.contrib import rnn as contrib_rnn
from penstock.contrib import training as contrib_training
from penstock.contrib.layers.columns.input_layers import check_supported_for_sequences
from penstock.contrib.learn import recurrent_parts as parts
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps
from penstock.contrib.learn.recurrent_parts import PredictionType, RNNKeys, state_tuple_to_dict

__all__ = ["StateSavingRnnEstimator", "construct_state_saving_rnn", "state_tuple_to_dict"]

_multi_value_loss = parts.multi_value_loss


def construct_state_saving_rnn(
    cell: Any,
    inputs: list[Any],
    num_label_columns: int,
    state_saver: Any,
    state_name: Any,
    scope: str = "rnn",
) -> tuple[Any, Any]:
    """The activations of each step, and the last state, which is saved, too."""
    with tf.name_scope(scope):
        outputs, state = tf.nn.static_state_saving_rnn(
            cell=cell, inputs=inputs, state_saver=state_saver, state_name=state_name, scope=scope
        )
        activations = layers.fully_connected(
            inputs=tf.stack(outputs, axis=1),
            num_outputs=num_label_columns,
            activation_fn=None,
            trainable=True,
        )
        return activations, tf.identity(state, name=RNNKeys.FINAL_STATE_KEY)


def _get_name_or_parent_names(column: Any) -> list[str]:
    """The names of the features that a column is made of."""
    inner = getattr(column, "sparse_id_column", None)
    return [column.name if inner is None else inner.name]


def _prepare_features_for_sqss(
    features: Any,
    labels: Any,
    mode: str,
    sequence_feature_columns: Any,
    context_feature_columns: Any,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of sequences, labels among them, and those of the context."""

    def found(names: list[str], kind: str) -> dict[str, Any]:
        missing = [name for name in names if features.get(name) is None]
        if missing:
            raise ValueError(f"No key in features for {kind} feature: {missing[0]}")
        return {name: features[name] for name in names}

    check_supported_for_sequences(sequence_feature_columns)
    names = [
        name for column in sequence_feature_columns for name in _get_name_or_parent_names(column)
    ]
    sequences = found(names, "sequence")
    context = found([column.name for column in context_feature_columns or ()], "context")
    if mode != ModeKeys.INFER:
        sequences[RNNKeys.LABELS_KEY] = labels
    return sequences, context


def _get_state_names(cell: Any) -> Any:
    """What the parts of a cell's state are called, in the structure of the state."""

    def of(size: Any, name: str) -> Any:
        if isinstance(size, contrib_rnn.LSTMStateTuple):
            return [f"{name}_c", f"{name}_h"]
        return name

    size = cell.state_size
    if isinstance(size, tf.TensorShape):
        raise TypeError("cell.state_size of type TensorShape is not supported.")
    if isinstance(size, int | contrib_rnn.LSTMStateTuple):
        return of(size, parts.state_name(0))
    return [of(each, parts.state_name(place)) for place, each in enumerate(size)]


def _get_initial_states(cell: Any) -> dict[str, Any]:
    names = tf.nest.flatten(_get_state_names(cell))
    values = tf.nest.flatten(cell.zero_state(1, dtype=tf.float32))
    return {name: tf.squeeze(value, axis=0) for name, value in zip(names, values, strict=True)}


def _read_batch(
    cell: Any,
    features: Any,
    labels: Any,
    mode: str,
    num_unroll: int,
    batch_size: int,
    sequence_feature_columns: Any,
    context_feature_columns: Any = None,
    num_threads: int = 3,
    queue_capacity: int = 1000,
    seed: int | None = None,
) -> Any:
    """A batch of parts of sequences, with the states that the parts before them left."""
    states = _get_initial_states(cell)
    sequences, context = _prepare_features_for_sqss(
        features, labels, mode, sequence_feature_columns, context_feature_columns
    )
    return contrib_training.batch_sequences_with_states(
        input_key="key",
        input_sequences=sequences,
        input_context=context,
        input_length=None,
        initial_states=states,
        num_unroll=num_unroll,
        batch_size=batch_size,
        pad=True,
        make_keys_unique=True,
        make_keys_unique_seed=seed,
        num_threads=num_threads,
        capacity=queue_capacity,
    )


def _prepare_inputs_for_rnn(
    sequence_features: Any, context_features: Any, sequence_feature_columns: Any, num_unroll: int
) -> list[Any]:
    """The inputs of each step, with the context beside each."""

    def tiled(feature: Any) -> Any:
        return tf.squeeze(tf.tile(tf.expand_dims(feature, 1), [1, num_unroll, 1]), axis=2)

    for feature in sequence_features.values():
        if isinstance(feature, tf.SparseTensor):
            feature.dense_shape.set_shape([3])  # batch, step, value
    inputs = layers.sequence_input_from_feature_columns(
        columns_to_tensors=sequence_features,
        feature_columns=sequence_feature_columns,
        weight_collections=None,
        scope=None,
    )
    inputs.set_shape([None, num_unroll, None])
    if context_features:
        context = [tiled(context_features[name]) for name in sorted(context_features)]
        inputs = tf.concat([inputs, tf.stack(context, 2)], axis=2)
    return tf.unstack(inputs, axis=1)


def _get_rnn_model_fn(
    cell_type: Any,
    target_column: Any,
    problem_type: int,
    optimizer: Any,
    num_unroll: int,
    num_units: Any,
    num_threads: int,
    queue_capacity: int,
    batch_size: int,
    sequence_feature_columns: Any,
    context_feature_columns: Any = None,
    predict_probabilities: bool = False,
    learning_rate: float | None = None,
    gradient_clipping_norm: float | None = None,
    dropout_keep_probabilities: Any = None,
    name: str = "StateSavingRNNModel",
    seed: int | None = None,
) -> Callable[..., ModelFnOps]:
    """A model function; see `StateSavingRnnEstimator`."""
    parts.check_problem_type(problem_type, predict_probabilities)
    if num_unroll <= 0:
        raise ValueError(f"num_unroll must be positive; got {num_unroll}.")

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        with tf.name_scope(name):
            dropout = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
            cell = parts.construct_rnn_cell(num_units, cell_type, dropout)
            batch = _read_batch(
                cell,
                features,
                labels,
                mode,
                num_unroll,
                batch_size,
                sequence_feature_columns,
                context_feature_columns,
                num_threads,
                queue_capacity,
                seed,
            )
            sequences = batch.sequences
            if mode != ModeKeys.INFER:
                labels = sequences.pop(RNNKeys.LABELS_KEY)
            activations, final_state = construct_state_saving_rnn(
                cell=cell,
                inputs=_prepare_inputs_for_rnn(
                    sequences, batch.context, sequence_feature_columns, num_unroll
                ),
                num_label_columns=target_column.num_label_columns,
                state_saver=batch,
                state_name=_get_state_names(cell),
            )
            predictions = parts.multi_value_predictions(
                activations, target_column, problem_type, predict_probabilities
            )
            loss = metrics = None
            if mode != ModeKeys.INFER:
                loss = parts.multi_value_loss(
                    activations, labels, batch.length, target_column, features
                )
                metrics = parts.get_eval_metric_ops(
                    problem_type, PredictionType.MULTIPLE_VALUE, batch.length, predictions, labels
                )
            predictions.update(state_tuple_to_dict(final_state))
            train_op = parts.training_op(
                mode, loss, optimizer, learning_rate, gradient_clipping_norm
            )
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
        )

    return model_fn


class StateSavingRnnEstimator(Estimator):
    """A recurrent model that sees long sequences part by part, and keeps its state between.

    Args:
      problem_type: `ProblemType.CLASSIFICATION` or `LINEAR_REGRESSION`.
      num_unroll: how many steps a part has.
      batch_size: how many parts are seen at once.
      sequence_feature_columns: columns of what differs between steps.
      context_feature_columns: columns of what is the same in all steps.
      num_threads, queue_capacity, seed: of the queue of sequences.
    """

    def __init__(
        self,
        problem_type: int,
        num_unroll: int,
        batch_size: int,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_classes: int | None = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer_type: Any = "SGD",
        learning_rate: float = 0.1,
        predict_probabilities: bool = False,
        momentum: float | None = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Any = None,
        model_dir: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        num_threads: int = 3,
        queue_capacity: int = 1000,
        seed: int | None = None,
    ):
        target_column, what = parts.target_of(problem_type, num_classes)
        model_fn = _get_rnn_model_fn(
            cell_type=cell_type,
            target_column=target_column,
            problem_type=problem_type,
            optimizer=parts.optimizer_of(optimizer_type, learning_rate, momentum),
            num_unroll=num_unroll,
            num_units=num_units,
            num_threads=num_threads,
            queue_capacity=queue_capacity,
            batch_size=batch_size,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            predict_probabilities=predict_probabilities,
            learning_rate=learning_rate,
            gradient_clipping_norm=gradient_clipping_norm,
            dropout_keep_probabilities=dropout_keep_probabilities,
            name=f"MultiValueStateSavingRNN{what}",
            seed=seed,
        )
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)
