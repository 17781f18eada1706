"""Numbers as features: as they are, or by the interval that they are in."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import penstock as tf
from penstock.feature_column import argument_checks
from penstock.feature_column.columns import BothCategorical, BothDense
from penstock.ops.counting import Bucketize
from penstock.shapes import TensorShape


class NumericColumn(
    BothDense,
    namedtuple("NumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn")),
):
    """The numbers of a feature; see `numeric_column`."""

    @property
    def name(self) -> str:
        return str(self.key)

    @property
    def parents(self) -> list[Any]:
        return [self.key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: tf.FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        tensor = transformation_cache.get(self.key, state_manager)
        if isinstance(tensor, tf.SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is "
                f"not supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return tf.cast(tensor, tf.float32)

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self, state_manager)


class BucketizedColumn(
    BothDense, BothCategorical, namedtuple("BucketizedColumn", ("source_column", "boundaries"))
):
    """The intervals that numbers are in; see `bucketized_column`."""

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def parents(self) -> list[Any]:
        return [self.source_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return dict(self.source_column.parse_example_spec)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        numbers = transformation_cache.get(self.source_column, state_manager)
        return Bucketize(numbers, boundaries=list(self.boundaries))

    @property
    def _intervals(self) -> int:
        return len(self.boundaries) + 1

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape((*self.source_column.shape, self._intervals))

    @property
    def num_buckets(self) -> int:
        return self._intervals * int(self.source_column.shape[0])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        buckets = tf.cast(transformation_cache.get(self, state_manager), tf.int64)
        return tf.one_hot(buckets, depth=self._intervals, on_value=1.0, off_value=0.0)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """One id for each number: those of different places in the feature are different."""
        buckets = transformation_cache.get(self, state_manager)
        batch_size = tf.shape(buckets)[0]
        places = self.source_column.shape[0]
        row = tf.reshape(tf.tile(tf.expand_dims(tf.range(0, batch_size), 1), [1, places]), (-1,))
        place = tf.tile(tf.range(0, places), [batch_size])
        ids = tf.reshape(buckets, (-1,)) + self._intervals * place
        indices = tf.cast(tf.transpose(tf.stack((row, place))), tf.int64)
        dense_shape = tf.cast(tf.stack([batch_size, places]), tf.int64)
        return self.IdWeightPair(
            tf.SparseTensor(indices=indices, values=ids, dense_shape=dense_shape), None
        )


def numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: Any = tf.float32,
    normalizer_fn: Callable[[Any], Any] | None = None,
) -> NumericColumn:
    """Numbers of a feature, as floats.

    Args:
      key: the name of the feature.
      shape: its shape in one example.
      default_value: what an example has that lacks it.
      dtype: the type to parse it as.
      normalizer_fn: what to apply to the tensor first.
    """
    sizes = argument_checks.checked_shape(shape, key)
    argument_checks.assert_convertible_to_float(dtype, key)
    default_value = argument_checks.check_default_value(sizes, default_value, dtype, key)
    argument_checks.assert_normalizer(normalizer_fn)
    argument_checks.assert_key_is_string(key)
    return NumericColumn(
        key, shape=sizes, default_value=default_value, dtype=dtype, normalizer_fn=normalizer_fn
    )


def bucketized_column(source_column: Any, boundaries: Any) -> BucketizedColumn:
    """The interval that each number of a numeric column is in, as a category.

    Args:
      source_column: a `numeric_column` of a one-dimensional feature.
      boundaries: rising limits; an interval holds its lower limit.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). "
            f"Given: {source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty: boundaries must be a sorted list.")
    is_list = isinstance(boundaries, list | tuple)
    if not is_list or any(low >= high for low, high in pairwise(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))
