"""Recurrent networks of `tf.nn.rnn_cell` on sequences of features, as estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.feature_column.sequence_input import sequence_input_layer
from penstock.contrib.learn.recurrent_parts import select_last_activations
from penstock.estimator.canned.logits import check_features
from penstock.estimator.canned.optimizers import get_optimizer_instance
from penstock.estimator.estimator import Estimator
from penstock.estimator.extenders import clip_gradients_by_norm
from penstock.estimator.heads.class_heads import binary_or_multi_class_head
from penstock.estimator.keras_heads.sequential_head import _SequentialHead
from penstock.feature_column.feature_layers import concatenate_context_input

_DEFAULT_LEARNING_RATE = 0.05
_DEFAULT_CLIP_NORM = 5.0
_LARGE = 64 << 20  # parts of an embedding are not smaller

_CELL_TYPES = {
    "basic_rnn": tf.nn.rnn_cell.BasicRNNCell,
    "lstm": tf.nn.rnn_cell.BasicLSTMCell,
    "gru": tf.nn.rnn_cell.GRUCell,
}

USE_DEFAULT = object()  # no argument was given


def _single_rnn_cell(num_units: int, cell_type: Any) -> Any:
    cell_type = _CELL_TYPES.get(cell_type, cell_type)
    if not cell_type or not issubclass(cell_type, tf.nn.rnn_cell.RNNCell):
        raise ValueError(f"Supported cell types are {list(_CELL_TYPES)}; got {cell_type}")
    return cell_type(num_units=num_units)


def _make_rnn_cell_fn(num_units: Any, cell_type: Any = "basic_rnn") -> Callable[[Any], Any]:
    """A function of the mode that makes a cell for each number of units, one upon the other."""

    def rnn_cell_fn(mode: Any) -> Any:
        cells = [_single_rnn_cell(each, cell_type) for each in num_units]
        return cells[0] if len(cells) == 1 else tf.nn.rnn_cell.MultiRNNCell(cells)

    return rnn_cell_fn


def _assert_rnn_cell_fn(rnn_cell_fn: Any, num_units: Any, cell_type: Any) -> Callable[[Any], Any]:
    if rnn_cell_fn and (num_units or cell_type != USE_DEFAULT):
        raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
    if rnn_cell_fn:
        made: Callable[[Any], Any] = rnn_cell_fn
        return made
    return _make_rnn_cell_fn(num_units, "basic_rnn" if cell_type == USE_DEFAULT else cell_type)


def _concatenate_context_input(sequence_input: Any, context_input: Any) -> Any:
    return concatenate_context_input(context_input, sequence_input)


def _select_last_activations(activations: Any, sequence_lengths: Any) -> Any:
    if sequence_lengths is not None:
        sequence_lengths = tf.cast(sequence_lengths, tf.int32)
    return select_last_activations(activations, sequence_lengths)


def _rnn_logit_fn_builder(
    output_units: int,
    rnn_cell_fn: Callable[[Any], Any],
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    input_layer_partitioner: Any,
    return_sequences: bool = False,
) -> Callable[..., Any]:
    """A function of features and mode that gives logits, and which steps are real."""
    if not isinstance(output_units, int):
        raise ValueError(f"output_units must be an int.  Given type: {type(output_units)}")

    def rnn_logit_fn(features: Any, mode: Any) -> tuple[Any, Any]:
        with tf.variable_scope(
            "sequence_input_layer",
            values=tuple(features.values()),
            partitioner=input_layer_partitioner,
        ):
            steps, length = sequence_input_layer(
                features=features, feature_columns=sequence_feature_columns
            )
            tf.summary.histogram("sequence_length", length)
            if context_feature_columns:
                context = tf.feature_column.input_layer(
                    features=features, feature_columns=context_feature_columns
                )
                steps = _concatenate_context_input(steps, context)
        outputs, _ = tf.nn.dynamic_rnn(
            cell=rnn_cell_fn(mode),
            inputs=steps,
            sequence_length=length,
            dtype=tf.float32,
            time_major=False,
        )
        if not return_sequences:
            outputs = _select_last_activations(outputs, length)
        with tf.variable_scope("logits", values=(outputs,)):
            logits = tf.layers.dense(
                outputs,
                units=output_units,
                activation=None,
                kernel_initializer=tf.glorot_uniform_initializer(),
            )
        return logits, tf.sequence_mask(length)

    return rnn_logit_fn


def _rnn_model_fn(
    features: Any,
    labels: Any,
    mode: Any,
    head: Any,
    rnn_cell_fn: Callable[[Any], Any],
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    return_sequences: bool = False,
    optimizer: Any = "Adagrad",
    input_layer_partitioner: Any = None,
    config: Any = None,
) -> Any:
    """The EstimatorSpec of a head on a recurrent network."""
    check_features(features)
    if not isinstance(optimizer, tf.train.Optimizer):
        optimizer = clip_gradients_by_norm(
            get_optimizer_instance(optimizer, learning_rate=_DEFAULT_LEARNING_RATE),
            _DEFAULT_CLIP_NORM,
        )
    servers = config.num_ps_replicas if config else 0
    with tf.variable_scope(
        "rnn",
        values=tuple(features.values()),
        partitioner=tf.min_max_variable_partitioner(max_partitions=servers),
    ):
        logit_fn = _rnn_logit_fn_builder(
            output_units=head.logits_dimension,
            rnn_cell_fn=rnn_cell_fn,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            input_layer_partitioner=input_layer_partitioner
            or tf.min_max_variable_partitioner(max_partitions=servers, min_slice_size=_LARGE),
            return_sequences=return_sequences,
        )
        logits, real_steps = logit_fn(features=features, mode=mode)
        if return_sequences and head.input_sequence_mask_key not in features:
            features[head.input_sequence_mask_key] = real_steps
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=lambda loss: optimizer.minimize(
                loss, global_step=tf.train.get_global_step()
            ),
            logits=logits,
        )


class _Recurrent(Estimator):
    """An Estimator on a recurrent network, whose head is known."""

    def __init__(self, head: Any, settings: dict[str, Any], model_dir: Any, config: Any):
        for key in ("sequence_feature_columns", "context_feature_columns"):
            settings[key] = tuple(settings[key] or ())

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return _rnn_model_fn(features, labels, mode, head, config=config, **settings)

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)


class RNNClassifier(_Recurrent):
    """A recurrent network that predicts classes.

    Args:
      sequence_feature_columns: what the network sees step by step.
      context_feature_columns: dense columns that it sees with each step.
      num_units: the sizes of its layers.
      cell_type: "basic_rnn", "lstm" or "gru", or a class of cells.
      rnn_cell_fn: makes the cell of the mode, in place of the two.
      model_dir: the directory of checkpoints and event files.
      n_classes: how many classes there are.
      weight_column: the feature that gives examples their weights: its name, or its column.
      label_vocabulary: the names of the classes, if labels are strings.
      optimizer: an optimizer, or the name of one that clips gradients.
      loss_reduction: a `tf.losses.Reduction` that gives a scalar.
      input_layer_partitioner: how variables of the columns are divided.
      config: a `RunConfig`.
    """

    def __init__(
        self,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_units: Any = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Any = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        loss_reduction: Any = tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Any = None,
        config: Any = None,
    ):
        settings = {
            "rnn_cell_fn": _assert_rnn_cell_fn(rnn_cell_fn, num_units, cell_type),
            "sequence_feature_columns": sequence_feature_columns,
            "context_feature_columns": context_feature_columns,
            "optimizer": optimizer,
            "input_layer_partitioner": input_layer_partitioner,
        }
        head = binary_or_multi_class_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        super().__init__(head, settings, model_dir, config)


class RNNEstimator(_Recurrent):
    """A recurrent network with a head that is given; see `RNNClassifier`.

    Args:
      head: a head; one for steps, if there are to be predictions for each of them.
      return_sequences: whether there are predictions for each step.
    """

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_units: Any = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Any = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        input_layer_partitioner: Any = None,
        config: Any = None,
    ):
        settings = {
            "rnn_cell_fn": _assert_rnn_cell_fn(rnn_cell_fn, num_units, cell_type),
            "sequence_feature_columns": sequence_feature_columns,
            "context_feature_columns": context_feature_columns,
            "return_sequences": return_sequences,
            "optimizer": optimizer,
            "input_layer_partitioner": input_layer_partitioner,
        }
        if return_sequences and not isinstance(head, _SequentialHead):
            raise ValueError(
                "RNNEstimator: with return_sequences the head must be a `_SequentialHead` object, "
                f"got {head!r}."
            )
        super().__init__(head, settings, model_dir, config)
