"""`tf.contrib.learn.DynamicRnnEstimator`: recurrent models of whole sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib import layers
from penstock.contrib.learn import recurrent_parts as parts
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, PredictionKey
from penstock.contrib.learn.recurrent_parts import PredictionType, RNNKeys, state_tuple_to_dict

__all__ = [
    "DynamicRnnEstimator",
    "PredictionType",
    "build_sequence_input",
    "construct_rnn",
    "dict_to_state_tuple",
    "state_tuple_to_dict",
]

_multi_value_loss = parts.multi_value_loss


def dict_to_state_tuple(input_dict: dict[str, Any], cell: Any) -> Any:
    """The state of a cell, of features that have its parts; None if there are none."""
    sizes = tf.nest.flatten(cell.state_size)
    found = []
    with tf.name_scope("dict_to_state_tuple"):
        for place, size in enumerate(sizes):
            name = parts.state_name(place)
            tensor = input_dict.get(name)
            if tensor is None:
                continue
            checks = [
                tf.assert_rank(tensor, 2, name=f"check_state_{place}_rank"),
                tf.assert_equal(tf.shape(tensor)[1], size, name=f"check_state_{place}_shape"),
            ]
            with tf.control_dependencies(checks):
                found.append(tf.identity(tensor, name=name))
        if not found:
            return None
        if len(found) != len(sizes):
            raise ValueError(
                f"RNN state was partially specified.Expected zero or {len(sizes)} state Tensors; "
                f"got {len(found)}"
            )
        return tf.nest.pack_sequence_as(cell.zero_state(batch_size=1, dtype=tf.bool), found)


def _concatenate_context_input(sequence_input: Any, context_input: Any) -> Any:
    """The inputs of each step, with the context beside each."""
    checks = []
    for tensor, rank, name in ((sequence_input, 3, "sequence"), (context_input, 2, "context")):
        what = f"{name}_input must have"
        checks.append(
            tf.assert_rank(tensor, rank, data=[tf.shape(tensor)], message=f"{what} rank {rank}")
        )
        checks.append(
            tf.assert_type(tensor, tf.float32, message=f"{what} dtype float32; got {tensor.dtype}.")
        )
    with tf.control_dependencies(checks):
        padded_length = tf.shape(sequence_input)[1]
        context = tf.expand_dims(context_input, 1)
        tiled = tf.tile(context, tf.concat([[1], [padded_length], [1]], 0))
    return tf.concat([sequence_input, tiled], 2)


def build_sequence_input(
    features: dict[str, Any],
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    weight_collections: Any = None,
    scope: Any = None,
) -> Any:
    """The inputs of each step of each sequence, of feature columns.

    Args:
      context_feature_columns: columns of what is the same in all steps.
    """
    columns = [*sequence_feature_columns, *(context_feature_columns or ())]
    tensors = {**features, **layers.transform_features(features.copy(), columns)}
    inputs = layers.sequence_input_from_feature_columns(
        columns_to_tensors=tensors,
        feature_columns=sequence_feature_columns,
        weight_collections=weight_collections,
        scope=scope,
    )
    if context_feature_columns is None:
        return inputs
    context = layers.input_from_feature_columns(
        columns_to_tensors=tensors,
        feature_columns=context_feature_columns,
        weight_collections=weight_collections,
        scope=scope,
    )
    return _concatenate_context_input(inputs, context)


def construct_rnn(
    initial_state: Any,
    sequence_input: Any,
    cell: Any,
    num_label_columns: int,
    dtype: Any = tf.float32,
    parallel_iterations: int | None = 32,
    swap_memory: bool = True,
) -> tuple[Any, Any]:
    """The activations of each step, and the last state."""
    with tf.name_scope("RNN"):
        outputs, state = tf.nn.dynamic_rnn(
            cell=cell,
            inputs=sequence_input,
            initial_state=initial_state,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            time_major=False,
        )
        activations = layers.fully_connected(
            inputs=outputs, num_outputs=num_label_columns, activation_fn=None, trainable=True
        )
        return activations, state


def _single_value_predictions(
    activations: Any,
    sequence_length: Any,
    target_column: Any,
    problem_type: int,
    predict_probabilities: bool,
) -> dict[str, Any]:
    """A prediction for each sequence."""
    with tf.name_scope("SingleValuePrediction"):
        last = parts.select_last_activations(activations, sequence_length)
        key = parts.predictions_key(problem_type)
        found = target_column.logits_to_predictions(last, proba=predict_probabilities)
        if not predict_probabilities:
            return {key: found}
        return {PredictionKey.PROBABILITIES: found, key: tf.argmax(found, 1)}


def _single_value_loss(
    activations: Any, labels: Any, sequence_length: Any, target_column: Any, features: Any
) -> Any:
    """The loss of the last step of each sequence."""
    with tf.name_scope("SingleValueLoss"):
        last = parts.select_last_activations(activations, sequence_length)
        return target_column.loss(last, labels, features)


def _output_alternatives(
    prediction_type: int, problem_type: int, predictions: dict[str, Any]
) -> dict[str, Any] | None:
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        return None
    without_state = {
        key: value for key, value in predictions.items() if RNNKeys.STATE_PREFIX not in key
    }
    return {"dynamic_rnn_output": (problem_type, without_state)}


def _get_dynamic_rnn_model_fn(
    cell_type: Any,
    num_units: Any,
    target_column: Any,
    problem_type: int,
    prediction_type: int,
    optimizer: Any,
    sequence_feature_columns: Any,
    context_feature_columns: Any = None,
    predict_probabilities: bool = False,
    learning_rate: float | None = None,
    gradient_clipping_norm: float | None = None,
    dropout_keep_probabilities: Any = None,
    sequence_length_key: str = RNNKeys.SEQUENCE_LENGTH_KEY,
    dtype: Any = tf.float32,
    parallel_iterations: int | None = None,
    swap_memory: bool = True,
    name: str = "DynamicRNNModel",
) -> Callable[..., ModelFnOps]:
    """A model function; see `DynamicRnnEstimator`."""
    parts.check_problem_type(problem_type, predict_probabilities)
    if prediction_type not in (PredictionType.SINGLE_VALUE, PredictionType.MULTIPLE_VALUE):
        raise ValueError(
            "prediction_type must be PredictionType.MULTIPLE_VALUEs or "
            f"PredictionType.SINGLE_VALUE; got {prediction_type}"
        )

    def predictions_and_loss(activations: Any, features: Any, labels: Any, mode: str) -> Any:
        length = features.get(sequence_length_key)
        loss_of: Any
        if prediction_type == PredictionType.MULTIPLE_VALUE:
            loss_of = parts.multi_value_loss
            predictions = parts.multi_value_predictions(
                activations, target_column, problem_type, predict_probabilities
            )
        else:
            loss_of = _single_value_loss
            predictions = _single_value_predictions(
                activations, length, target_column, problem_type, predict_probabilities
            )
        if mode == ModeKeys.INFER:
            return predictions, None
        return predictions, loss_of(activations, labels, length, target_column, features)

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        with tf.name_scope(name):
            inputs = build_sequence_input(
                features, sequence_feature_columns, context_feature_columns
            )
            dropout = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
            cell = parts.construct_rnn_cell(num_units, cell_type, dropout)
            activations, final_state = construct_rnn(
                initial_state=dict_to_state_tuple(features, cell),
                sequence_input=inputs,
                cell=cell,
                num_label_columns=target_column.num_label_columns,
                dtype=dtype,
                parallel_iterations=parallel_iterations,
                swap_memory=swap_memory,
            )
            predictions, loss = predictions_and_loss(activations, features, labels, mode)
            predictions.update(state_tuple_to_dict(final_state))
            metrics = None
            if mode != ModeKeys.INFER:
                length = features.get(sequence_length_key)
                metrics = parts.get_eval_metric_ops(
                    problem_type, prediction_type, length, predictions, labels
                )
            train_op = parts.training_op(
                mode, loss, optimizer, learning_rate, gradient_clipping_norm
            )
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=_output_alternatives(prediction_type, problem_type, predictions),
        )

    return model_fn


class DynamicRnnEstimator(Estimator):
    """A recurrent model of sequences, with one prediction for each, or for each step.

    Args:
      problem_type: `ProblemType.CLASSIFICATION` or `LINEAR_REGRESSION`.
      prediction_type: `PredictionType.SINGLE_VALUE` or `MULTIPLE_VALUE`.
      sequence_feature_columns: columns of what differs between steps.
      context_feature_columns: columns of what is the same in all steps.
      num_units: the size of the cell, or the sizes of several.
      cell_type: "basic_rnn", "lstm", "gru", or a class.
      predict_probabilities: whether predictions have the probabilities of classes.
      dropout_keep_probabilities: of the inputs of each cell, and of the last one's outputs.
    """

    def __init__(
        self,
        problem_type: int,
        prediction_type: int,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_classes: int | None = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer: Any = "SGD",
        learning_rate: float = 0.1,
        predict_probabilities: bool = False,
        momentum: float | None = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Any = None,
        model_dir: Any = None,
        feature_engineering_fn: Any = None,
        config: Any = None,
    ):
        kinds = {PredictionType.MULTIPLE_VALUE: "Multi", PredictionType.SINGLE_VALUE: "Single"}
        if prediction_type not in kinds:
            raise ValueError(
                "prediction_type must be one of PredictionType.MULTIPLE_VALUE or "
                f"PredictionType.SINGLE_VALUE; got {prediction_type}"
            )
        target_column, what = parts.target_of(problem_type, num_classes)
        model_fn = _get_dynamic_rnn_model_fn(
            cell_type=cell_type,
            num_units=num_units,
            target_column=target_column,
            problem_type=problem_type,
            prediction_type=prediction_type,
            optimizer=parts.optimizer_of(optimizer, learning_rate, momentum),
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            predict_probabilities=predict_probabilities,
            learning_rate=learning_rate,
            gradient_clipping_norm=gradient_clipping_norm,
            dropout_keep_probabilities=dropout_keep_probabilities,
            name=f"{kinds[prediction_type]}ValueDynamicRNN{what}",
        )
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)
