"""Layers that are made of feature columns: `DenseFeatures` and `SequenceFeatures`."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import penstock as tf
from penstock.feature_column.columns import (
    DenseColumn,
    SequenceDenseColumn,
    StateManager,
    by_name,
    check_batch_sizes,
    normalized,
)
from penstock.feature_column.serialization import (
    deserialize_feature_columns,
    serialize_feature_columns,
)
from penstock.feature_column.transformation import FeatureTransformationCache
from penstock.layers.core_layer import CoreLayer


class LayerState(StateManager):
    """The state of columns as weights of the layer that is made of them.

    Args:
      layer: the layer.
      trainable: whether its weights are trained.
      getter: makes the variables.
    """

    def __init__(self, layer: Any, trainable: bool, getter: Any = tf.get_variable):
        self._layer = layer
        self._trainable = trainable
        self._getter = getter
        self._variables: dict[Any, dict[str, Any]] = defaultdict(dict)
        self._resources: dict[Any, dict[str, Any]] = defaultdict(dict)

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        if name in self._variables[feature_column]:
            raise ValueError("Variable already exists.")
        made = self._layer.add_weight(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
            use_resource=use_resource,
            getter=self._getter,
        )
        self._variables[feature_column][name] = made
        return made

    def get_variable(self, feature_column: Any, name: str) -> Any:
        if name not in self._variables[feature_column]:
            raise ValueError("Variable does not exist.")
        return self._variables[feature_column][name]

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        self._resources[feature_column][name] = resource
        # The layer owns it, so that a SavedModel has the table that its functions use.
        if self._layer is not None:
            if not hasattr(self._layer, "_resources"):
                self._layer._resources = []
            self._layer._resources.append(resource)

    def get_resource(self, feature_column: Any, name: str) -> Any:
        if name not in self._resources[feature_column]:
            raise ValueError("Resource does not exist.")
        return self._resources[feature_column][name]


def scope_of(name: str) -> Any:
    """A variable scope that leaves the names of operations alone."""
    return tf.variable_scope(name, auxiliary_name_scope=False)


def check_features(features: Any) -> None:
    """ValueError unless features are a dictionary."""
    if not isinstance(features, dict):
        raise ValueError("We expected a dictionary here. Instead we got: ", features)


class _FeaturesLayer(CoreLayer):
    """One tensor of all columns, side by side in the order of their names."""

    def __init__(
        self,
        feature_columns: Any,
        expected_column_type: type,
        trainable: bool,
        name: str | None,
        **kwargs: Any,
    ):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = by_name(normalized(feature_columns))
        self._state_manager = LayerState(self, self.trainable)
        for column in self._feature_columns:
            if not isinstance(column, expected_column_type):
                raise ValueError(
                    f"Items of feature_columns must be a {expected_column_type}. You can wrap a "
                    "categorical column with an embedding_column or indicator_column. "
                    f"Given: {column}"
                )

    def build(self, input_shape: Any) -> None:
        for column in self._feature_columns:
            with scope_of(self.name), scope_of(column.name):
                column.create_state(self._state_manager)
        super().build(None)

    def _target_shape(self, input_shape: Any, elements: int) -> tuple[Any, ...]:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> Any:
        elements = sum(column.variable_shape.num_elements() for column in self._feature_columns)
        return self._target_shape(input_shape, elements)

    def _process_dense_tensor(self, column: Any, tensor: Any) -> Any:
        elements = column.variable_shape.num_elements()
        return tf.reshape(tensor, shape=self._target_shape(tf.shape(tensor), elements))

    def _side_by_side(self, tensors: list[Any]) -> Any:
        check_batch_sizes(tensors, self._feature_columns)
        return tf.concat(tensors, -1)

    def get_config(self) -> dict[str, Any]:
        columns = serialize_feature_columns(self._feature_columns)
        return {**super().get_config(), "feature_columns": columns}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        columns = deserialize_feature_columns(config["feature_columns"], custom_objects)
        return cls(**{**config, "feature_columns": columns})


class DenseFeatures(_FeaturesLayer):
    """A layer that makes one dense tensor of features.

    Args:
      feature_columns: dense columns.
      trainable: whether its weights are trained.
    """

    _is_feature_layer = True

    def __init__(
        self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any
    ):
        super().__init__(feature_columns, DenseColumn, trainable, name, **kwargs)

    def _target_shape(self, input_shape: Any, elements: int) -> tuple[Any, ...]:
        return input_shape[0], elements

    def call(self, features: Any, cols_to_output_tensors: dict[Any, Any] | None = None) -> Any:
        """The tensor of the features; with a dictionary, also each column's part of it."""
        check_features(features)
        cache = FeatureTransformationCache(features)
        outputs = []
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                tensor = column.get_dense_tensor(cache, self._state_manager)
                outputs.append(self._process_dense_tensor(column, tensor))
        if cols_to_output_tensors is not None:
            cols_to_output_tensors.update(zip(self._feature_columns, outputs, strict=True))
        return self._side_by_side(outputs)


class SequenceFeatures(_FeaturesLayer):
    """A layer that makes one tensor of sequences, and their lengths.

    Args:
      feature_columns: dense columns of sequence columns, or sequences of numbers.
      trainable: whether its weights are trained.
    """

    _is_feature_layer = True

    def __init__(
        self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any
    ):
        super().__init__(feature_columns, SequenceDenseColumn, trainable, name, **kwargs)

    def _target_shape(self, input_shape: Any, elements: int) -> tuple[Any, ...]:
        return input_shape[0], input_shape[1], elements

    def call(self, features: Any) -> Any:
        """The tensor [batch, steps, elements] of the features, and the sequences' lengths."""
        check_features(features)
        cache = FeatureTransformationCache(features)
        outputs, lengths = [], []
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                dense, length = column.get_sequence_dense_tensor(cache, self._state_manager)
                outputs.append(self._process_dense_tensor(column, dense))
                lengths.append(length)
        check_batch_sizes(lengths, self._feature_columns)
        length = equal_lengths(lengths)
        return self._side_by_side(outputs), length


def equal_lengths(tensors: list[Any], name: str | None = None) -> Any:
    """The first of some tensors, once it is known that all are equal."""
    with tf.name_scope(name, "assert_all_equal", values=tensors):
        if len(tensors) == 1:
            return tensors[0]
        with tf.control_dependencies([tf.assert_equal(tensors[0], t) for t in tensors[1:]]):
            return tf.identity(tensors[0])


def concatenate_context_input(context_input: Any, sequence_input: Any) -> Any:
    """Each step of sequences with the context of its example beside it.

    Args:
      context_input: floats of the shape [batch, d1].
      sequence_input: floats of the shape [batch, steps, d0].
    """
    checks = []
    for tensor, rank, what in ((sequence_input, 3, "sequence"), (context_input, 2, "context")):
        checks.append(
            tf.assert_rank(
                tensor, rank, message=f"{what}_input must have rank {rank}", data=[tf.shape(tensor)]
            )
        )
        message = f"{what}_input must have dtype float32; got {tensor.dtype}."
        checks.append(tf.assert_type(tensor, tf.float32, message=message))
    with tf.control_dependencies(checks):
        steps = tf.shape(sequence_input)[1]
        context = tf.tile(tf.expand_dims(context_input, 1), tf.concat([[1], [steps], [1]], 0))
    return tf.concat([sequence_input, context], 2)
