"""Columns of numbers."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import penstock as tf
from penstock.contrib.layers.columns.protocol import _FeatureColumn
from penstock.contrib.layers.columns.ranks import reshape_real_valued
from penstock.feature_column.columns import _DenseColumn

__all__ = ["real_valued_column"]


class _RealValuedColumn(
    _FeatureColumn,
    _DenseColumn,
    namedtuple(
        "_RealValuedColumn", ["column_name", "dimension", "default_value", "dtype", "normalizer"]
    ),
):
    """A vector of numbers for each example; see `real_valued_column`."""

    def __new__(
        cls, column_name: str, dimension: int, default_value: Any, dtype: Any, normalizer: Any
    ) -> Any:
        if default_value is not None:
            default_value = tuple(default_value)  # so that the column has a hash
        return super().__new__(cls, column_name, dimension, default_value, dtype, normalizer)

    @property
    def name(self) -> str:
        return str(self.column_name)

    @property
    def config(self) -> dict[str, Any]:
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: tf.FixedLenFeature([self.dimension], self.dtype, default)}

    @property
    def key(self) -> str:
        return self._key_without_properties(["normalizer"])

    @property
    def normalizer_fn(self) -> Any:
        """The function that features go through."""
        return self.normalizer

    def _transform_feature(self, inputs: Any) -> Any:
        numbers = inputs.get(self.name)
        if self.normalizer is not None:
            numbers = self.normalizer(numbers)
        return tf.cast(numbers, tf.float32)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        return reshape_real_valued(tf.cast(input_tensor, tf.float32), output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        return input_tensor

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([self.dimension])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return inputs.get(self)


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = tf.float32,
    normalizer: Any = None,
) -> Any:
    """A vector of numbers for each example.

    Args:
      default_value: a number or a list of them, for Examples that lack the feature.
      normalizer: a function that the feature goes through.
    """
    dtype = tf.as_dtype(dtype)
    where = f"column_name: {column_name}"
    if dimension is None:
        raise TypeError(
            "dimension must be an integer. Use the _real_valued_var_len_column for variable length "
            f"features.dimension: {dimension}, {where}"
        )
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, {where}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, {where}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, {where}")
    if default_value is not None:
        default_value = _default_values(default_value, dimension, dtype, where)
    return _RealValuedColumn(column_name, dimension, default_value, dtype, normalizer)


def _default_values(default_value: Any, dimension: int, dtype: Any, where: str) -> list[Any]:
    values = default_value
    if isinstance(default_value, int | float):
        values = [default_value] * dimension
    if isinstance(values, list):
        if len(values) != dimension:
            raise ValueError(
                "The length of default_value must be equal to dimension. default_value: "
                f"{default_value}, dimension: {dimension}, {where}"
            )
        if dtype.is_integer and all(isinstance(value, int) for value in values):
            return values
        if dtype.is_floating and all(isinstance(value, int | float) for value in values):
            return [float(value) for value in values]
    raise TypeError(
        "default_value must be compatible with dtype. default_value: "
        f"{default_value}, dtype: {dtype}, {where}"
    )


class _RealValuedVarLenColumn(
    _FeatureColumn,
    namedtuple(
        "_RealValuedVarLenColumn",
        ["column_name", "default_value", "dtype", "normalizer", "is_sparse"],
    ),
):
    """Any number of numbers for each example, for models of sequences."""

    @property
    def name(self) -> str:
        return str(self.column_name)

    @property
    def config(self) -> dict[str, Any]:
        if self.is_sparse:
            return {self.column_name: tf.VarLenFeature(self.dtype)}
        padded = tf.FixedLenSequenceFeature(
            [], self.dtype, allow_missing=True, default_value=self.default_value
        )
        return {self.column_name: padded}

    @property
    def key(self) -> str:
        return self._key_without_properties(["normalizer"])

    @property
    def normalizer_fn(self) -> Any:
        """The function that features go through."""
        return self.normalizer

    def _transform_feature(self, inputs: Any) -> Any:
        numbers = inputs.get(self.name)
        if self.normalizer is not None:
            if self.is_sparse:
                values = self.normalizer(numbers.values)
                numbers = tf.SparseTensor(numbers.indices, values, numbers.dense_shape)
            else:
                numbers = self.normalizer(numbers)
        return tf.cast(numbers, tf.float32)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        return reshape_real_valued(self._to_dense_tensor(input_tensor), output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Any:
        if self.is_sparse:
            raise ValueError(
                "Set is_sparse to False if you want a dense Tensor for column_name: " + self.name
            )
        return input_tensor


def _real_valued_var_len_column(
    column_name: str,
    default_value: Any = None,
    dtype: Any = tf.float32,
    normalizer: Any = None,
    is_sparse: bool = False,
) -> Any:
    """Any number of numbers for each example: padded with `default_value`, or sparse."""
    dtype = tf.as_dtype(dtype)
    where = f"column_name: {column_name}"
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(f"dtype must be convertible to float. dtype: {dtype}, {where}")
    if default_value is None and not is_sparse:
        raise ValueError(
            f"default_value must be provided when is_sparse=False to parse a padded Tensor. {where}"
        )
    if isinstance(default_value, list):
        raise ValueError(f"Only scalar default value. default_value: {default_value}, {where}")
    if default_value is not None:
        default_value = int(default_value) if dtype.is_integer else float(default_value)
    return _RealValuedVarLenColumn(column_name, default_value, dtype, normalizer, is_sparse)
