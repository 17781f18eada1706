"""Columns of categories: any number of ids for each example, with weights or without."""

from __future__ import annotations

import abc
from collections import namedtuple
from collections.abc import Iterable
from typing import Any, NamedTuple

import penstock as tf
from penstock import logging
from penstock.contrib import lookup
from penstock.contrib.layers.columns.protocol import (
    _FeatureColumn,
    _LinearEmbeddingLookupArguments,
    feature_config,
    ids_of_linear_model,
)
from penstock.contrib.layers.columns.ranks import reshape_real_valued
from penstock.contrib.layers.sparse_ids import dense_to_sparse_tensor
from penstock.feature_column.columns import _CategoricalColumn
from penstock.ir.composite import SparseTensor

__all__ = [
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "weighted_sparse_column",
]


class _SparseIdLookupConfig(NamedTuple):
    """Which category has which id."""

    vocabulary_file: Any = None
    keys: Any = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


class _SparseColumn(
    _FeatureColumn,
    _CategoricalColumn,
    namedtuple(
        "_SparseColumn",
        ["column_name", "is_integerized", "bucket_size", "lookup_config", "combiner", "dtype"],
    ),
):
    """Categories of one feature, with a number of buckets or a vocabulary."""

    def __new__(
        cls,
        column_name: str,
        is_integerized: bool = False,
        bucket_size: int | None = None,
        lookup_config: Any = None,
        combiner: str = "sum",
        dtype: Any = tf.string,
    ) -> Any:
        dtype = tf.as_dtype(dtype)
        _check_types(column_name, is_integerized, bucket_size, dtype)
        _check_size(column_name, bucket_size, lookup_config)
        return super().__new__(
            cls, column_name, is_integerized, bucket_size, lookup_config, combiner, dtype
        )

    @property
    def name(self) -> str:
        return str(self.column_name)

    @property
    def length(self) -> int:
        """How many ids there are."""
        if self.bucket_size is not None:
            return int(self.bucket_size)
        return int(self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets)

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: tf.VarLenFeature(self.dtype)}

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids among the column's tensors."""
        return input_tensor

    def weight_tensor(self, input_tensor: Any) -> Any:
        """The weights among the column's tensors: there are none."""
        return None

    @abc.abstractmethod
    def _do_transform(self, input_tensor: Any) -> Any:
        """The ids of a sparse feature."""

    def _transform_feature(self, inputs: Any) -> Any:
        return self._do_transform(self._get_input_sparse_tensor(inputs.get(self.name)))

    def _get_input_sparse_tensor(self, input_tensor: Any) -> Any:
        if isinstance(input_tensor, SparseTensor):
            return input_tensor
        nothing = "" if input_tensor.dtype == tf.string else -1  # 0 is a category
        matrix = reshape_real_valued(input_tensor, 2, self.name)
        return dense_to_sparse_tensor(matrix, ignore_value=nothing)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        raise ValueError(
            "SparseColumn is not supported in DNN. Please use embedding_column or one_hot_column. "
            f"column: {self}"
        )

    def _wide_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _LinearEmbeddingLookupArguments:
        return ids_of_linear_model(input_tensor, self.length, self.combiner)

    def is_compatible(self, other_column: Any) -> bool:
        """Whether the ids of two columns can mean the same, for an embedding that they share."""
        if self.lookup_config and other_column.lookup_config:
            return bool(self.lookup_config == other_column.lookup_config)
        same_type = self.dtype == other_column.dtype or (
            self.dtype.is_integer and other_column.dtype.is_integer
        )
        compatible = bool(self.length == other_column.length and same_type)
        if compatible:
            logging.warn(
                f"Column {self.name} and {other_column.name} may not have the same vocabulary."
            )
        return compatible

    @property
    def _num_buckets(self) -> int:
        return self.length

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self.IdWeightPair(inputs.get(self), None)


def _check_types(name: str, is_integerized: bool, bucket_size: int | None, dtype: Any) -> None:
    if is_integerized and bucket_size is None:
        raise ValueError(f"bucket_size must be set if is_integerized is True. column_name: {name}")
    if is_integerized and not dtype.is_integer:
        raise ValueError(
            "dtype must be an integer if is_integerized is True. "
            f"dtype: {dtype}, column_name: {name}."
        )
    if dtype != tf.string and not dtype.is_integer:
        raise ValueError(f"dtype must be string or integer. dtype: {dtype}, column_name: {name}")


def _check_size(name: str, bucket_size: int | None, lookup_config: Any) -> None:
    if bucket_size is None and lookup_config is None:
        raise ValueError(f"one of bucket_size or lookup_config must be set. column_name: {name}")
    if bucket_size is not None and lookup_config:
        raise ValueError(
            f"one and only one of bucket_size or lookup_config must be set. column_name: {name}"
        )
    if bucket_size is not None and bucket_size < 1:
        raise ValueError(
            f"bucket_size must be at least 1. bucket_size: {bucket_size}, column_name: {name}"
        )
    if lookup_config and not isinstance(lookup_config, _SparseIdLookupConfig):
        raise TypeError(
            "lookup_config must be an instance of _SparseIdLookupConfig. Given one is in type "
            f"{type(lookup_config)} for column_name {name}"
        )
    if lookup_config and lookup_config.vocabulary_file and lookup_config.vocab_size is None:
        raise ValueError(f"vocab_size must be defined. column_name: {name}")


def _with_values(sparse: Any, values: Any) -> Any:
    return tf.SparseTensor(sparse.indices, values, sparse.dense_shape)


class _SparseColumnIntegerized(_SparseColumn):
    """Categories that are numbers, which are ids as they are."""

    def _do_transform(self, input_tensor: Any) -> Any:
        ids = tf.mod(input_tensor.values, self.bucket_size, name="mod")
        return _with_values(input_tensor, ids)


class _SparseColumnHashed(_SparseColumn):
    """Categories whose ids are hashes."""

    hash_keys: list[list[int]] | None

    def __new__(
        cls,
        column_name: str,
        is_integerized: bool = False,
        bucket_size: int | None = None,
        lookup_config: Any = None,
        combiner: str = "sum",
        dtype: Any = tf.string,
        hash_keys: Any = None,
    ) -> Any:
        if hash_keys is not None:
            _check_hash_keys(hash_keys)
        column = super().__new__(
            cls, column_name, is_integerized, bucket_size, lookup_config, combiner, dtype
        )
        column.hash_keys = hash_keys
        return column

    def _do_transform(self, input_tensor: Any) -> Any:
        values = input_tensor.values
        if self.dtype.is_integer:
            values = tf.as_string(values)
        if not self.hash_keys:
            ids = tf.string_to_hash_bucket_fast(values, self.bucket_size, name="lookup")
            return _with_values(input_tensor, ids)
        of_keys = [
            _with_values(input_tensor, tf.string_to_hash_bucket_strong(values, self.length, key))
            for key in self.hash_keys
        ]
        return tf.sparse_concat(axis=1, sp_inputs=of_keys, name="lookup")


def _check_hash_keys(hash_keys: Any) -> None:
    if not isinstance(hash_keys, list) or not hash_keys:
        raise ValueError("hash_keys must be a non-empty list.")
    for pair in hash_keys:
        is_pair = isinstance(pair, list) and len(pair) == 2
        if not is_pair or not all(isinstance(key, int) for key in pair):
            raise ValueError("Each element of hash_keys must be a pair of integers.")


class _SparseColumnKeys(_SparseColumn):
    """Categories that are given."""

    def _do_transform(self, input_tensor: Any) -> Any:
        table = lookup.index_table_from_tensor(
            mapping=tuple(self.lookup_config.keys),
            default_value=self.lookup_config.default_value,
            dtype=self.dtype,
            name="lookup",
        )
        return table.lookup(input_tensor)


class _SparseColumnVocabulary(_SparseColumn):
    """Categories that are the lines of a file."""

    def _do_transform(self, input_tensor: Any) -> Any:
        if self.dtype.is_integer:
            input_tensor = _with_values(input_tensor, tf.as_string(input_tensor.values))
        table = lookup.index_table_from_file(
            vocabulary_file=self.lookup_config.vocabulary_file,
            num_oov_buckets=self.lookup_config.num_oov_buckets,
            vocab_size=self.lookup_config.vocab_size,
            default_value=self.lookup_config.default_value,
            name=self.name + "_lookup",
        )
        return table.lookup(input_tensor)


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = tf.int64
) -> Any:
    """Categories that are numbers below `bucket_size`.

    Args:
      combiner: how the weights of an example's categories are combined: "sum", "mean", "sqrtn".
    """
    return _SparseColumnIntegerized(column_name, True, bucket_size, None, combiner, dtype)


def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: Any = tf.string,
    hash_keys: Any = None,
) -> Any:
    """Categories whose ids are hashes below `hash_bucket_size`.

    Args:
      combiner: how the weights of an example's categories are combined: "sum", "mean", "sqrtn".
      hash_keys: pairs of integers: each makes another hash, and another id, of a category.
    """
    return _SparseColumnHashed(
        column_name, False, hash_bucket_size, None, combiner, dtype, hash_keys
    )


def sparse_column_with_keys(
    column_name: str,
    keys: Iterable[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> Any:
    """Categories that are given, whose ids are their positions.

    Args:
      default_value: the id of other categories; they are left out if it is negative.
      combiner: how the weights of an example's categories are combined: "sum", "mean", "sqrtn".
    """
    keys = tuple(keys)
    config = _SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value)
    return _SparseColumnKeys(column_name, False, None, config, combiner, dtype)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: Any,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> Any:
    """Categories that are the lines of a file, whose ids are the lines' numbers.

    Args:
      num_oov_buckets: how many ids there are for other categories, by their hash.
      vocab_size: how many lines of the file count.
      default_value: the id of other categories, if there are no buckets for them.
      combiner: how the weights of an example's categories are combined: "sum", "mean", "sqrtn".
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    config = _SparseIdLookupConfig(
        vocabulary_file, None, num_oov_buckets, vocab_size, default_value
    )
    return _SparseColumnVocabulary(column_name, False, None, config, combiner, dtype)


class _WeightedSparseColumn(
    _FeatureColumn,
    _CategoricalColumn,
    namedtuple("_WeightedSparseColumn", ["sparse_id_column", "weight_column_name", "dtype"]),
):
    """Categories with the weights that another feature gives them."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self) -> int:
        """How many ids there are."""
        return int(self.sparse_id_column.length)

    @property
    def config(self) -> dict[str, Any]:
        ids = feature_config(self.sparse_id_column)
        return {**ids, self.weight_column_name: tf.VarLenFeature(self.dtype)}

    @property
    def lookup_config(self) -> Any:
        """Which category has which id."""
        return self.sparse_id_column.lookup_config

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids among the column's tensors."""
        return input_tensor[0]

    def weight_tensor(self, input_tensor: Any) -> Any:
        """The weights among the column's tensors."""
        return input_tensor[1]

    def _transform_feature(self, inputs: Any) -> Any:
        ids, weights = inputs.get(self.sparse_id_column), inputs.get(self.weight_column_name)
        if not isinstance(weights, SparseTensor):
            weights = dense_to_sparse_tensor(weights)
        if not self.dtype.is_floating:
            weights = tf.cast(weights, tf.float32)
        return ids, weights

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        raise ValueError(
            "WeightedSparseColumn is not supported in DNN. Please use embedding_column or "
            f"one_hot_column. column: {self}"
        )

    def _wide_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _LinearEmbeddingLookupArguments:
        ids, weights = input_tensor
        return ids_of_linear_model(ids, self.length, self.sparse_id_column.combiner, weights)

    def is_compatible(self, other_column: Any) -> bool:
        """Whether the ids of two columns can mean the same; see `_SparseColumn`."""
        if isinstance(other_column, _WeightedSparseColumn):
            other_column = other_column.sparse_id_column
        return bool(self.sparse_id_column.is_compatible(other_column))

    @property
    def _num_buckets(self) -> int:
        return self.length

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self.IdWeightPair(*inputs.get(self))


def weighted_sparse_column(
    sparse_id_column: Any, weight_column_name: str, dtype: Any = tf.float32
) -> Any:
    """The categories of a column, with weights from the feature `weight_column_name`."""
    dtype = tf.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)
