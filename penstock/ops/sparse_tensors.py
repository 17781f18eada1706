"""Sparse tensors as values: recognising them, making them of other values, feeding them."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, shapes
from penstock.ir.composite import IndexedSlices, SparseTensor, SparseTensorValue
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.comparison import not_equal
from penstock.ops.constants import placeholder
from penstock.ops.filling import ones, zeros_like
from penstock.ops.filling import range as count
from penstock.ops.gather import gather, gather_nd
from penstock.ops.joining import stack
from penstock.ops.masking import where
from penstock.ops.shaping import shape as shape_of
from penstock.ops.unique import ListDiff

__all__ = ["convert_to_tensor_or_sparse_tensor", "sparse_mask", "sparse_placeholder"]


def as_sparse(value: Any) -> SparseTensor:
    """A sparse tensor of the graph; TypeError for a value that is none."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, got {value!r}.")
    return value


def is_sparse(value: Any) -> bool:
    return isinstance(value, (SparseTensor, SparseTensorValue))


def convert_to_tensor_or_sparse_tensor(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """`value` as a tensor, or as a sparse tensor if it is one."""
    if not is_sparse(value):
        return convert_to_tensor(value, dtype, name)
    sparse = as_sparse(value)
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(sparse.dtype):
        raise RuntimeError(
            f"Sparse dtype: requested = {dtypes.as_dtype(dtype).name}, actual = {sparse.dtype.name}"
        )
    return sparse


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor that must be fed with a SparseTensorValue or (indices, values, shape).

    >>> x = tf.sparse_placeholder(tf.float32, [None, 784])
    """
    prefix = None if name is None else f"{name}/"
    dense_shape = _placeholder_shape(shape, prefix)
    rank = dense_shape._shape[0] if dense_shape._shape else None
    return SparseTensor(
        values=placeholder(dtype, [None], prefix and f"{prefix}values"),
        indices=placeholder(dtypes.int64, [None, rank], prefix and f"{prefix}indices"),
        dense_shape=dense_shape,
    )


def _placeholder_shape(shape: Any, prefix: str | None) -> Tensor:
    """The shape of what will be fed: a constant where it is known, else to be fed as well."""
    name = prefix and f"{prefix}shape"
    if shape is None:
        return placeholder(dtypes.int64, [None], name)
    if isinstance(shape, Tensor):
        return shape
    static = shapes.raw([None if size == -1 else size for size in _entries(shape)])
    assert static is not None
    if None in static:
        return placeholder(dtypes.int64, [len(static)], name)
    return convert_to_tensor(list(static), dtypes.int64, name)


def _entries(shape: Any) -> list[Any]:
    return list(shapes.raw(shape) or ()) if isinstance(shape, shapes.TensorShape) else list(shape)


def sparse_mask(a: IndexedSlices, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """The slices of `a` without those at `mask_indices`."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        kept, places = ListDiff(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, places, name=scope), kept, a.dense_shape)


# Sparse tensors of other things: tf.sparse.from_dense, tf.sparse.eye ---------------------------


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero (or not the empty string)."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        indices = where(not_equal(tensor, zeros_like(tensor)))
        values = gather_nd(tensor, indices)
        return SparseTensor(indices, values, shape_of(tensor, out_type=dtypes.int64))


def sparse_eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> SparseTensor:
    """A matrix with ones on its diagonal; square if `num_columns` is None."""
    from penstock.ops.binary import minimum

    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _int64(num_columns, "num_columns")
        length = minimum(rows, columns)
        diagonal = count(length, dtype=dtypes.int64)
        return SparseTensor(
            indices=stack([diagonal, diagonal], axis=1),
            values=ones(length, dtype=dtype),
            dense_shape=[rows, columns],
        )


def _int64(value: Any, name: str) -> Tensor:
    from penstock.ops.casts import cast

    if isinstance(value, int) and not isinstance(value, bool):
        return convert_to_tensor(value, dtypes.int64, name)
    if hasattr(value, "__index__") and not isinstance(value, Tensor):
        return convert_to_tensor(int(value), dtypes.int64, name)
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be an integer value")
    return value if value.dtype.base_dtype is dtypes.int64 else cast(value, dtypes.int64)
