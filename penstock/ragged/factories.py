"""Ragged tensors of Python lists, and to be fed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.internal_paths.constant_functions import constant as dense_constant
from penstock.ragged.conversion import is_ragged
from penstock.ragged.tensor import RaggedTensor
from penstock.ragged.tensor_value import RaggedTensorValue


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = tf.int64,
) -> Any:
    """A ragged tensor of nested lists; a tensor where they have no ragged dimension.

    >>> tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
    """

    def ragged(values: Any, row_splits: list[int]) -> RaggedTensor:
        splits = tf.constant(row_splits, dtype=row_splits_dtype)
        return RaggedTensor.from_row_splits(values, splits, validate=False)

    with tf.name_scope(name, "RaggedConstant"):
        return _built(ragged, dense_constant, pylist, dtype, ragged_rank, inner_shape)


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """A RaggedTensorValue of nested lists; an array where they have no ragged dimension."""
    if isinstance(dtype, tf.DType):
        dtype = dtype.as_numpy_dtype
    splits_type = tf.as_dtype(row_splits_dtype).as_numpy_dtype

    def ragged(values: Any, row_splits: list[int]) -> RaggedTensorValue:
        return RaggedTensorValue(values, np.array(row_splits, dtype=splits_type))

    def dense(pylist: Any, dtype: Any, shape: Any, name: str | None = None) -> Any:
        array = np.array(pylist, dtype=dtype)
        return array if shape is None else np.reshape(array, shape)

    return _built(ragged, dense, pylist, dtype, ragged_rank, inner_shape)


def _is_list(item: Any) -> bool:
    return isinstance(item, (list, tuple)) or np.ndim(item) != 0


def _built(
    make_ragged: Callable[..., Any],
    make_dense: Callable[..., Any],
    pylist: Any,
    dtype: Any,
    ragged_rank: int | None,
    inner_shape: Any,
) -> Any:
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}"
            )
        if inner_shape:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}"
            )
        return make_dense(pylist, dtype, ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    scalar_depth, max_depth = _depths(pylist)
    _check_depths(pylist, scalar_depth, max_depth, ragged_rank, inner_shape)
    if ragged_rank is None:
        inner_rank = 0 if inner_shape is None else len(inner_shape)
        if max_depth - inner_rank < 2:
            return make_dense(pylist, dtype, inner_shape)
        inner_shape = () if inner_shape is None else inner_shape
        deepest = max_depth - 1 if scalar_depth is None else scalar_depth - 1 - inner_rank
        ragged_rank = max(1, deepest)
    elif ragged_rank == 0:
        return make_dense(pylist, dtype, inner_shape)
    elif inner_shape is None:
        inner_shape = _common_inner_shape(pylist, ragged_rank)
    nested_splits, values = _flattened(pylist, ragged_rank)
    shape = (len(values), *inner_shape)
    result = make_dense(values, dtype=dtype, shape=shape, name="values")
    for splits in reversed(nested_splits):
        result = make_ragged(result, splits)
    return result


def _check_depths(
    pylist: Any,
    scalar_depth: int | None,
    max_depth: int,
    ragged_rank: int | None,
    inner_shape: Any,
) -> None:
    if scalar_depth is not None and max_depth > scalar_depth:
        raise ValueError(
            f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting"
        )
    if inner_shape is None or ragged_rank is None:
        return
    wanted = ragged_rank + len(inner_shape) + 1
    fits = wanted >= max_depth if scalar_depth is None else wanted == scalar_depth
    if not fits:
        raise ValueError(
            f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
            f"dim(inner_shape)={len(inner_shape)}"
        )


def _flattened(pylist: Any, ragged_rank: int) -> tuple[list[list[int]], list[Any]]:
    """The row splits of the outer dimensions, and the innermost rows put together."""
    nested_splits = []
    rows = list(pylist)
    for _ in range(ragged_rank):
        splits = [0]
        for row in rows:
            splits.append(splits[-1] + len(row))
        nested_splits.append(splits)
        rows = [item for row in rows for item in row]
    return nested_splits, rows


def _depths(pylist: Any) -> tuple[int | None, int]:
    """How deep scalars lie in nested lists (None: there are none), and how deep the lists go."""
    if not _is_list(pylist):
        return 0, 0
    scalar_depth: int | None = None
    max_depth = 1
    for child in pylist:
        scalars, deepest = _depths(child)
        if scalars is not None:
            if scalar_depth is not None and scalar_depth != scalars + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            scalar_depth = scalars + 1
        max_depth = max(max_depth, deepest + 1)
    return scalar_depth, max_depth


def _common_inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The shape that all items below the ragged dimensions have."""
    rows = list(pylist)
    for depth in range(ragged_rank):
        if not all(_is_list(row) for row in rows):
            raise ValueError(
                f"pylist has scalar values depth {depth + 1}, but ragged_rank={ragged_rank} "
                f"requires scalar value depth greater than {ragged_rank}"
            )
        rows = [item for row in rows for item in row]
    shape = _first_shape(rows)
    _check_shape(rows, shape)
    return shape[1:]


def _first_shape(item: Any) -> tuple[int, ...]:
    if not _is_list(item):
        return ()
    return (len(item), *_first_shape(item[0])) if len(item) else (0,)


def _check_shape(item: Any, shape: tuple[int, ...]) -> None:
    if _is_list(item) != bool(shape) or (shape and shape[0] != len(item)):
        raise ValueError("inner values have inconsistent shape")
    if shape:
        for child in item:
            _check_shape(child, shape[1:])


def placeholder(
    dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None
) -> Any:
    """A ragged tensor that must be fed with a RaggedTensorValue."""
    if ragged_rank == 0:
        return tf.placeholder(dtype, value_shape, name)
    with tf.name_scope(name, "RaggedPlaceholder", []):
        flat_shape = tf.TensorShape([None]).concatenate(value_shape)
        result: Any = tf.placeholder(dtype, flat_shape, "flat_values")
        for level in reversed(range(ragged_rank)):
            splits = tf.placeholder(tf.int64, [None], f"row_splits_{level}")
            result = RaggedTensor(result, splits, internal=True)
        return result
