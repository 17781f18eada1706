"""Arithmetic on sparse tensors: sums, products, extremes, softmax."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import not_differentiable, op, types
from penstock.ir.type_sets import INDEX, NUMERIC, REAL
from penstock.ops.casts import cast
from penstock.ops.elementwise import square
from penstock.ops.filling import ones, zeros_like
from penstock.ops.gather import gather_nd
from penstock.ops.joining import concat
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.shaping import expand_dims, renamed_argument, size
from penstock.ops.shaping import shape as shape_of
from penstock.ops.slicing import slice as slice_of
from penstock.ops.sparse_tensors import as_sparse, is_sparse
from penstock.shapes import Shape, TensorShape

__all__ = ["sparse_add", "sparse_maximum", "sparse_minimum", "sparse_softmax"]

SparseAdd = op(
    "SparseAdd(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
    "b_shape: int64, thresh: Treal) -> sum_indices: int64, sum_values: T, sum_shape: int64",
    T=NUMERIC,
    Treal=REAL,
)
SparseAddGrad = op(
    "SparseAddGrad(backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64) "
    "-> a_val_grad: T, b_val_grad: T",
    T=NUMERIC,
)
SparseTensorDenseAdd = op(
    "SparseTensorDenseAdd(a_indices: Tindices, a_values: T, a_shape: Tindices, b: T) -> output: T",
    T=NUMERIC,
    Tindices=INDEX,
)
SparseDenseCwiseMul = op(
    "SparseDenseCwiseMul(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T",
    T=NUMERIC,
)
SparseDenseCwiseDiv = op(
    "SparseDenseCwiseDiv(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T",
    T=NUMERIC,
)
SparseDenseCwiseAdd = op(
    "SparseDenseCwiseAdd(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T",
    T=NUMERIC,
)
SparseSoftmax = op(
    "SparseSoftmax(sp_indices: int64, sp_values: T, sp_shape: int64) -> output: T",
    T=types(dtypes.float16, dtypes.float32, dtypes.float64),
)
SparseSparseMinimum = op(
    "SparseSparseMinimum(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, "
    "b_values: T, b_shape: int64) -> output_indices: int64, output_values: T",
    T=NUMERIC,
)
SparseSparseMaximum = op(
    "SparseSparseMaximum(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, "
    "b_values: T, b_shape: int64) -> output_indices: int64, output_values: T",
    T=REAL,
)
not_differentiable(SparseAddGrad)


@SparseAdd.shape
def _(op: Any, a_indices: Shape, a_values: Shape, a_shape: Shape, *others: Shape) -> list[Shape]:
    (rank,) = with_rank(a_shape, 1)
    return [(None, rank), (None,), (rank,)]


@SparseAddGrad.shape
def _(op: Any, grad: Shape, a_indices: Shape, b_indices: Shape, sum_indices: Shape) -> list[Shape]:
    return [(with_rank(a_indices, 2)[0],), (with_rank(b_indices, 2)[0],)]


@SparseTensorDenseAdd.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape, b: Shape) -> Shape:
    return b


@SparseDenseCwiseMul.shape
@SparseDenseCwiseDiv.shape
@SparseDenseCwiseAdd.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape, dense: Shape) -> Shape:
    return (with_rank(indices, 2)[0],)


@SparseSoftmax.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape) -> Shape:
    rows, _ = with_rank(indices, 2)
    with_rank(shape, 1)
    (entries,) = with_rank(values, 1)
    return (merge_sizes(rows, entries),)


@SparseSparseMinimum.shape
@SparseSparseMaximum.shape
def _(op: Any, *inputs: Shape) -> list[Shape]:
    return [(None, None), (None,)]


# Gradients ------------------------------------------------------------------------------------


@SparseAdd.gradient
def _(op: Any, *grads: Any) -> Any:
    a_indices, a_values, _, b_indices, b_values, _, _ = op.inputs
    by_a, by_b = SparseAddGrad(grads[1], a_indices, b_indices, op.outputs[0])
    by_a.set_shape(a_values.get_shape())
    by_b.set_shape(b_values.get_shape())
    return None, by_a, None, None, by_b, None, None


@SparseTensorDenseAdd.gradient
def _(op: Any, grad: Any) -> Any:
    return None, gather_nd(grad, op.inputs[0]), None, grad


@SparseDenseCwiseMul.gradient
def _(op: Any, grad: Any) -> Any:
    places, sizes, dense = _dense_elements(op)
    by_values = grad * dense
    return None, by_values, None, _added_up(op.inputs[3], places, grad * op.inputs[1], sizes)


@SparseDenseCwiseDiv.gradient
def _(op: Any, grad: Any) -> Any:
    places, sizes, dense = _dense_elements(op)
    by_values = grad / dense
    slopes = grad * (-op.inputs[1] / square(dense))
    return None, by_values, None, _added_up(op.inputs[3], places, slopes, sizes)


def _dense_elements(op: Any) -> tuple[Any, Any, Any]:
    """Where in the dense tensor the entries find their partners, its shape, and the partners."""
    indices, _, sizes, dense = op.inputs
    dense_sizes = cast(shape_of(dense), dtypes.int64)
    added = expand_dims(size(sizes) - size(dense_sizes), 0)
    full = concat([ones(added, dtypes.int64), dense_sizes], 0)
    places = indices // (sizes // full)
    places = slice_of(places, concat([[0], added], 0), [-1, -1])
    return places, dense_sizes, gather_nd(dense, places)


def _added_up(dense: Any, places: Any, values: Any, sizes: Any) -> Any:
    return sparse_add(zeros_like(dense), SparseTensor(places, values, sizes))


@SparseDenseCwiseAdd.gradient
def _(op: Any, grad: Any) -> Any:
    raise NotImplementedError("Gradient for SparseDenseCwiseAdd is not implemented.")


@SparseSoftmax.gradient
def _(op: Any, grad: Any) -> Any:
    from penstock.ops.sparse_reductions import sparse_reduce_sum

    indices, _, sizes = op.inputs
    result = op.outputs[0]
    product = SparseTensor(indices, result * grad, sizes)
    total: Any = sparse_reduce_sum(product, [-1], keepdims=True)
    return None, SparseDenseCwiseAdd(indices, grad, sizes, -total) * result, None


@SparseSparseMaximum.gradient
def _(op: Any, *grads: Any) -> Any:
    raise NotImplementedError("Gradient for SparseSparseMaximum is not implemented.")


@SparseSparseMinimum.gradient
def _(op: Any, *grads: Any) -> Any:
    raise NotImplementedError("Gradient for SparseSparseMinimum is not implemented.")


# Public functions -----------------------------------------------------------------------------


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """The sum of two sparse tensors, or of a sparse and a dense one, which is dense.

    Sums of two entries that are smaller than `threshold` (0) are left out.
    """
    threshold = renamed_argument("threshold", threshold, "thresh", thresh)
    if not (is_sparse(a) or is_sparse(b)):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not (is_sparse(a) and is_sparse(b)):
        sparse, dense = (a, b) if is_sparse(a) else (b, a)
        return SparseTensorDenseAdd(sparse.indices, sparse.values, sparse.dense_shape, dense)
    a, b = as_sparse(a), as_sparse(b)
    limit = convert_to_tensor(
        0 if threshold is None else threshold,
        a.values.dtype.real_dtype.base_dtype,
        "threshold",
    )
    indices, values, dense_shape = SparseAdd(
        a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, limit
    )
    a.get_shape().assert_is_compatible_with(b.get_shape())
    static: TensorShape = a.get_shape().merge_with(b.get_shape())
    if static.is_fully_defined():
        dense_shape = static.as_list()
    return SparseTensor(indices, values, dense_shape)


def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger of the entries at each place, an absent entry being zero."""
    return _extreme(SparseSparseMaximum, sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of the entries at each place, an absent entry being zero."""
    return _extreme(SparseSparseMinimum, sp_a, sp_b, name)


def _extreme(spec: Any, a: Any, b: Any, name: str | None) -> SparseTensor:
    values = [a.indices, a.values, b.indices, b.values]
    with name_scope(name, spec.name, values) as scope:
        indices, values = spec(
            a.indices,
            a.values,
            a.dense_shape,
            b.indices,
            b.values,
            b.dense_shape,
            name=scope,
        )
    return SparseTensor(indices, values, a.dense_shape)


def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The softmax of the entries of each row (along the last dimension), others being absent."""
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = SparseSoftmax(sp_input.indices, sp_input.values, sp_input.dense_shape)
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


# Operators ------------------------------------------------------------------------------------


def _operated(name: str, apply: Any, sparse: SparseTensor, y: Any) -> SparseTensor:
    with name_scope(None, name, [sparse, y]) as scope:
        y = convert_to_tensor(y, sparse.dtype.base_dtype, "y")
        values = apply(sparse, y, scope)
        return SparseTensor(sparse.indices, values, sparse.dense_shape)


def _times(sparse: SparseTensor, y: Any, scope: str) -> Any:
    return SparseDenseCwiseMul(sparse.indices, sparse.values, sparse.dense_shape, y, name=scope)


def _divided(sparse: SparseTensor, y: Any, scope: str) -> Any:
    return SparseDenseCwiseDiv(sparse.indices, sparse.values, sparse.dense_shape, y, name=scope)


def _truly_divided(sparse: SparseTensor, y: Any, scope: str) -> Any:
    """A quotient of integers is a quotient of floating numbers."""
    with name_scope(scope, "truediv", [sparse.indices, sparse.values, y]) as inner:
        values, dtype = sparse.values, sparse.dtype.base_dtype
        if dtype.is_integer:
            wanted = dtypes.float32 if dtype.size < dtypes.int32.size else dtypes.float64
            values, y = cast(values, wanted), cast(y, wanted)
        return SparseDenseCwiseDiv(sparse.indices, values, sparse.dense_shape, y, name=inner)


def dense_times_sparse(x: Any, sparse: SparseTensor, name: str) -> SparseTensor:
    """The product of a dense tensor, which may broadcast, and a sparse one."""
    return SparseTensor(sparse.indices, _times(sparse, x, name), sparse.dense_shape)


def _install(symbol: str, apply: Any) -> None:
    def operator(x: SparseTensor, y: Any) -> SparseTensor:
        return _operated(symbol, apply, x, y)

    setattr(SparseTensor, f"__{symbol}__", operator)


_install("mul", _times)
_install("div", _divided)
_install("truediv", _truly_divided)
