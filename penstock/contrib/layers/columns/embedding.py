"""Columns of vectors that a model learns for categories."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib.layers.columns.embedded import embeddings_from_arguments
from penstock.contrib.layers.columns.protocol import (
    _DeepEmbeddingLookupArguments,
    _FeatureColumn,
    _LinearEmbeddingLookupArguments,
    check_checkpoint,
    feature_config,
)
from penstock.contrib.layers.columns.sparse import _SparseColumn, _WeightedSparseColumn
from penstock.feature_column.columns import _DenseColumn

__all__ = ["embedding_column", "scattered_embedding_column", "shared_embedding_columns"]


class _EmbeddingColumn(
    _FeatureColumn,
    _DenseColumn,
    namedtuple(
        "_EmbeddingColumn",
        [
            "sparse_id_column",
            "dimension",
            "combiner",
            "initializer",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "shared_embedding_name",
            "shared_vocab_size",
            "max_norm",
            "trainable",
        ],
    ),
):
    """The combined vectors of an example's categories; see `embedding_column`."""

    def __new__(
        cls,
        sparse_id_column: Any,
        dimension: int,
        combiner: str = "mean",
        initializer: Any = None,
        ckpt_to_load_from: Any = None,
        tensor_name_in_ckpt: Any = None,
        shared_embedding_name: str | None = None,
        shared_vocab_size: int | None = None,
        max_norm: float | None = None,
        trainable: bool = True,
    ) -> Any:
        if initializer is not None and not callable(initializer):
            raise ValueError(
                "initializer must be callable if specified. "
                f"Embedding of column_name: {sparse_id_column.name}"
            )
        check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        if initializer is None:
            logging.warn(
                'The default stddev value of initializer was changed from "1/sqrt(vocab_size)" to '
                '"1/sqrt(dimension)" in core implementation (tf.feature_column.embedding_column).'
            )
            stddev = 1 / math.sqrt(sparse_id_column.length)
            initializer = tf.truncated_normal_initializer(mean=0.0, stddev=stddev)
        return super().__new__(
            cls,
            sparse_id_column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            shared_embedding_name,
            shared_vocab_size,
            max_norm,
            trainable,
        )

    @property
    def name(self) -> str:
        kind = "embedding" if self.shared_embedding_name is None else "shared_embedding"
        return f"{self.sparse_id_column.name}_{kind}"

    @property
    def length(self) -> int:
        """How many vectors there are."""
        if self.shared_vocab_size is None:
            return int(self.sparse_id_column.length)
        return int(self.shared_vocab_size)

    @property
    def config(self) -> dict[str, Any]:
        return feature_config(self.sparse_id_column)

    @property
    def key(self) -> str:
        return self._key_without_properties(["initializer"])

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.sparse_id_column)

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> _DeepEmbeddingLookupArguments:
        return _DeepEmbeddingLookupArguments(
            input_tensor=self.sparse_id_column.id_tensor(input_tensor),
            weight_tensor=self.sparse_id_column.weight_tensor(input_tensor),
            vocab_size=self.length,
            initializer=self.initializer,
            combiner=self.combiner,
            dimension=self.dimension,
            shared_embedding_name=self.shared_embedding_name,
            hash_key=None,
            max_norm=self.max_norm,
            trainable=self.trainable,
        )

    def _checkpoint_path(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def _wide_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _LinearEmbeddingLookupArguments:
        raise ValueError(
            f"Column {self} is not supported in linear models. Please use sparse_column."
        )

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([self.dimension])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        arguments = self._deep_embedding_lookup_arguments(inputs.get(self))
        return embeddings_from_arguments(self, arguments, weight_collections, trainable)


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: Any = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """A vector for each category of a sparse column, which the model learns.

    Args:
      combiner: how the vectors of an example's categories are combined: "sum", "mean", "sqrtn".
      initializer: a truncated normal one by default, of the deviation 1 / sqrt(categories).
      ckpt_to_load_from: a checkpoint to read the vectors from, where they are called
      tensor_name_in_ckpt: so.
      max_norm: longer vectors are shortened to this.
    """
    return _EmbeddingColumn(
        sparse_id_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm=max_norm,
        trainable=trainable,
    )


def shared_embedding_columns(
    sparse_id_columns: Any,
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: Any = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """Columns of vectors for sparse columns whose ids mean the same; see `embedding_column`.

    Args:
      shared_embedding_name: the name of the variable; by default of the columns' names.
    """
    if isinstance(sparse_id_columns, str) or not isinstance(sparse_id_columns, Sequence):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type "
            f"{type(sparse_id_columns)}."
        )
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in sparse_id_columns:
        if not isinstance(column, _SparseColumn | _WeightedSparseColumn):
            raise TypeError(
                "Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but "
                f"{column} is not."
            )
    vocab_size = None
    if len(sparse_id_columns) > 1:
        if not _are_compatible(sparse_id_columns):
            raise ValueError("The input sparse id columns are not compatible.")
        shared_embedding_name = shared_embedding_name or _shared_name(sparse_id_columns)
        vocab_size = sparse_id_columns[0].length
    columns = [
        _EmbeddingColumn(
            column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            shared_embedding_name,
            vocab_size,
            max_norm,
            trainable,
        )
        for column in sparse_id_columns
    ]
    return columns if vocab_size is None else tuple(columns)


def _are_compatible(columns: Sequence[Any]) -> bool:
    first = columns[0]
    if isinstance(first, _WeightedSparseColumn):
        return all(first.is_compatible(column) for column in columns[1:])
    return all(column.is_compatible(first) for column in columns[1:])


def _shared_name(columns: Sequence[Any]) -> str:
    """A name that does not depend on the order of columns."""
    plain = sorted((column for column in columns if isinstance(column, _SparseColumn)), key=str)
    weighted = [column for column in columns if isinstance(column, _WeightedSparseColumn)]
    names = [column.name for column in plain]
    names += sorted(column.name for column in weighted)
    others = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
    return "_".join(names[:3]) + others + "_shared_embedding"


class _ScatteredEmbeddingColumn(
    _FeatureColumn,
    _DenseColumn,
    namedtuple(
        "_ScatteredEmbeddingColumn",
        ["column_name", "size", "dimension", "hash_key", "combiner", "initializer"],
    ),
):
    """Vectors whose numbers are picked by a hash; see `scattered_embedding_column`."""

    def __new__(
        cls,
        column_name: str,
        size: int,
        dimension: int,
        hash_key: int,
        combiner: str = "sqrtn",
        initializer: Any = None,
    ) -> Any:
        if initializer is not None and not callable(initializer):
            raise ValueError(
                f"initializer must be callable if specified. column_name: {column_name}"
            )
        if initializer is None:
            initializer = tf.truncated_normal_initializer(mean=0.0, stddev=0.1)
        return super().__new__(cls, column_name, size, dimension, hash_key, combiner, initializer)

    @property
    def name(self) -> str:
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: tf.VarLenFeature(tf.string)}

    @property
    def key(self) -> str:
        return self._key_without_properties(["initializer"])

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.column_name)

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> _DeepEmbeddingLookupArguments:
        return _DeepEmbeddingLookupArguments(
            input_tensor=input_tensor,
            weight_tensor=None,
            vocab_size=self.size,
            initializer=self.initializer,
            combiner=self.combiner,
            dimension=self.dimension,
            shared_embedding_name=None,
            hash_key=self.hash_key,
            max_norm=None,
            trainable=True,
        )

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([self.dimension])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        arguments = self._deep_embedding_lookup_arguments(inputs.get(self))
        return embeddings_from_arguments(self, arguments, weight_collections, trainable)


def scattered_embedding_column(
    column_name: str,
    size: int,
    dimension: int,
    hash_key: int,
    combiner: str = "mean",
    initializer: Any = None,
) -> Any:
    """A vector for each category of a feature, whose numbers are picked by a hash out of `size`.

    Args:
      hash_key: the start of the hash.
      combiner: how the vectors of an example's categories are combined: "sum", "mean", "sqrtn".
      initializer: a truncated normal one by default, of the deviation 0.1.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            "Dimension and size must be greater than 0. "
            f"dimension: {dimension}, size: {size}, column_name: {column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            "Combiner must be one of 'mean', 'sqrtn' or 'sum'. "
            f"combiner: {combiner}, column_name: {column_name}"
        )
    return _ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)
