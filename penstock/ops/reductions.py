"""Reductions: sums, means, products, extremes and truths over axes of a tensor."""

from __future__ import annotations

from typing import Any as Anything
from weakref import WeakKeyDictionary

import numpy as np

from penstock import dtypes
from penstock.ir.composite import graph_of
from penstock.ir.constants import constant_value
from penstock.ir.dispatch import dispatched
from penstock.ir.graph import Graph
from penstock.ir.registry import SAME_IF_SAME_SHAPE, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX, NUMERIC, QUANTIZED, REAL
from penstock.ops import array, binary, casts, comparison, scans
from penstock.ops.constants import constant
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape, num_elements

__all__ = [
    "arg_max",
    "arg_min",
    "argmax",
    "argmin",
    "reduce_all",
    "reduce_any",
    "reduce_euclidean_norm",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
]

_AXES: dict[str, Anything] = {"keep_dims": False, "Tidx": types(INDEX, default=dtypes.int32)}

Sum = op(
    "Sum(input: T, reduction_indices: Tidx) -> output: T", SAME_IF_SAME_SHAPE, T=NUMERIC, **_AXES
)
Mean = op(
    "Mean(input: T, reduction_indices: Tidx) -> output: T", SAME_IF_SAME_SHAPE, T=NUMERIC, **_AXES
)
Prod = op(
    "Prod(input: T, reduction_indices: Tidx) -> output: T", SAME_IF_SAME_SHAPE, T=NUMERIC, **_AXES
)
Max = op(
    "Max(input: T, reduction_indices: Tidx) -> output: T",
    SAME_IF_SAME_SHAPE,
    T=types(REAL, QUANTIZED),
    **_AXES,
)
Min = op(
    "Min(input: T, reduction_indices: Tidx) -> output: T",
    SAME_IF_SAME_SHAPE,
    T=types(REAL, QUANTIZED),
    **_AXES,
)
All = op("All(input: bool, reduction_indices: Tidx) -> output: bool", **_AXES)
Any = op("Any(input: bool, reduction_indices: Tidx) -> output: bool", **_AXES)
EuclideanNorm = op(
    "EuclideanNorm(input: T, reduction_indices: Tidx) -> output: T", T=NUMERIC, **_AXES
)
ArgMax = op(
    "ArgMax(input: T, dimension: Tidx) -> output: output_type",
    T=types(REAL, QUANTIZED, dtypes.bool),
    Tidx=types(dtypes.int16, dtypes.int32, dtypes.int64, default=dtypes.int32),
    output_type=types(
        dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64, default=dtypes.int64
    ),
)
ArgMin = op(
    "ArgMin(input: T, dimension: Tidx) -> output: output_type",
    T=types(REAL, QUANTIZED, dtypes.bool),
    Tidx=types(INDEX, default=dtypes.int32),
    output_type=types(INDEX, default=dtypes.int64),
)
not_differentiable(All, Any, ArgMax, ArgMin)


@Sum.shape
@Mean.shape
@Prod.shape
@Max.shape
@Min.shape
@All.shape
@Any.shape
@EuclideanNorm.shape
def _(op: Anything, x: Shape, axes: Shape) -> Shape:
    keep = op.attrs["keep_dims"]
    if axes is not None and len(axes) > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {len(axes)}")
    known = constant_value(op.inputs[1])
    if known is None or x is None:
        return None if x is None or not keep else (None,) * len(x)
    reduced = {_axis(int(axis), len(x)) for axis in known.reshape(-1)}
    if keep:
        return tuple([1 if axis in reduced else size for axis, size in enumerate(x)])
    return tuple([size for axis, size in enumerate(x) if axis not in reduced])


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"Invalid reduction dimension {axis} for input with {rank} dimensions.")
    return axis % rank


@ArgMax.shape
@ArgMin.shape
def _(op: Anything, x: Shape, dimension: Shape) -> Shape:
    with_rank(dimension, 0)
    if x is None:
        return None
    if len(x) <= 1:
        return ()
    known = constant_value(op.inputs[1])
    if known is None:
        return (None,) * (len(x) - 1)
    axis = int(known)
    if not -len(x) <= axis < len(x):
        raise ValueError(
            f"Dimension ({axis}) must be in the range [{-len(x)}, {len(x)}), where {len(x)} is the "
            "number of dimensions in the input."
        )
    axis %= len(x)
    return x[:axis] + x[axis + 1 :]


def _folding(compute: Anything) -> Anything:
    def rule(op: Anything, x: Anything, axes: Anything) -> Anything:
        if x.dtype == object or (x.size == 0 and compute in (np.max, np.min)):
            return None
        over = tuple(int(axis) for axis in axes.reshape(-1))
        return compute(x, axis=over, keepdims=op.attrs["keep_dims"])

    return rule


Sum.fold(_folding(np.sum))
Prod.fold(_folding(np.prod))
Max.fold(_folding(np.max))
Min.fold(_folding(np.min))
All.fold(_folding(np.all))
Any.fold(_folding(np.any))


# Gradients ------------------------------------------------------------------------------------


@Sum.gradient
def _(op: Anything, grad: Anything) -> Anything:
    return _spread(op, grad), None


def _spread(op: Anything, grad: Anything) -> Anything:
    """Every element that went into a sum gets the gradient of the sum."""
    x, axes = op.inputs
    known_axes = constant_value(axes)
    if x._shape is not None and known_axes is not None:
        if np.array_equal(known_axes, np.arange(len(x._shape))):
            kept = array.reshape(grad, [1] * len(x._shape))
            full = None not in x._shape
            sizes = constant(x._shape, dtypes.int32) if full else array.shape(x)
            return array.tile(kept, sizes)
        if None not in x._shape:
            kept_sizes, times = _tiling(graph_of(grad), x._shape, known_axes)
            return array.tile(array.reshape(grad, kept_sizes), times)
    sizes = array.shape(x)
    with graph_of(grad).colocate_with(sizes):
        kept_shape = shape_with_ones(sizes, axes)
        times = _whole_quotient(sizes, kept_shape)
    return array.tile(array.reshape(grad, kept_shape), times)


def _whole_quotient(sizes: Anything, others: Anything) -> Anything:
    """`sizes // others`, and 0 for 0 // 0."""
    return sizes // binary.maximum(others, 1)


# The arithmetic of `_tiling` leaves nodes behind: a graph has them once per shape and axes.
_tilings: WeakKeyDictionary[Graph, dict[Anything, Anything]] = WeakKeyDictionary()


def _tiling(graph: Graph, sizes: tuple[int, ...], axes: Anything) -> tuple[Anything, Anything]:
    """The sizes of a sum that keeps its axes, and how often it repeats to have the full sizes."""
    known = _tilings.setdefault(graph, {})
    key = sizes, tuple(axes.reshape(-1).tolist())
    if key not in known:
        shape_with_ones(sizes, key[1])
        kept_sizes = _kept_sizes(sizes, axes)
        times = _whole_quotient(np.array(sizes, np.int32), kept_sizes)
        known[key] = kept_sizes, constant_value(times)
    return known[key]


def _kept_sizes(sizes: Anything, axes: Anything) -> Anything:
    """The sizes with 1 in place of the reduced ones."""
    kept = np.array(sizes, dtype=np.int32)
    kept[axes] = 1
    return kept


def shape_with_ones(sizes: Anything, axes: Anything) -> Tensor:
    """The shape that a reduction of a tensor of shape `sizes` has if it keeps its axes."""
    sizes, axes = casts.cast(sizes, dtypes.int32), casts.cast(axes, dtypes.int32)
    rank: Anything = array.size(sizes)
    positive = (axes + rank) % rank
    shape_of_axes = array.shape(positive)
    indices = [array.range(rank), positive]
    return array.dynamic_stitch(indices, [sizes, array.fill(shape_of_axes, 1)])


@Mean.gradient
def _(op: Anything, grad: Anything) -> Anything:
    spread = _spread(op, grad)
    x = op.inputs[0]
    count, results = num_elements(x._shape), num_elements(op.outputs[0]._shape)
    if count is not None and results is not None:
        share = constant(count // max(results, 1), dtype=spread.dtype)
    else:
        sizes, kept = array.shape(x), array.shape(op.outputs[0])
        share = _whole_quotient(reduce_prod(sizes), reduce_prod(kept))
    return spread / casts.cast(share, spread.dtype), None


@Prod.gradient
def _(op: Anything, grad: Anything) -> Anything:
    """Each element gets the product of all others: of those before it and of those after it."""
    x = op.inputs[0]
    sizes = array.shape(x)
    axes = array.reshape(op.inputs[1], [-1])
    kept_shape = shape_with_ones(sizes, op.inputs[1])
    times = _whole_quotient(sizes, kept_shape)
    grad = array.tile(array.reshape(grad, kept_shape), times)
    with grad._op.graph.device("/cpu:0"):
        rank = array.rank(x)
        reduced = (casts.cast(axes, dtypes.int32) + rank) % rank
        other, _ = array.setdiff1d(array.range(0, rank), reduced)
        order = array.concat([reduced, other], 0)
        reduced_count = reduce_prod(array.gather(sizes, reduced))
        other_count = reduce_prod(array.gather(sizes, other))
    ordered = array.transpose(x, order)
    ordered_sizes = array.shape(ordered)
    columns = array.reshape(ordered, (reduced_count, other_count))
    before = scans.cumprod(columns, axis=0, exclusive=True)
    after = scans.cumprod(columns, axis=0, exclusive=True, reverse=True)
    others = array.reshape(casts.conj(before) * casts.conj(after), ordered_sizes)
    out = grad * array.transpose(others, array.invert_permutation(order))
    return array.reshape(out, sizes), None


@Max.gradient
@Min.gradient
def _(op: Anything, grad: Anything) -> Anything:
    """The elements that are the extreme share its gradient."""
    x, axes = op.inputs
    sizes = array.shape(x)
    kept_shape = shape_with_ones(sizes, axes)
    extreme = array.reshape(op.outputs[0], kept_shape)
    grad = array.reshape(grad, kept_shape)
    chosen = casts.cast(comparison.equal(extreme, x), grad.dtype)
    count = array.reshape(reduce_sum(chosen, axes), kept_shape)
    return chosen / count * grad, None


@EuclideanNorm.gradient
def _(op: Anything, grad: Anything) -> Anything:
    norm = op.outputs[0]
    if not op.attrs["keep_dims"]:
        kept_shape = shape_with_ones(array.shape(op.inputs[0]), op.inputs[1])
        norm, grad = array.reshape(norm, kept_shape), array.reshape(grad, kept_shape)
    return op.inputs[0] / (norm / grad), None


# Public functions -----------------------------------------------------------------------------


def chosen_axis(axis: Anything, reduction_indices: Anything) -> Anything:
    if axis is not None and reduction_indices is not None:
        raise ValueError("Cannot specify both 'reduction_indices' and 'axis'.")
    return reduction_indices if axis is None else axis


def keeps(keepdims: bool | None, keep_dims: bool | None) -> bool:
    if keepdims is not None and keep_dims is not None:
        raise ValueError("Cannot specify both 'keep_dims' and 'keepdims'.")
    return bool(keep_dims if keepdims is None else keepdims)


def every_axis(x: Anything) -> Tensor:
    """All axes of a tensor: a constant where its rank is known."""
    if isinstance(x, Tensor) and x._shape is not None:
        return constant(np.arange(len(x._shape), dtype=np.int32))
    return array.range(0, array.rank(x))


def _reduce(
    spec: Anything, x: Anything, axis: Anything, keepdims: bool, name: str | None
) -> Tensor:
    over = every_axis(x) if axis is None else axis
    result = spec(x, over, keep_dims=keepdims, name=name)
    if result._shape is None and axis is None and not keepdims:
        result.set_shape(())
    return result


@dispatched
def reduce_sum(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The sum over `axis` (a number or a list), over all axes if it is None.

    `keepdims` keeps the reduced axes with size 1. `reduction_indices` and `keep_dims` are the old
    names of the arguments.
    """
    axis, keep = chosen_axis(axis, reduction_indices), keeps(keepdims, keep_dims)
    return _reduce(Sum, input_tensor, axis, keep, name)


@dispatched
def reduce_mean(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The mean over `axis`; of integers, the integer below it in size. See `reduce_sum`."""
    axis, keep = chosen_axis(axis, reduction_indices), keeps(keepdims, keep_dims)
    return _reduce(Mean, input_tensor, axis, keep, name)


@dispatched
def reduce_prod(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The product over `axis`. See `reduce_sum`."""
    axis, keep = chosen_axis(axis, reduction_indices), keeps(keepdims, keep_dims)
    return _reduce(Prod, input_tensor, axis, keep, name)


@dispatched
def reduce_max(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The largest element along `axis`. See `reduce_sum`."""
    axis, keep = chosen_axis(axis, reduction_indices), keeps(keepdims, keep_dims)
    return _reduce(Max, input_tensor, axis, keep, name)


@dispatched
def reduce_min(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The smallest element along `axis`. See `reduce_sum`."""
    axis, keep = chosen_axis(axis, reduction_indices), keeps(keepdims, keep_dims)
    return _reduce(Min, input_tensor, axis, keep, name)


@dispatched
def reduce_all(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Whether all elements along `axis` are true. See `reduce_sum`."""
    axis, keep = chosen_axis(axis, reduction_indices), keeps(keepdims, keep_dims)
    return _reduce(All, input_tensor, axis, keep, name)


@dispatched
def reduce_any(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Whether any element along `axis` is true. See `reduce_sum`."""
    axis, keep = chosen_axis(axis, reduction_indices), keeps(keepdims, keep_dims)
    return _reduce(Any, input_tensor, axis, keep, name)


def reduce_euclidean_norm(
    input_tensor: Anything, axis: Anything = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The root of the sum of the squares over `axis`. See `reduce_sum`."""
    return _reduce(EuclideanNorm, input_tensor, axis, bool(keepdims), name)


def argmax(
    input: Anything,
    axis: Anything = None,
    name: str | None = None,
    dimension: Anything = None,
    output_type: Anything = dtypes.int64,
) -> Tensor:
    """The index of the largest element along `axis` (0 by default), of the first of equals."""
    axis = _one_axis(axis, dimension)
    return ArgMax(input, axis, output_type=dtypes.as_dtype_or(output_type, dtypes.int64), name=name)


def argmin(
    input: Anything,
    axis: Anything = None,
    name: str | None = None,
    dimension: Anything = None,
    output_type: Anything = dtypes.int64,
) -> Tensor:
    """The index of the smallest element along `axis` (0 by default), of the first of equals."""
    axis = _one_axis(axis, dimension)
    return ArgMin(input, axis, output_type=dtypes.as_dtype_or(output_type, dtypes.int64), name=name)


def _one_axis(axis: Anything, dimension: Anything) -> Anything:
    if axis is not None and dimension is not None:
        raise ValueError("Cannot specify both 'dimension' and 'axis'.")
    given = dimension if axis is None else axis
    return 0 if given is None else given


def arg_max(
    input: Anything,
    dimension: Anything,
    output_type: Anything = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The index of the largest element along `dimension`; `tf.argmax` does the same."""
    return ArgMax(
        input, dimension, output_type=dtypes.as_dtype_or(output_type, dtypes.int64), name=name
    )


def arg_min(
    input: Anything,
    dimension: Anything,
    output_type: Anything = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The index of the smallest element along `dimension`; `tf.argmin` does the same."""
    return ArgMin(
        input, dimension, output_type=dtypes.as_dtype_or(output_type, dtypes.int64), name=name
    )
