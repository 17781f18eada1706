"""Reductions: sums, means, products, extremes and truths over axes of a tensor."""

from __future__ import annotations

from typing import Any as Anything

import numpy as np

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX, NUMERIC, QUANTIZED, REAL
from penstock.ops import array
from penstock.ops.constants import constant
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = [
    "arg_max",
    "arg_min",
    "argmax",
    "argmin",
    "count_nonzero",
    "reduce_all",
    "reduce_any",
    "reduce_euclidean_norm",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
]

_AXES: dict[str, Anything] = {"keep_dims": False, "Tidx": types(INDEX, default=dtypes.int32)}

Sum = op("Sum(input: T, reduction_indices: Tidx) -> output: T", T=NUMERIC, **_AXES)
Mean = op("Mean(input: T, reduction_indices: Tidx) -> output: T", T=NUMERIC, **_AXES)
Prod = op("Prod(input: T, reduction_indices: Tidx) -> output: T", T=NUMERIC, **_AXES)
Max = op("Max(input: T, reduction_indices: Tidx) -> output: T", T=types(REAL, QUANTIZED), **_AXES)
Min = op("Min(input: T, reduction_indices: Tidx) -> output: T", T=types(REAL, QUANTIZED), **_AXES)
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
        raise ValueError(f"Invalid reduction dimension {axis} for input with {rank} dimensions")
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
        raise ValueError(f"Dimension ({axis}) must be in the range [{-len(x)}, {len(x)})")
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


# Public functions -----------------------------------------------------------------------------


def _chosen(axis: Anything, reduction_indices: Anything) -> Anything:
    if axis is not None and reduction_indices is not None:
        raise ValueError("Cannot specify both 'axis' and 'reduction_indices'.")
    return reduction_indices if axis is None else axis


def _kept(keepdims: bool | None, keep_dims: bool | None) -> bool:
    if keepdims is not None and keep_dims is not None:
        raise ValueError("Cannot specify both 'keepdims' and 'keep_dims'.")
    return bool(keep_dims if keepdims is None else keepdims)


def every_axis(x: Anything) -> Tensor:
    """All axes of a tensor: a constant where its rank is known."""
    if isinstance(x, Tensor) and x._shape:
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
    axis, keep = _chosen(axis, reduction_indices), _kept(keepdims, keep_dims)
    return _reduce(Sum, input_tensor, axis, keep, name)


def reduce_mean(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The mean over `axis`; of integers, the integer below it in size. See `reduce_sum`."""
    axis, keep = _chosen(axis, reduction_indices), _kept(keepdims, keep_dims)
    return _reduce(Mean, input_tensor, axis, keep, name)


def reduce_prod(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The product over `axis`. See `reduce_sum`."""
    axis, keep = _chosen(axis, reduction_indices), _kept(keepdims, keep_dims)
    return _reduce(Prod, input_tensor, axis, keep, name)


def reduce_max(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The largest element along `axis`. See `reduce_sum`."""
    axis, keep = _chosen(axis, reduction_indices), _kept(keepdims, keep_dims)
    return _reduce(Max, input_tensor, axis, keep, name)


def reduce_min(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The smallest element along `axis`. See `reduce_sum`."""
    axis, keep = _chosen(axis, reduction_indices), _kept(keepdims, keep_dims)
    return _reduce(Min, input_tensor, axis, keep, name)


def reduce_all(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Whether all elements along `axis` are true. See `reduce_sum`."""
    axis, keep = _chosen(axis, reduction_indices), _kept(keepdims, keep_dims)
    return _reduce(All, input_tensor, axis, keep, name)


def reduce_any(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Whether any element along `axis` is true. See `reduce_sum`."""
    axis, keep = _chosen(axis, reduction_indices), _kept(keepdims, keep_dims)
    return _reduce(Any, input_tensor, axis, keep, name)


def reduce_euclidean_norm(
    input_tensor: Anything, axis: Anything = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The root of the sum of the squares over `axis`. See `reduce_sum`."""
    return _reduce(EuclideanNorm, input_tensor, axis, bool(keepdims), name)


def reduce_logsumexp(
    input_tensor: Anything,
    axis: Anything = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """log(sum(exp(x))) over `axis`, without overflow. See `reduce_sum`."""
    from penstock.ops import binary, elementwise

    axis, keep = _chosen(axis, reduction_indices), _kept(keepdims, keep_dims)
    with name_scope(name, "ReduceLogSumExp", [input_tensor]) as scope:
        x = to_tensor(input_tensor)
        largest = reduce_max(x, axis, keepdims=True)
        finite = elementwise.is_finite(largest)
        shift = array.stop_gradient(array.where_v2(finite, largest, 0.0))
        total = reduce_sum(elementwise.exp(binary.subtract(x, shift)), axis, keepdims=keep)
        result = elementwise.log(total)
        if not keep:
            shift = array.reshape(shift, array.shape(result, optimize=False))
        return binary.add(result, shift, name=scope)


def reduce_variance(
    input_tensor: Anything, axis: Anything = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean of the squared distances from the mean over `axis`. See `reduce_sum`."""
    from penstock.ops import casts, elementwise

    with name_scope(name or "reduce_variance", values=[input_tensor]):
        x: Anything = to_tensor(input_tensor)
        if x.dtype.is_integer:
            raise TypeError(f"Input must be either real or complex. Received integer type {x.dtype}.")
        centred = x - reduce_mean(x, axis, keepdims=True)
        if x.dtype.is_complex:
            squared: Anything = casts.real(centred * casts.conj(centred))
        else:
            squared = elementwise.square(centred)
        return reduce_mean(squared, axis, keepdims=keepdims)


def reduce_std(
    input_tensor: Anything, axis: Anything = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The standard deviation over `axis`: the root of the variance. See `reduce_sum`."""
    from penstock.ops import elementwise

    with name_scope(name or "reduce_std", values=[input_tensor]):
        return elementwise.sqrt(reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input_tensor: Anything = None,
    axis: Anything = None,
    keepdims: bool | None = None,
    dtype: Anything = dtypes.int64,
    name: str | None = None,
    reduction_indices: Anything = None,
    keep_dims: bool | None = None,
    input: Anything = None,
) -> Tensor:
    """How many elements along `axis` are not zero (not empty, for strings). See `reduce_sum`."""
    from penstock.ops import casts, comparison

    axis, keep = _chosen(axis, reduction_indices), _kept(keepdims, keep_dims)
    source = input_tensor if input is None else input
    with name_scope(name, "count_nonzero", [source]):
        x = to_tensor(source, name="input")
        if x.dtype.base_dtype is dtypes.bool:
            counted = x
        else:
            counted = comparison.not_equal(x, array.zeros([], dtype=x.dtype))
        total = reduce_sum(casts.cast(counted, dtypes.int64), axis, keepdims=keep)
        return casts.cast(total, dtype)


def argmax(
    input: Anything,
    axis: Anything = None,
    name: str | None = None,
    dimension: Anything = None,
    output_type: Anything = dtypes.int64,
) -> Tensor:
    """The index of the largest element along `axis` (0 by default), of the first of equals."""
    axis = _one_axis(axis, dimension)
    return ArgMax(input, axis, output_type=dtypes.as_dtype(output_type), name=name)


def argmin(
    input: Anything,
    axis: Anything = None,
    name: str | None = None,
    dimension: Anything = None,
    output_type: Anything = dtypes.int64,
) -> Tensor:
    """The index of the smallest element along `axis` (0 by default), of the first of equals."""
    axis = _one_axis(axis, dimension)
    return ArgMin(input, axis, output_type=dtypes.as_dtype(output_type), name=name)


def _one_axis(axis: Anything, dimension: Anything) -> Anything:
    if axis is not None and dimension is not None:
        raise ValueError("Cannot specify both 'axis' and 'dimension'.")
    given = dimension if axis is None else axis
    return 0 if given is None else given


def arg_max(
    input: Anything,
    dimension: Anything,
    output_type: Anything = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The index of the largest element along `dimension`; `tf.argmax` does the same."""
    return ArgMax(input, dimension, output_type=dtypes.as_dtype(output_type), name=name)


def arg_min(
    input: Anything,
    dimension: Anything,
    output_type: Anything = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The index of the smallest element along `dimension`; `tf.argmin` does the same."""
    return ArgMin(input, dimension, output_type=dtypes.as_dtype(output_type), name=name)
