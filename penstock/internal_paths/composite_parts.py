"""`tensorflow.python.framework.composite_tensor` and `composite_tensor_utils`."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock import nest
from penstock.ir.convert import CompositeTensor
from penstock.ragged.tensor import RaggedTensor
from penstock.ragged.tensor_value import RaggedTensorValue


def replace_composites_with_components(structure: Any) -> Any:
    """The structure with each composite tensor in it as the list of its tensors."""
    if isinstance(structure, CompositeTensor):
        return replace_composites_with_components(structure._to_components())
    if not nest.is_nested(structure):
        return structure
    return nest.map_structure(
        replace_composites_with_components, structure, expand_composites=False
    )


def is_composite_or_composite_value(tensor: Any) -> bool:
    """Whether a value is a composite tensor, or what a session gives for one."""
    return isinstance(tensor, (CompositeTensor, tf.SparseTensorValue, RaggedTensorValue))


def get_shape(tensor: Any) -> tuple[Any, ...]:
    """The shape of a composite tensor or of its value."""
    if isinstance(tensor, tf.SparseTensorValue):
        return tuple(tensor.dense_shape)
    if isinstance(tensor, RaggedTensorValue):
        return tuple(tensor.shape)
    return tuple(tensor.shape.as_list())


def append_composite_tensor(target: Any, to_append: Any) -> Any:
    """Two composite tensors, or values of such, with the rows of the second below the first's."""
    if type(target) is not type(to_append):
        raise RuntimeError(
            "Unable to concatenate the composite tensors: they are of the types "
            f"{type(target)} and {type(to_append)}."
        )
    if isinstance(target, tf.SparseTensor):
        return tf.sparse.concat(axis=0, sp_inputs=[target, to_append])
    if isinstance(target, RaggedTensor):
        return tf.concat([target, to_append], axis=0)
    if isinstance(target, tf.SparseTensorValue):
        return _appended_sparse(target, to_append)
    if isinstance(target, RaggedTensorValue):
        return _appended_ragged(target, to_append)
    raise RuntimeError(f"Attempted to concatenate unsupported object {type(target)}.")


def _appended_sparse(target: Any, more: Any) -> Any:
    if len(target.dense_shape) != len(more.dense_shape):
        raise RuntimeError(
            "Unable to concatenate sparse values of the shapes "
            f"{target.dense_shape} and {more.dense_shape}."
        )
    rows, *base = target.dense_shape
    added, *other = more.dense_shape
    moved = np.array(more.indices) + [rows, *[0] * len(base)]
    shape = [rows + added, *(max(sizes) for sizes in zip(base, other, strict=True))]
    return tf.SparseTensorValue(
        np.concatenate((np.array(target.indices), moved)),
        np.concatenate((np.array(target.values), np.array(more.values))),
        tuple(shape),
    )


def _appended_ragged(target: Any, more: Any) -> Any:
    if len(target.shape) != len(more.shape):
        raise RuntimeError(
            f"Unable to concatenate ragged values of the shapes {target.shape} and {more.shape}."
        )
    if not isinstance(target, RaggedTensorValue):
        return np.concatenate((target, more))
    values = _appended_ragged(target.values, more.values)
    splits = np.concatenate((target.row_splits, more.row_splits[1:] + target.row_splits[-1]))
    return RaggedTensorValue(values, splits)
