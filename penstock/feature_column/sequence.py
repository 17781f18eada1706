"""Columns of features whose order counts."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.feature_column import argument_checks, categorical
from penstock.feature_column.columns import SequenceDenseColumn
from penstock.feature_column.of_categories import SequenceCategoricalColumn, sequence_lengths
from penstock.feature_column.serialization import config_of, from_config
from penstock.shapes import TensorShape


class SequenceNumericColumn(
    SequenceDenseColumn,
    namedtuple(
        "SequenceNumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn")
    ),
):
    """Sequences of numbers; see `sequence_numeric_column`."""

    _is_v2_column = True

    @property
    def name(self) -> str:
        return str(self.key)

    @property
    def parents(self) -> list[Any]:
        return [self.key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: tf.VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        tensor = transformation_cache.get(self.key, state_manager)
        return tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one step."""
        return TensorShape(self.shape)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        sparse = transformation_cache.get(self, state_manager)
        dense = tf.sparse_tensor_to_dense(sparse, default_value=self.default_value)
        sizes = tf.concat([tf.shape(dense)[:1], [-1], self.variable_shape.as_list()], axis=0)
        dense = tf.reshape(dense, shape=sizes)
        flat = sparse.shape.ndims == 2
        elements = self.variable_shape.num_elements() if flat else 1
        lengths = sequence_lengths(sparse, num_elements=elements)
        return self.TensorSequenceLengthPair(dense_tensor=dense, sequence_length=lengths)

    def _get_config(self) -> dict[str, Any]:
        return config_of(self)

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Any = None, columns_by_name: Any = None
    ) -> Any:
        return from_config(cls, config, custom_objects, columns_by_name)


def sequence_numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: float = 0.0,
    dtype: Any = tf.float32,
    normalizer_fn: Callable[[Any], Any] | None = None,
) -> SequenceNumericColumn:
    """Sequences of numbers.

    Args:
      key: the name of the feature.
      shape: the shape of one step.
      default_value: what shorter sequences are filled up with.
      dtype: the type to parse it as.
      normalizer_fn: what to apply to the tensor first.
    """
    sizes = argument_checks.checked_shape(shape, key)
    argument_checks.assert_convertible_to_float(dtype, key)
    argument_checks.assert_normalizer(normalizer_fn)
    return SequenceNumericColumn(
        key, shape=sizes, default_value=default_value, dtype=dtype, normalizer_fn=normalizer_fn
    )


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """Sequences of `categorical_column_with_identity`."""
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_identity(key, num_buckets, default_value)
    )


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = tf.string
) -> SequenceCategoricalColumn:
    """Sequences of `categorical_column_with_hash_bucket`."""
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)
    )


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = tf.string,
) -> SequenceCategoricalColumn:
    """Sequences of `categorical_column_with_vocabulary_file`."""
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
        )
    )


def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Any,
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """Sequences of `categorical_column_with_vocabulary_list`."""
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_vocabulary_list(
            key, vocabulary_list, dtype, default_value, num_oov_buckets
        )
    )
