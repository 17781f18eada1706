"""Categories as features: strings or whole numbers, by hash, by vocabulary, or as they are."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import penstock as tf
from penstock.feature_column import argument_checks
from penstock.feature_column.columns import (
    BothCategorical,
    number_of_buckets,
    parse_spec_of,
)
from penstock.feature_column.transformation import to_sparse
from penstock.lookup.vocabularies import index_table_from_file, index_table_from_tensor
from penstock.ops.select import SelectV2
from penstock.ops.sparse_tensors import convert_to_tensor_or_sparse_tensor
from penstock.platform import gfile, logging


class KeyedCategorical(BothCategorical):
    """A categorical column of one feature, whose elements become ids one by one."""

    key: str
    dtype: Any

    @property
    def name(self) -> str:
        return self.key

    @property
    def parents(self) -> list[Any]:
        return [self.key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: tf.VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        tensor = to_sparse(transformation_cache.get(self.key, state_manager))
        return self._ids(tensor, state_manager)

    def _ids(self, tensor: Any, state_manager: Any) -> Any:
        raise NotImplementedError

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self.IdWeightPair(transformation_cache.get(self, state_manager), None)

    def _check_type(self, tensor: Any) -> None:
        if self.dtype.is_integer != tensor.dtype.is_integer:
            raise ValueError(
                "Column dtype and SparseTensors dtype must be compatible. "
                f"key: {self.key}, column dtype: {self.dtype}, tensor dtype: {tensor.dtype}"
            )
        argument_checks.assert_string_or_int(
            tensor.dtype, prefix=f"column_name: {self.key} input_tensor"
        )


class HashedCategoricalColumn(
    KeyedCategorical, namedtuple("HashedCategoricalColumn", ("key", "hash_bucket_size", "dtype"))
):
    """Categories by their hash; see `categorical_column_with_hash_bucket`."""

    @property
    def num_buckets(self) -> int:
        return int(self.hash_bucket_size)

    def _ids(self, tensor: Any, state_manager: Any) -> Any:
        argument_checks.assert_string_or_int(
            tensor.dtype, prefix=f"column_name: {self.key} input_tensor"
        )
        self._check_type(tensor)
        values = tensor.values if self.dtype == tf.string else tf.as_string(tensor.values)
        ids = tf.string_to_hash_bucket_fast(values, self.hash_bucket_size, name="lookup")
        return tf.SparseTensor(tensor.indices, ids, tensor.dense_shape)


class _VocabularyCategorical(KeyedCategorical):
    """A categorical column that looks its elements up in a table."""

    def _ids(self, tensor: Any, state_manager: Any) -> Any:
        self._check_type(tensor)
        key_dtype = self.dtype
        if tensor.dtype.is_integer:
            key_dtype = tf.int64
            tensor = tf.cast(tensor, tf.int64)
        name = f"{self.key}_lookup"
        table = self._table(key_dtype, name)
        if state_manager is not None:
            state_manager.add_resource(self, name, table)
        return table.lookup(tensor)

    def _table(self, key_dtype: Any, name: str) -> Any:
        raise NotImplementedError


class VocabularyFileCategoricalColumn(
    _VocabularyCategorical,
    namedtuple(
        "VocabularyFileCategoricalColumn",
        ("key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value"),
    ),
):
    """Categories by their line in a file; see `categorical_column_with_vocabulary_file`."""

    @property
    def num_buckets(self) -> int:
        return int(self.vocabulary_size + self.num_oov_buckets)

    def _table(self, key_dtype: Any, name: str) -> Any:
        return index_table_from_file(
            vocabulary_file=self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
            key_dtype=key_dtype,
            name=name,
        )


class VocabularyListCategoricalColumn(
    _VocabularyCategorical,
    namedtuple(
        "VocabularyListCategoricalColumn",
        ("key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets"),
    ),
):
    """Categories by their place in a list; see `categorical_column_with_vocabulary_list`."""

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + int(self.num_oov_buckets)

    def _table(self, key_dtype: Any, name: str) -> Any:
        return index_table_from_tensor(
            vocabulary_list=tuple(self.vocabulary_list),
            default_value=self.default_value,
            num_oov_buckets=self.num_oov_buckets,
            dtype=key_dtype,
            name=name,
        )


class IdentityCategoricalColumn(
    KeyedCategorical,
    namedtuple("IdentityCategoricalColumn", ("key", "number_buckets", "default_value")),
):
    """Whole numbers that are ids already; see `categorical_column_with_identity`."""

    dtype = tf.int64

    @property
    def num_buckets(self) -> int:
        return int(self.number_buckets)

    def _ids(self, tensor: Any, state_manager: Any) -> Any:
        if not tensor.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {tensor.dtype}")
        values = tf.cast(tensor.values, tf.int64, name="values")
        limit = tf.cast(self.num_buckets, tf.int64, name="num_buckets")
        zero = tf.cast(0, tf.int64, name="zero")
        if self.default_value is None:
            values = self._asserted(values, zero, limit)
        else:
            outside = tf.logical_or(values < zero, values >= limit, name="out_of_range")
            default = tf.cast(self.default_value, tf.int64)
            defaults = tf.fill(dims=tf.shape(values), value=default, name="default_values")
            values = SelectV2(outside, defaults, values)
        return tf.SparseTensor(
            indices=tensor.indices, values=values, dense_shape=tensor.dense_shape
        )

    def _asserted(self, values: Any, zero: Any, limit: Any) -> Any:
        below = tf.assert_less(
            values,
            limit,
            data=(values, limit),
            message=f'Bucket index for categorical column "{self.name}" exceeds number of buckets',
            name="assert_less_than_num_buckets",
        )
        not_negative = tf.assert_greater_equal(
            values,
            zero,
            data=(values,),
            message=f'Negative bucket index for categorical column "{self.name}"',
            name="assert_greater_or_equal_0",
        )
        with tf.control_dependencies((below, not_negative)):
            return tf.identity(values)


class WeightedCategoricalColumn(
    BothCategorical,
    namedtuple("WeightedCategoricalColumn", ("categorical_column", "weight_feature_key", "dtype")),
):
    """Categories with weights; see `weighted_categorical_column`."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column, self.weight_feature_key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec = parse_spec_of(self.categorical_column)
        if self.weight_feature_key in spec:
            raise ValueError(
                f"Parse config {spec[self.weight_feature_key]} already exists for "
                f"{self.weight_feature_key}."
            )
        return {**spec, self.weight_feature_key: tf.VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        return number_of_buckets(self.categorical_column)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        given = transformation_cache.get(self.weight_feature_key, state_manager)
        weights = self._weights(given)
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def _weights(self, tensor: Any) -> Any:
        if tensor is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        tensor = convert_to_tensor_or_sparse_tensor(tensor)
        if self.dtype != tensor.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {tensor.dtype}.")
        tensor = to_sparse(tensor, ignore_value=0.0)
        return tensor if tensor.dtype.is_floating else tf.cast(tensor, tf.float32)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self.IdWeightPair(*transformation_cache.get(self, state_manager))


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = tf.string
) -> HashedCategoricalColumn:
    """Strings or whole numbers as categories, by their hash.

    Args:
      key: the name of the feature.
      hash_bucket_size: how many categories there are.
      dtype: the type of the feature.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    argument_checks.assert_key_is_string(key)
    argument_checks.assert_string_or_int(dtype, prefix=f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


def _check_out_of_vocabulary(key: str, num_oov_buckets: Any, has_default: bool) -> None:
    if num_oov_buckets and has_default:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets and num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int | None = 0,
    default_value: int | None = None,
    dtype: Any = tf.string,
) -> VocabularyFileCategoricalColumn:
    """Strings or whole numbers as categories, by their line in a file.

    Args:
      key: the name of the feature.
      vocabulary_file: a file with a category on each line.
      vocabulary_size: how many of its lines count; all if None.
      num_oov_buckets: how many further categories the hashes of others are spread over; or
      default_value: the id of others, -1 if None.
      dtype: the type of the feature.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        vocabulary_size = _counted_lines(key, vocabulary_file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_out_of_vocabulary(key, num_oov_buckets, default_value is not None)
    argument_checks.assert_string_or_int(dtype, prefix=f"column_name: {key}")
    argument_checks.assert_key_is_string(key)
    return VocabularyFileCategoricalColumn(
        key=key,
        vocabulary_file=vocabulary_file,
        vocabulary_size=vocabulary_size,
        num_oov_buckets=num_oov_buckets or 0,
        default_value=-1 if default_value is None else default_value,
        dtype=dtype,
    )


def _counted_lines(key: str, vocabulary_file: str) -> int:
    if not gfile.Exists(vocabulary_file):
        raise ValueError(f"vocabulary_file in {key} does not exist.")
    with gfile.GFile(vocabulary_file) as lines:
        count = sum(1 for _ in lines)
    logging.info("The vocabulary of %s has %d lines: %s.", key, count, vocabulary_file)
    return count


def categorical_column_with_vocabulary_file_v2(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    dtype: Any = tf.string,
    default_value: int | None = None,
    num_oov_buckets: int | None = 0,
) -> VocabularyFileCategoricalColumn:
    """`categorical_column_with_vocabulary_file` with TensorFlow 2's order of arguments."""
    return categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
    )


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Any,
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """Strings or whole numbers as categories, by their place in a list.

    Args:
      key: the name of the feature.
      vocabulary_list: the categories.
      dtype: the type of the feature; that of the list if None.
      default_value: the id of others; or
      num_oov_buckets: how many further categories the hashes of others are spread over.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    of_list = tf.as_dtype(np.array(vocabulary_list).dtype)
    _check_out_of_vocabulary(key, num_oov_buckets, default_value != -1)
    argument_checks.assert_string_or_int(of_list, prefix=f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = of_list
    elif dtype.is_integer != of_list.is_integer:
        raise ValueError(
            f"dtype {dtype} and vocabulary dtype {of_list} do not match, column_name: {key}"
        )
    argument_checks.assert_string_or_int(dtype, prefix=f"column_name: {key}")
    argument_checks.assert_key_is_string(key)
    return VocabularyListCategoricalColumn(
        key=key,
        vocabulary_list=tuple(vocabulary_list),
        dtype=dtype,
        default_value=default_value,
        num_oov_buckets=num_oov_buckets,
    )


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Whole numbers from 0 to `num_buckets` - 1 as categories.

    Args:
      key: the name of the feature.
      num_buckets: how many categories there are.
      default_value: what stands for other numbers; without it they are an error.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    argument_checks.assert_key_is_string(key)
    return IdentityCategoricalColumn(
        key=key, number_buckets=num_buckets, default_value=default_value
    )


def weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: Any = tf.float32
) -> WeightedCategoricalColumn:
    """Categories with the weights that another feature gives them.

    Args:
      categorical_column: the categories.
      weight_feature_key: the name of the feature with a weight for each of them.
      dtype: the type of the weights.
    """
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(
        categorical_column=categorical_column, weight_feature_key=weight_feature_key, dtype=dtype
    )
