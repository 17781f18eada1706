"""Sets along the last dimension: union, intersection, difference, size."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import SIGNED
from penstock.ops.shape_checks import merge_shapes, merge_sizes, with_rank
from penstock.ops.sparse_tensors import convert_to_tensor_or_sparse_tensor
from penstock.shapes import Shape

__all__ = ["set_difference", "set_intersection", "set_size", "set_union"]

_MEMBERS = types(SIGNED, dtypes.uint8, dtypes.uint16, dtypes.string)
_ATTRS: dict[str, Any] = {
    "set_operation": attr("string"),
    "validate_indices": True,
    "T": _MEMBERS,
}

DenseToDenseSetOperation = op(
    "DenseToDenseSetOperation(set1: T, set2: T) -> result_indices: int64, result_values: T, "
    "result_shape: int64",
    **_ATTRS,
)
DenseToSparseSetOperation = op(
    "DenseToSparseSetOperation(set1: T, set2_indices: int64, set2_values: T, set2_shape: int64) "
    "-> result_indices: int64, result_values: T, result_shape: int64",
    **_ATTRS,
)
SparseToSparseSetOperation = op(
    "SparseToSparseSetOperation(set1_indices: int64, set1_values: T, set1_shape: int64, "
    "set2_indices: int64, set2_values: T, set2_shape: int64) -> result_indices: int64, "
    "result_values: T, result_shape: int64",
    **_ATTRS,
)
SetSize = op(
    "SetSize(set_indices: int64, set_values: T, set_shape: int64) -> size: int32",
    validate_indices=True,
    T=_MEMBERS,
)
not_differentiable(
    SetSize, DenseToDenseSetOperation, DenseToSparseSetOperation, SparseToSparseSetOperation
)


def _results(rank: int | None) -> list[Shape]:
    return [(None, rank), (None,), (rank,)]


@DenseToDenseSetOperation.shape
def _(op: Any, set1: Shape, set2: Shape) -> list[Shape]:
    ranks = [len(shape) for shape in (set1, set2) if shape is not None]
    if any(rank < 2 for rank in ranks):
        raise ValueError(f"Input ranks should be at least 2, got {min(ranks)}")
    if len(ranks) == 2:
        if ranks[0] != ranks[1]:
            raise ValueError(f"Ranks do not match: rank {ranks[0]}, rank {ranks[1]}")
        merge_shapes(set1[:-1], set2[:-1])  # type: ignore[index]
    return _results(ranks[0] if ranks else None)


@DenseToSparseSetOperation.shape
def _(op: Any, set1: Shape, indices: Shape, values: Shape, shape: Shape) -> list[Shape]:
    rank = None if set1 is None else len(set1)
    if rank is not None and rank < 2:
        raise ValueError(f"Input rank should be at least 2, got {rank}")
    return _results(merge_sizes(rank, _sparse_rank(indices, values, shape)))


@SparseToSparseSetOperation.shape
def _(
    op: Any,
    indices1: Shape,
    values1: Shape,
    shape1: Shape,
    indices2: Shape,
    values2: Shape,
    shape2: Shape,
) -> list[Shape]:
    first = _sparse_rank(indices1, values1, shape1)
    return _results(merge_sizes(first, _sparse_rank(indices2, values2, shape2)))


def _sparse_rank(indices: Shape, values: Shape, shape: Shape) -> int | None:
    entries, columns = with_rank(indices, 2)
    merge_sizes(entries, with_rank(values, 1)[0])
    return merge_sizes(columns, with_rank(shape, 1)[0])


@SetSize.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape) -> Shape:
    return None


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """The number of different members along the last dimension of a sparse tensor."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    if a.values.dtype.base_dtype not in (_MEMBERS.allowed or ()):
        raise TypeError(f"Invalid dtype {a.values.dtype}.")
    return SetSize(a.indices, a.values, a.dense_shape, validate_indices=validate_indices)


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The members that the sets along the last dimensions of `a` and `b` have in common."""
    a, b, _ = _operands(a, b)
    return _operated(a, b, "intersection", validate_indices)


def set_difference(
    a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """The members of the sets of `a` that those of `b` don't have, or the other way round."""
    a, b, flipped = _operands(a, b)
    return _operated(a, b, "b-a" if aminusb == flipped else "a-b", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The members that the sets along the last dimensions of `a` or of `b` have."""
    a, b, _ = _operands(a, b)
    return _operated(a, b, "union", validate_indices)


def _operands(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Both as tensors, a dense one first, and whether they changed places."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if a.dtype.base_dtype not in (_MEMBERS.allowed or ()):
        raise TypeError(f"'a' invalid dtype {a.dtype}.")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if b.dtype.base_dtype is not a.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        return b, a, True
    return a, b, False


def _operated(a: Any, b: Any, operation: str, validate_indices: bool) -> SparseTensor:
    attrs: dict[str, Any] = {"set_operation": operation, "validate_indices": validate_indices}
    if isinstance(a, SparseTensor):
        parts = SparseToSparseSetOperation(
            a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, **attrs
        )
    elif isinstance(b, SparseTensor):
        parts = DenseToSparseSetOperation(a, b.indices, b.values, b.dense_shape, **attrs)
    else:
        parts = DenseToDenseSetOperation(a, b, **attrs)
    return SparseTensor(*parts)
