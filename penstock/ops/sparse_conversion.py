"""Sparse tensors as dense ones, as indicators, and merged from ids and values."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.filling import fill, zeros
from penstock.ops.joining import concat
from penstock.ops.shaping import expand_dims
from penstock.ops.shaping import shape as shape_of
from penstock.ops.sparse_structure import sparse_reorder
from penstock.ops.sparse_tensors import as_sparse, is_sparse
from penstock.ops.sparse_to_dense import SparseToDense

__all__ = ["sparse_merge", "sparse_tensor_to_dense", "sparse_to_indicator"]


def sparse_tensor_to_dense(
    sp_input: Any,
    default_value: Any = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A dense tensor with `default_value` (zero) where a sparse tensor has no entry.

    Entries must be in order without repetition unless `validate_indices` is False.
    """
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = zeros([], dtype=sp_input.dtype)
    return SparseToDense(
        sp_input.indices,
        sp_input.dense_shape,
        sp_input.values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """A boolean tensor whose last dimension tells which ids each row of a tensor of ids has."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input]) as scope:
        entries: Any = shape_of(sp_input.indices)
        true = fill(expand_dims(entries[0], 0), True)
        marked = SparseTensor(sp_input.indices, true, sp_input.dense_shape)
        merged = _merged(sp_input, marked, vocab_size, scope, already_sorted=False)
        return sparse_tensor_to_dense(
            merged, default_value=False, validate_indices=False, name=scope
        )


def sparse_merge(
    sp_ids: Any,
    sp_values: Any,
    vocab_size: Any,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """A sparse tensor with `sp_values` at the columns that `sp_ids` names.

    With lists of ids and sizes the last dimension is replaced by several.
    """
    return _merged(sp_ids, sp_values, vocab_size, name, already_sorted=already_sorted)


def _merged(
    sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None, *, already_sorted: bool
) -> SparseTensor:
    id_tensors, sizes = _checked_ids(sp_ids, vocab_size)
    with name_scope(name, "SparseMerge", [*id_tensors, sp_values]):
        sparse_ids = [as_sparse(ids) for ids in id_tensors]
        sp_values = as_sparse(sp_values)
        columns = []
        for ids in sparse_ids:
            values = ids.values
            if values.dtype.base_dtype is not dtypes.int64:
                values = cast(values, dtypes.int64)
            columns.append(expand_dims(values, axis=1))
        sizes = [cast(size, dtypes.int64) for size in sizes]
        first: Any = sparse_ids[0].indices
        indices = concat([first[:, :-1], *columns], 1)
        outer: Any = sparse_ids[0].dense_shape
        dense_shape = concat([outer[:-1], sizes], 0)
        result = SparseTensor(indices, sp_values.values, dense_shape)
        if already_sorted:
            return result
        ordered = sparse_reorder(result)
        return SparseTensor(ordered.indices, ordered.values, dense_shape)


def _checked_ids(sp_ids: Any, vocab_size: Any) -> tuple[list[Any], list[Any]]:
    """Ids and sizes as lists of equal length."""
    if is_sparse(sp_ids):
        if not _is_size(vocab_size):
            raise TypeError(
                f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}"
            )
        return [sp_ids], [vocab_size]
    if not isinstance(sp_ids, Iterable):
        raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
    if not isinstance(vocab_size, Iterable):
        raise TypeError(
            f"vocab_size has to be a list of Tensors or Python ints. Found {type(vocab_size)}"
        )
    ids, sizes = list(sp_ids), list(vocab_size)
    for size in sizes:
        if not _is_size(size):
            raise TypeError(
                f"vocab_size has to be a list of Tensors or Python ints. Found {type(size)}"
            )
    if len(ids) != len(sizes):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    return ids, sizes


def _is_size(value: Any) -> bool:
    return isinstance(value, (Tensor, numbers.Integral))


def map_values(op: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """`op` applied to the values of sparse tensors that have the same indices."""
    sparse: list[SparseTensor] = []
    args = tuple(_value_of(value, sparse) for value in args)
    kwargs = {key: _value_of(value, sparse) for key, value in kwargs.items()}
    if not sparse:
        raise ValueError("No SparseTensor in argument list of map_values")
    with get_default_graph().control_dependencies(_checks_of_equal_places(sparse)):
        return SparseTensor(sparse[0].indices, op(*args, **kwargs), sparse[0].dense_shape)


def _checks_of_equal_places(sparse: list[SparseTensor]) -> list[Any]:
    from penstock.ops.value_assertions import assert_equal

    first, *others = sparse
    checks = []
    for other in others:
        if other.dense_shape is not first.dense_shape:
            message = "Mismatched shapes in SparseTensors."
            checks.append(assert_equal(first.dense_shape, other.dense_shape, message=message))
        if other.indices is not first.indices:
            message = "Mismatched indices in SparseTensors."
            checks.append(assert_equal(first.indices, other.indices, message=message))
    return checks


def _value_of(value: Any, found: list[SparseTensor]) -> Any:
    if not isinstance(value, SparseTensor):
        return value
    found.append(value)
    return value.values
