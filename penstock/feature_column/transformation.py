"""Features on their way into columns: each tensor is made once, however many columns ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.feature_column.columns import FeatureColumn, _FeatureColumn, by_name, normalized
from penstock.ops.sparse_tensors import convert_to_tensor_or_sparse_tensor
from penstock.platform import logging


class _TensorsByKey:
    """The tensors of features and columns: those that were made, or how to make them.

    1. A feature is given as a tensor of rank 2 or more.
    2. What was made once is given again.
    """

    def __init__(self, features: Mapping[str, Any]):
        self._features = dict(features)
        self._feature_tensors: dict[Any, Any] = {}

    def _found(self, key: Any, protocol: Any, state_manager: Any) -> Any:
        if key not in self._feature_tensors:
            if key in self._features:
                self._feature_tensors[key] = self._get_raw_feature_as_tensor(key)
            else:
                self._feature_tensors[key] = self._transformed(key, protocol, state_manager)
        return self._feature_tensors[key]

    def _transformed(self, key: Any, protocol: Any, state_manager: Any) -> Any:
        if isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        if not isinstance(key, protocol):
            raise TypeError(
                f'"key" must be either a "str" or "{protocol.__name__}". Provided: {key}'
            )
        logging.debug("Transforming feature_column %s.", key)
        made = self._ask(key, state_manager)
        if made is None:
            raise ValueError(f"Column {key.name} is not supported.")
        return made

    def _ask(self, column: Any, state_manager: Any) -> Any:
        raise NotImplementedError

    def _get_raw_feature_as_tensor(self, key: str) -> Any:
        tensor = convert_to_tensor_or_sparse_tensor(self._features[key])
        rank = tensor.get_shape().ndims
        message = f"Feature (key: {key}) cannot have rank 0. Given: {tensor}"
        if rank == 0:
            raise ValueError(message)
        if rank is not None:
            return _with_last_dimension(tensor) if rank == 1 else tensor
        with tf.control_dependencies([tf.assert_positive(tf.rank(tensor), message=message)]):
            return tf.cond(
                tf.equal(1, tf.rank(tensor)), lambda: _with_last_dimension(tensor), lambda: tensor
            )


def _with_last_dimension(tensor: Any) -> Any:
    if isinstance(tensor, tf.SparseTensor):
        return tf.sparse_reshape(tensor, [tf.shape(tensor)[0], 1])
    return tf.expand_dims(tensor, -1)


class FeatureTransformationCache(_TensorsByKey):
    """The tensors of features and of what columns make of them.

    Args:
      features: tensors by the keys that columns know them by.
    """

    def get(self, key: Any, state_manager: Any) -> Any:
        """The tensor of a feature (a string), or what a column makes of its features."""
        return self._found(key, FeatureColumn, state_manager)

    def _ask(self, column: Any, state_manager: Any) -> Any:
        return column.transform_feature(self, state_manager)


class _LazyBuilder(_TensorsByKey):
    """The same for columns of the older protocol, whose variables are those of the scope."""

    def get(self, key: Any, state_manager: Any = None) -> Any:
        """The tensor of a feature (a string), or what a column makes of its features."""
        return self._found(key, _FeatureColumn, state_manager)

    def _ask(self, column: Any, state_manager: Any) -> Any:
        return column._transform_feature(self)


def to_sparse(input_tensor: Any, ignore_value: Any = None) -> Any:
    """A tensor as a SparseTensor without the elements that mean nothing: "", -1 or 0.0."""
    input_tensor = convert_to_tensor_or_sparse_tensor(input_tensor)
    if isinstance(input_tensor, tf.SparseTensor):
        return input_tensor
    with tf.name_scope(None, "to_sparse_input", (input_tensor, ignore_value)):
        if ignore_value is None:
            ignore_value = _meaningless(input_tensor.dtype)
        ignored = tf.cast(ignore_value, input_tensor.dtype, name="ignore_value")
        indices = tf.where(tf.not_equal(input_tensor, ignored), name="indices")
        return tf.SparseTensor(
            indices=indices,
            values=tf.gather_nd(input_tensor, indices, name="values"),
            dense_shape=tf.shape(input_tensor, out_type=tf.int64, name="dense_shape"),
        )


def _meaningless(dtype: Any) -> Any:
    if dtype == tf.string:
        return ""
    return -1 if dtype.is_integer else dtype.as_numpy_dtype()


def _transformed_columns(
    features: Mapping[str, Any], columns: list[Any], cache: Any, state_manager: Any
) -> dict[Any, Any]:
    with tf.name_scope(None, default_name="transform_features", values=features.values()):
        outputs = {}
        for column in by_name(columns):
            with tf.name_scope(None, default_name=column.name):
                outputs[column] = cache.get(column, state_manager)
        return outputs


def transform_features(features: Mapping[str, Any], feature_columns: Any) -> dict[Any, Any]:
    """What each column of the older protocol makes of the features."""
    columns = normalized(feature_columns, _FeatureColumn)
    return _transformed_columns(features, columns, _LazyBuilder(features), None)


def transform_features_v2(
    features: Mapping[str, Any], feature_columns: Any, state_manager: Any
) -> dict[Any, Any]:
    """What each column makes of the features."""
    columns = normalized(feature_columns)
    return _transformed_columns(
        features, columns, FeatureTransformationCache(features), state_manager
    )
