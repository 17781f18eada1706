"""What the recurrent estimators share: cells, predictions, losses and metrics over time."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib import layers, metrics
from penstock.contrib import rnn as contrib_rnn
from penstock.contrib.layers.target_columns import multi_class_target, regression_target
from penstock.contrib.learn.model_fn import ModeKeys, PredictionKey, ProblemType


class RNNKeys:
    """What recurrent estimators call features and predictions."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


class PredictionType:
    """Whether there is one prediction for a sequence, or one for each of its steps."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


_CELL_TYPES = {
    "basic_rnn": contrib_rnn.BasicRNNCell,
    "lstm": contrib_rnn.LSTMCell,
    "gru": contrib_rnn.GRUCell,
}


def construct_rnn_cell(
    num_units: Any, cell_type: Any = "basic_rnn", dropout_keep_probabilities: Any = None
) -> Any:
    """A cell, or several one above another.

    Args:
      num_units: the size of the cell, or the sizes of several.
      cell_type: "basic_rnn", "lstm", "gru", or a class.
      dropout_keep_probabilities: of the inputs of each cell, and of the last one's outputs.
    """
    made_by = _CELL_TYPES.get(cell_type, cell_type)
    if not made_by or not issubclass(made_by, contrib_rnn.RNNCell):
        raise ValueError(f"The supported cell types are {list(_CELL_TYPES)}; got {made_by}")
    sizes = num_units if isinstance(num_units, list | tuple) else (num_units,)
    cells = [made_by(num_units=size) for size in sizes]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else contrib_rnn.MultiRNNCell(cells)


def apply_dropout(
    cells: list[Any], dropout_keep_probabilities: Any, random_seed: int | None = None
) -> list[Any]:
    """The cells with dropout of their inputs, and of the last one's outputs."""
    if len(dropout_keep_probabilities) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number of cells. Got "
            f"{len(cells)} cells and {len(dropout_keep_probabilities)} dropout probabilities."
        )
    *lower, last_input, last_output = dropout_keep_probabilities
    wrapped = [
        contrib_rnn.DropoutWrapper(cell, kept, 1.0, seed=random_seed)
        for cell, kept in zip(cells[:-1], lower, strict=True)
    ]
    return [*wrapped, contrib_rnn.DropoutWrapper(cells[-1], last_input, last_output)]


def get_eval_metric_ops(
    problem_type: int,
    prediction_type: int,
    sequence_length: Any,
    prediction_dict: dict[str, Any],
    labels: Any,
) -> dict[str, Any]:
    """The accuracy of classes; nothing for numbers."""
    if problem_type != ProblemType.CLASSIFICATION:
        return {}
    classes = prediction_dict[PredictionKey.CLASSES]
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        classes, labels = mask_activations_and_labels(classes, labels, sequence_length)
    return {"accuracy": metrics.streaming_accuracy(predictions=classes, labels=labels)}


def select_last_activations(activations: Any, sequence_lengths: Any) -> Any:
    """The activations of the last step of each sequence."""
    with tf.name_scope("select_last_activations", values=[activations, sequence_lengths]):
        shape = tf.shape(activations)
        batch_size, padded_length, columns = shape[0], shape[1], shape[2]
        lengths = padded_length if sequence_lengths is None else sequence_lengths
        flat = tf.reshape(activations, [-1, columns])
        found = tf.gather(flat, tf.range(batch_size) * padded_length + lengths - 1)
        found.set_shape([activations.get_shape()[0], activations.get_shape()[2]])
        return found


def mask_activations_and_labels(
    activations: Any, labels: Any, sequence_lengths: Any
) -> tuple[Any, Any]:
    """The activations and labels of all steps of all sequences, without what is padded."""
    with tf.name_scope(
        "mask_activations_and_labels", values=[activations, labels, sequence_lengths]
    ):
        shape = tf.shape(labels)
        batch_size, padded_length = shape[0], shape[1]
        if sequence_lengths is None:
            count = padded_length * batch_size
            return tf.reshape(activations, [count, -1]), tf.reshape(labels, [count])
        mask = tf.sequence_mask(sequence_lengths, padded_length)
        return tf.boolean_mask(activations, mask), tf.boolean_mask(labels, mask)


def predictions_key(problem_type: int) -> str:
    """What predictions of a problem are called."""
    is_classification = problem_type == ProblemType.CLASSIFICATION
    return PredictionKey.CLASSES if is_classification else PredictionKey.SCORES


def multi_value_predictions(
    activations: Any, target_column: Any, problem_type: int, predict_probabilities: bool
) -> dict[str, Any]:
    """Predictions for each step of each sequence."""
    with tf.name_scope("MultiValuePrediction"):
        shape = tf.shape(activations)
        flat = tf.reshape(activations, [-1, shape[2]])
        found = {}
        if predict_probabilities:
            probabilities = target_column.logits_to_predictions(flat, proba=True)
            predictions = tf.argmax(probabilities, 1)
            is_binary = target_column.num_label_columns == 1
            found[PredictionKey.PROBABILITIES] = tf.reshape(
                probabilities,
                tf.concat([shape[:2], [2]], 0) if is_binary else shape,
                name=PredictionKey.PROBABILITIES,
            )
        else:
            predictions = target_column.logits_to_predictions(flat, proba=False)
        key = predictions_key(problem_type)
        found[key] = tf.reshape(predictions, [shape[0], shape[1]], name=key)
        return found


def multi_value_loss(
    activations: Any, labels: Any, sequence_length: Any, target_column: Any, features: Any
) -> Any:
    """The loss over all steps of all sequences."""
    with tf.name_scope("MultiValueLoss"):
        masked, masked_labels = mask_activations_and_labels(activations, labels, sequence_length)
        return target_column.loss(masked, masked_labels, features)


def state_tuple_to_dict(state: Any) -> dict[str, Any]:
    """The parts of a state by name."""
    found = {}
    with tf.name_scope("state_tuple_to_dict"):
        for place, part in enumerate(tf.nest.flatten(state)):
            name = state_name(place)
            found[name] = None if part is None else tf.identity(part, name=name)
    return found


def state_name(place: int) -> str:
    """What a part of a state is called."""
    return f"{RNNKeys.STATE_PREFIX}_{place}"


def check_problem_type(problem_type: int, predict_probabilities: bool) -> None:
    """ValueError unless it is a problem that recurrent models solve."""
    if problem_type not in (ProblemType.CLASSIFICATION, ProblemType.LINEAR_REGRESSION):
        raise ValueError(
            "problem_type must be ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; got "
            f"{problem_type}"
        )
    if problem_type != ProblemType.CLASSIFICATION and predict_probabilities:
        raise ValueError(
            "predict_probabilities can only be set to True for problem_type "
            f"ProblemType.CLASSIFICATION; got {problem_type}."
        )


def target_of(problem_type: int, num_classes: int | None) -> tuple[Any, str]:
    """The target column of a problem, and what such models are called."""
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return regression_target(), "Regressor"
    if problem_type != ProblemType.CLASSIFICATION:
        raise ValueError(
            "problem_type must be either ProblemType.LINEAR_REGRESSION or "
            f"ProblemType.CLASSIFICATION; got {problem_type}"
        )
    if not num_classes:
        raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
    return multi_class_target(n_classes=num_classes), "Classifier"


def optimizer_of(optimizer: Any, learning_rate: float, momentum: float | None) -> Any:
    """The optimizer; "Momentum" needs one more number than its name."""
    if isinstance(optimizer, str) and optimizer == "Momentum":
        return tf.train.MomentumOptimizer(learning_rate, momentum)
    return optimizer


def training_op(
    mode: str, loss: Any, optimizer: Any, learning_rate: Any, gradient_clipping_norm: Any
) -> Any:
    """The step of training, if that is the mode."""
    if mode != ModeKeys.TRAIN:
        return None
    return layers.optimize_loss(
        loss=loss,
        global_step=None,
        learning_rate=learning_rate,
        optimizer=optimizer,
        clip_gradients=gradient_clipping_norm,
        summaries=layers.OPTIMIZER_SUMMARIES,
    )
