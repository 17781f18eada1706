"""Features of examples as one matrix, with a note of what they were."""

# TensorFlow's names

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ops.tensor_forest import ReinterpretStringToFloat
from penstock.platform import logging

DATA_FLOAT = 0
DATA_CATEGORICAL = 1

DTYPE_TO_FTYPE = {
    tf.string: DATA_CATEGORICAL,
    tf.int32: DATA_CATEGORICAL,
    tf.int64: DATA_CATEGORICAL,
    tf.float32: DATA_FLOAT,
    tf.float64: DATA_FLOAT,
}


def CastToFloat(tensor: Any) -> Any:
    """A tensor as numbers: strings by a hash."""
    if tensor.dtype == tf.string:
        return ReinterpretStringToFloat(tensor)
    return tf.cast(tensor, tf.float32) if tensor.dtype.is_integer else tensor


class DataColumn:
    """What a part of the features was."""

    def __init__(self) -> None:
        self.name = ""
        self.original_type: Any = ""
        self.size: Any = 0

    def SerializeToString(self) -> str:
        """The column as text."""
        return f"name: {self.name} original_type: {self.original_type} size: {self.size}"


class DataColumnCollection:
    """Columns in their order."""

    def __init__(self) -> None:
        self.cols: list[DataColumn] = []

    def add(self) -> DataColumn:
        """A new column at the end."""
        self.cols.append(DataColumn())
        return self.cols[-1]

    def size(self) -> int:
        """The number of columns."""
        return len(self.cols)

    def SerializeToString(self) -> str:
        """The columns as text."""
        return "".join("{" + each.SerializeToString() + "}" for each in self.cols)


class TensorForestDataSpec:
    """What the features of examples were."""

    def __init__(self) -> None:
        self.sparse = DataColumnCollection()
        self.dense = DataColumnCollection()
        self.dense_features_size: Any = 0

    def SerializeToString(self) -> str:
        """The columns as text."""
        return (
            f"dense_features_size: {self.dense_features_size} "
            f"dense: [{self.dense.SerializeToString()}] "
            f"sparse: [{self.sparse.SerializeToString()}]"
        )


def GetColumnName(column_key: Any, col_num: int) -> str:
    """The name of a column: its key, the key's `column_name`, or its number."""
    if isinstance(column_key, str):
        return column_key
    return getattr(column_key, "column_name", str(col_num))


def ParseDataTensorOrDict(data: Any) -> tuple[Any, Any, TensorForestDataSpec]:
    """Dense features, sparse ones, and what they were, from a tensor or a dict of them."""
    if isinstance(data, dict):
        return _parse_dict(data)
    spec = TensorForestDataSpec()
    if isinstance(data, tf.SparseTensor):
        column = spec.sparse.add()
        column.name = "sparse_features"
        column.original_type = DTYPE_TO_FTYPE[data.dtype]
        column.size = -1
        return None, data, spec
    tensor = tf.convert_to_tensor(data)
    column = spec.dense.add()
    column.name = "dense_features"
    column.original_type = DTYPE_TO_FTYPE[tensor.dtype]
    column.size = spec.dense_features_size = tensor.get_shape()[1]
    return tensor, None, spec


def _parse_dict(data: dict[Any, Any]) -> tuple[Any, Any, TensorForestDataSpec]:
    spec = TensorForestDataSpec()
    dense: list[Any] = []
    sparse: list[Any] = []
    for key in sorted(data):
        value = data[key]
        if not isinstance(value, tf.SparseTensor):
            _add_dense_column(spec, key, value, len(dense))
            dense.append(CastToFloat(value))
        elif value.dtype == tf.float32:
            logging.info("TensorForest does not support sparse continuous.")
        else:
            if not spec.sparse.size():
                column = spec.sparse.add()
                column.original_type = DATA_CATEGORICAL
                column.name = "all_sparse"
                column.size = -1
            numbers = CastToFloat(value.values)
            sparse.append(tf.SparseTensor(value.indices, numbers, value.dense_shape))
    logging.info(spec.SerializeToString())
    return (
        tf.concat(dense, 1) if dense else None,
        tf.sparse_concat(1, sparse) if sparse else None,
        spec,
    )


def _add_dense_column(spec: TensorForestDataSpec, key: Any, value: Any, place: int) -> None:
    column = spec.dense.add()
    column.original_type = DTYPE_TO_FTYPE[value.dtype]
    column.name = GetColumnName(key, place)
    shape = value.get_shape().as_list()
    column.size = 1 if len(shape) == 1 else shape[1]
    spec.dense_features_size += column.size


def ParseLabelTensorOrDict(labels: Any) -> Any:
    """Labels as a tensor of numbers, from a tensor or a dict of them."""
    if isinstance(labels, dict):
        return tf.cast(tf.concat([labels[key] for key in sorted(labels)], 1), tf.float32)
    if isinstance(labels, tf.SparseTensor):
        labels = tf.sparse_tensor_to_dense(labels, default_value=-1)
    return tf.cast(labels, tf.float32)
