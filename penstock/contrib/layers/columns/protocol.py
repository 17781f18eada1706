"""What a feature column of `tf.contrib.layers` is.

1. A column is an immutable tuple; equal columns are the same column.
2. Models take columns in the order of their `key`, a text of the class and its fields. The names
   of classes and fields are TensorFlow's therefore: they decide where a column's values go.
3. A column transforms its features once; the result is kept in the mapping of features to
   tensors, under the column itself.
4. In a network it is embedded (`_deep_embedding_lookup_arguments`), or else is dense already
   (`_to_dnn_input_layer`); in a linear model its ids have weights
   (`_wide_embedding_lookup_arguments`), or else it is a matrix (`_to_dense_tensor`).
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import penstock as tf


class _LinearEmbeddingLookupArguments(NamedTuple):
    """The ids of a column whose weights a linear model adds up."""

    input_tensor: Any
    weight_tensor: Any
    vocab_size: int
    initializer: Any
    combiner: str


class _DeepEmbeddingLookupArguments(NamedTuple):
    """The ids of a column whose embeddings a network takes in."""

    input_tensor: Any
    weight_tensor: Any
    vocab_size: int
    initializer: Any
    combiner: str
    dimension: int
    shared_embedding_name: str | None
    hash_key: int | None
    max_norm: float | None
    trainable: bool


class _FeatureColumn(abc.ABC):
    """How a model takes in one feature."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the scope of its variables."""

    @property
    @abc.abstractmethod
    def config(self) -> dict[str, Any]:
        """The features to parse out of an Example."""

    @property
    def key(self) -> str:
        """By which columns are ordered."""
        return str(self)

    @abc.abstractmethod
    def _transform_feature(self, inputs: Any) -> Any:
        """The tensors that the column makes of features: `inputs.get` gives those, and columns'."""

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds the column's tensors to those of features and columns."""
        columns_to_tensors[self] = self._transform_feature(TransformedColumns(columns_to_tensors))

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        raise ValueError("Calling an abstract method.")

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> _DeepEmbeddingLookupArguments:
        raise NotImplementedError(f"No deep embedding lookup arguments for column {self}.")

    def _wide_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _LinearEmbeddingLookupArguments:
        raise NotImplementedError(f"No wide embedding lookup arguments for column {self}.")

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        raise NotImplementedError(f"No dense tensor representation for column {self}.")

    def _checkpoint_path(self) -> tuple[str, str] | None:
        """Where the column's variable is to be read from: a checkpoint, and a name in it."""
        return None

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.config

    def _key_without_properties(self, properties: list[str]) -> str:
        """The key without some fields, such as functions, whose texts are addresses."""
        fields = [
            f"{name}={getattr(self, name)}"
            for name in self._fields  # type: ignore[attr-defined]
            if name not in properties
        ]
        return f"{type(self).__name__}({', '.join(fields)})"


class TransformedColumns:
    """The tensors of features and columns, where columns are transformed when asked for."""

    def __init__(self, columns_to_tensors: dict[Any, Any]):
        self._columns_to_tensors = columns_to_tensors

    def get(self, key: Any) -> Any:
        """The tensor of a feature, by its name, or of a column."""
        found = self._columns_to_tensors
        if key not in found:
            if isinstance(key, str):
                raise KeyError(key)
            if not isinstance(key, _FeatureColumn):
                raise TypeError(
                    f'"key" must be either a "str" or "_FeatureColumn". Provided: {key}'
                )
            key.insert_transformed_feature(found)
        return found[key]


def ids_of_linear_model(
    input_tensor: Any, vocab_size: int, combiner: str, weight_tensor: Any = None
) -> _LinearEmbeddingLookupArguments:
    """Arguments for weights that are zero at first, as linear models have them."""
    return _LinearEmbeddingLookupArguments(
        input_tensor, weight_tensor, vocab_size, tf.zeros_initializer(), combiner
    )


def feature_config(feature_column: Any) -> dict[str, Any]:
    """The features that a column parses out of an Example."""
    if not isinstance(feature_column, _FeatureColumn):
        raise TypeError(
            "feature_columns should only contain instances of _FeatureColumn. "
            f"Given column is {feature_column}"
        )
    return feature_column.config


def check_checkpoint(ckpt_to_load_from: Any, tensor_name_in_ckpt: Any) -> None:
    """ValueError if a checkpoint is given without the name of a tensor in it, or vice versa."""
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
