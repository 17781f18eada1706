"""Recurrent networks on sequences of features: `RNNEstimator` and `RNNClassifier`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import penstock as tf
from penstock.estimator.canned.optimizers import get_optimizer_instance_v2
from penstock.estimator.estimator import Estimator
from penstock.estimator.keras_heads import binary_or_multi_class_head
from penstock.estimator.keras_heads.sequential_head import SequentialHeadWrapper, _SequentialHead
from penstock.estimator.mode_keys import ModeKeys
from penstock.feature_column.feature_layers import SequenceFeatures, concatenate_context_input
from penstock.feature_column.scoped_features import DenseFeatures
from penstock.feature_column.serialization import (
    deserialize_feature_columns,
    serialize_feature_columns,
)
from penstock.platform import logging

_LEARNING_RATE = 0.05
_CLIP_NORM = 5.0

#: The names of cells, with the classes of cells and of layers in Keras.
_CELLS = {"simple_rnn": "SimpleRNNCell", "lstm": "LSTMCell", "gru": "GRUCell"}
_LAYERS = {"simple_rnn": "SimpleRNN", "lstm": "LSTM", "gru": "GRU"}

USE_DEFAULT = object()


def _single_rnn_cell(units: int, cell_type: Any) -> Any:
    if isinstance(cell_type, str) and cell_type in _CELLS:
        cell_type = getattr(tf.keras.layers, _CELLS[cell_type])
    if not callable(cell_type):
        raise ValueError(
            "`cell_type` should be a class producing a RNN cell, or a string specifying the cell "
            f"type. Supported strings are: {list(_CELLS)}."
        )
    cell = cell_type(units=units)
    if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
        raise ValueError("RNN cell should have a `call` and `state_size` method.")
    return cell


def _make_rnn_cell_fn(units: Any, cell_type: Any = "simple_rnn") -> Callable[[], Any]:
    """A function that makes a cell for each number of units."""

    def rnn_cell_fn() -> Any:
        cells = [_single_rnn_cell(each, cell_type) for each in units]
        return cells[0] if len(cells) == 1 else cells

    return rnn_cell_fn


def _verify_rnn_cell_input(rnn_cell_fn: Any, units: Any, cell_type: Any) -> None:
    if rnn_cell_fn and (units or cell_type != USE_DEFAULT):
        raise ValueError("units and cell_type must not be specified when using rnn_cell_fn")


def _make_rnn_layer(rnn_cell_fn: Any, units: Any, cell_type: Any, return_sequences: bool) -> Any:
    """Keras' layer for one size of a known cell, or one that is made of cells."""
    _verify_rnn_cell_input(rnn_cell_fn, units, cell_type)
    if isinstance(cell_type, str) and cell_type in _LAYERS and isinstance(units, int):
        return _layer_class(cell_type)(units=units, return_sequences=return_sequences)
    if not rnn_cell_fn:
        rnn_cell_fn = _make_rnn_cell_fn(
            units, "simple_rnn" if cell_type == USE_DEFAULT else cell_type
        )
    return tf.keras.layers.RNN(cell=rnn_cell_fn(), return_sequences=return_sequences)


def _layer_class(cell_type: str) -> Any:
    from penstock.keras.layers import recurrent_v2

    name = _LAYERS[cell_type]
    return getattr(recurrent_v2, name, None) or getattr(tf.keras.layers, name)


@cache
def model_class() -> type[Any]:
    """The class of models; Keras is imported when it is first asked for."""

    class RNNModel(tf.keras.Model):
        """A recurrent layer on feature columns, with a dense layer behind it.

        Args:
          rnn_layer: the recurrent layer.
          units: the size of the results.
          sequence_feature_columns: what the layer sees step by step.
          context_feature_columns: what it sees with each step.
          activation: of the results.
          return_sequences: whether there are results for each step.
        """

        def __init__(
            self,
            rnn_layer: Any,
            units: int,
            sequence_feature_columns: Any,
            context_feature_columns: Any = None,
            activation: Any = None,
            return_sequences: bool = False,
            **kwargs: Any,
        ):
            super().__init__(**kwargs)
            if not isinstance(units, int):
                raise ValueError(f"units must be an int.  Given type: {type(units)}")
            self._return_sequences = return_sequences
            self._sequence_feature_columns = sequence_feature_columns
            self._context_feature_columns = context_feature_columns
            self._sequence_features_layer = SequenceFeatures(sequence_feature_columns)
            self._dense_features_layer = None
            if context_feature_columns:
                self._dense_features_layer = DenseFeatures(context_feature_columns)
            self._rnn_layer = rnn_layer
            self._logits_layer = tf.keras.layers.Dense(
                units=units, activation=activation, name="logits"
            )

        def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
            if not isinstance(inputs, dict):
                raise ValueError(
                    f"inputs should be a dictionary of `Tensor`s. Given type: {type(inputs)}"
                )
            with tf.name_scope("sequence_input_layer"):
                steps, length = self._sequence_features_layer(inputs)
                tf.summary.histogram("sequence_length", length)
                if self._dense_features_layer is not None:
                    context = self._dense_features_layer(inputs)
                    steps = concatenate_context_input(context, sequence_input=steps)
            real_steps = tf.sequence_mask(length)
            outputs = self._rnn_layer(steps, mask=real_steps, training=training)
            logits = self._logits_layer(outputs)
            if self._return_sequences:
                logits._keras_mask = real_steps
            return logits

        def get_config(self) -> dict[str, Any]:
            context = self._context_feature_columns
            layer = self._rnn_layer
            return {
                "name": self.name,
                "rnn_layer": {"class_name": type(layer).__name__, "config": layer.get_config()},
                "units": self._logits_layer.units,
                "return_sequences": self._return_sequences,
                "activation": tf.keras.activations.serialize(self._logits_layer.activation),
                "sequence_feature_columns": serialize_feature_columns(
                    self._sequence_feature_columns
                ),
                "context_feature_columns": serialize_feature_columns(context) if context else None,
            }

        @classmethod
        def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
            config = dict(config)
            layer = tf.keras.layers.deserialize(config.pop("rnn_layer"), custom_objects)
            columns: dict[str, Any] = {}
            for key in ("sequence_feature_columns", "context_feature_columns"):
                described = config.pop(key, None)
                columns[key] = described and deserialize_feature_columns(described, custom_objects)
            activation = tf.keras.activations.deserialize(
                config.pop("activation", None), custom_objects
            )
            return cls(rnn_layer=layer, activation=activation, **columns, **config)

    return RNNModel


def __getattr__(name: str) -> Any:
    if name == "RNNModel":
        return model_class()
    raise AttributeError(name)


def _get_rnn_estimator_spec(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    rnn_model: Any,
    optimizer: Any,
    return_sequences: bool,
) -> Any:
    training = mode == ModeKeys.TRAIN
    if not training:
        optimizer = None
    elif isinstance(optimizer, str):
        optimizer = get_optimizer_instance_v2(optimizer, learning_rate=_LEARNING_RATE)
        optimizer.clipnorm = _CLIP_NORM
    else:
        optimizer = get_optimizer_instance_v2(optimizer)
    if optimizer is not None:
        optimizer.iterations = tf.train.get_or_create_global_step()
    logits = rnn_model(features, training)
    if return_sequences and head.input_sequence_mask_key not in features:
        features[head.input_sequence_mask_key] = logits._keras_mask
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        optimizer=optimizer,
        logits=logits,
        update_ops=rnn_model.updates,
        trainable_variables=rnn_model.trainable_variables,
    )


class RNNEstimator(Estimator):
    """A recurrent network with a head that is given.

    Args:
      head: a head of `tf.estimator`.
      sequence_feature_columns: what the network sees step by step.
      context_feature_columns: what it sees with each step.
      units: the size of a layer of a known cell, or a list of sizes.
      cell_type: "simple_rnn", "lstm" or "gru", or a class of cells.
      rnn_cell_fn: makes the cell, in place of the two.
      return_sequences: whether there are predictions for each step; then the head is one for steps.
      model_dir: the directory of checkpoints and event files.
      optimizer: a Keras optimizer, its name, or a function that makes it.
      config: a `RunConfig`.
    """

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        units: Any = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Any = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        config: Any = None,
    ):
        if return_sequences and not isinstance(head, _SequentialHead):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set "
                "to True."
            )
        _verify_rnn_cell_input(rnn_cell_fn, units, cell_type)

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            model = model_class()(
                rnn_layer=_make_rnn_layer(rnn_cell_fn, units, cell_type, return_sequences),
                units=head.logits_dimension,
                sequence_feature_columns=sequence_feature_columns,
                context_feature_columns=context_feature_columns,
                return_sequences=return_sequences,
                name="rnn_model",
            )
            return _get_rnn_estimator_spec(
                features, labels, mode, head, model, optimizer, return_sequences
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)


class RNNClassifier(RNNEstimator):
    """A recurrent network that predicts classes; see `RNNEstimator`.

    Args:
      n_classes: how many classes there are.
      weight_column: the feature that gives examples their weights: its name, or its column.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: a `tf.keras.losses.Reduction` that gives a scalar.
      sequence_mask: the feature that tells real steps, where there are predictions for each.
    """

    def __init__(
        self,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        units: Any = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Any = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        loss_reduction: Any = "sum_over_batch_size",
        sequence_mask: str = "sequence_mask",
        config: Any = None,
    ):
        head: Any = binary_or_multi_class_head(
            n_classes, weight_column, label_vocabulary, loss_reduction
        )
        if return_sequences:
            logging.info(
                "Converting head to sequential head with `SequentialHeadWrapper` to allow "
                "sequential predictions."
            )
            head = SequentialHeadWrapper(
                head, sequence_length_mask=sequence_mask, feature_columns=weight_column
            )
        super().__init__(
            head,
            sequence_feature_columns,
            context_feature_columns,
            units,
            cell_type,
            rnn_cell_fn,
            return_sequences,
            model_dir,
            optimizer,
            config,
        )
