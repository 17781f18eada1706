"""A head for each step of sequences, of which a mask tells the real steps."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

import penstock as tf
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.keras_heads.head import Head
from penstock.estimator.keras_heads.multi_head import MultiHead
from penstock.estimator.mode_keys import ModeKeys


class _SequentialHead(Head):
    """The end of a model of sequences."""

    @property
    @abc.abstractmethod
    def input_sequence_mask_key(self) -> str:
        """Which feature tells the steps that are no padding."""


class SequentialHeadWrapper(_SequentialHead):
    """Lets a head see each step of a batch of sequences as an example.

    Args:
      static_head: the head.
      sequence_length_mask: which feature, `[batch, length]`, tells the steps that are no padding.
      feature_columns: the features, one or several by name, that are given step by step, too.
    """

    def __init__(
        self,
        static_head: Any,
        sequence_length_mask: str = "sequence_length_mask",
        feature_columns: Any = None,
    ):
        if not isinstance(sequence_length_mask, str):
            raise TypeError(
                "`sequence_mask` column must be a string. "
                f"Given type: {type(sequence_length_mask)}."
            )
        feature_columns = feature_columns or []
        if not isinstance(feature_columns, Iterable):
            raise TypeError(
                "`feature_columns` must be either a string or an iterable of strings got "
                f"{type(feature_columns)} instead."
            )
        named = [feature_columns] if isinstance(feature_columns, str) else feature_columns
        for column in named:
            if not isinstance(column, str):
                raise TypeError(f"Column must a string. Given type: {type(column)}.")
        if isinstance(static_head, MultiHead):
            raise ValueError("`MultiHead` is not supported with `SequentialHeadWrapper`.")
        self._sequence_length_mask = sequence_length_mask
        self._feature_columns = named
        self._static_head = static_head

    @property
    def input_sequence_mask_key(self) -> str:
        return self._sequence_length_mask

    @property
    def logits_dimension(self) -> Any:
        return self._static_head.logits_dimension

    @property
    def loss_reduction(self) -> Any:
        return self._static_head.loss_reduction

    @property
    def name(self) -> str | None:
        name = self._static_head.name
        return f"{name}_sequential" if name else None

    @property
    def static_head(self) -> Any:
        """The head that sees steps as examples."""
        return self._static_head

    def loss(  # type: ignore[override] # logits come first, as in TensorFlow
        self,
        logits: Any,
        labels: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Any = None,
    ) -> Any:
        labels, logits, features = self._flatten(labels, logits, features)
        return self._static_head.loss(
            logits=logits,
            labels=labels,
            features=features,
            mode=mode,
            regularization_losses=regularization_losses,
        )

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Any]:
        found: dict[Any, Any] = self._static_head.predictions(logits, keys=keys)
        return found

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        found: dict[str, Any] = self._static_head.metrics(regularization_losses)
        return found

    def update_metrics(  # type: ignore[override] # as TensorFlow's: no mode
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        labels, logits, features = self._flatten(labels, logits, features)
        updated: dict[str, Any] = self._static_head.update_metrics(
            eval_metrics=eval_metrics,
            features=features,
            logits=logits,
            labels=labels,
            regularization_losses=regularization_losses,
        )
        return updated

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Any = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """The `EstimatorSpec` of a model with these logits; see `Head`."""
        key = self.input_sequence_mask_key
        if mode == ModeKeys.PREDICT:
            spec: EstimatorSpec = self._static_head.create_estimator_spec(
                features=features, mode=mode, logits=logits
            )
            spec.predictions[key] = features[key]
            return spec._replace(predictions=spec.predictions)
        labels, logits, features = self._flatten(labels, logits, features)
        spec = self._static_head.create_estimator_spec(
            features=features,
            mode=mode,
            logits=logits,
            labels=labels,
            optimizer=optimizer,
            trainable_variables=trainable_variables,
            train_op_fn=train_op_fn,
            update_ops=update_ops,
            regularization_losses=regularization_losses,
        )
        return spec

    def _flatten(self, labels: Any, logits: Any, features: Any) -> tuple[Any, Any, Any]:
        """Labels, logits and the features that are wanted, step by step, without padding."""
        key = self.input_sequence_mask_key
        if key not in features:
            raise ValueError(
                f"The provided sequence_length_mask key `{key}` should be included in the features "
                f"dictionary, but was not found. Found keys: {list(features)}."
            )
        mask = features[key]
        if mask.shape.ndims != 2:
            raise ValueError(
                f"Mask is expected to have two dimensions, got {mask.shape.ndims} instead."
            )
        with tf.name_scope("flatten"):
            steps = tf.reduce_sum(tf.cast(mask, tf.int32))
            flat_logits = _flatten_tensor(logits, mask, steps)
            flat_labels = _flatten_tensor(labels, mask, steps)
            flat_features = {}
            for column in self._feature_columns:
                if column not in features:
                    raise ValueError(f"`{column}` column expected in features dictionary.")
                flat_features[column] = _flatten_tensor(features[column], mask, steps)
        return flat_labels, flat_logits, flat_features


def _flatten_tensor(tensor: Any, sequence_mask: Any, expected_length: Any) -> Any:
    """The steps of sequences that are no padding, one after the other, in two dimensions or more.

    Args:
      tensor: `[batch, length, ...]`; a SparseTensor has the real steps alone.
      sequence_mask: `[batch, length]`, true for the real steps.
      expected_length: how many these are.
    """
    shape = tensor.get_shape()
    if shape.ndims < 2:
        raise ValueError(
            f"Input tensor expected to have at least 2 dimensions, got {shape.ndims} instead."
        )
    inner = shape.as_list()[2:]
    if isinstance(tensor, tf.SparseTensor):
        flat = tf.sparse_reorder(tensor).values
        if inner:
            flat = tf.reshape(tensor.values, [-1, *inner])
    elif isinstance(tensor, tf.Tensor):
        flat = tf.boolean_mask(tensor, sequence_mask)
    else:
        raise ValueError(
            f"`tensor` expected to be a `Tensor` or  `SparseTensor` got `{tensor}` instead."
        )
    if not inner:
        flat = tf.expand_dims(flat, -1)
    expected = tf.concat([[expected_length], inner or [1]], axis=0)
    check = tf.assert_equal(
        tf.shape(flat), expected, message="Tensor shape is incompatible with provided mask."
    )
    with tf.control_dependencies([check]):
        return tf.identity(flat)
