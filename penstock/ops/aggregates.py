"""Reductions made of several ops: variance, log-sum-exp, counts, norms, traces."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array, binary, casts, comparison, elementwise
from penstock.ops.reductions import chosen_axis, keeps, reduce_max, reduce_mean, reduce_sum

__all__ = [
    "count_nonzero",
    "norm",
    "reduce_logsumexp",
    "reduce_std",
    "reduce_variance",
    "trace",
]


def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """log(sum(exp(x))) over `axis`, without overflow. See `reduce_sum`."""
    axis, keep = chosen_axis(axis, reduction_indices), keeps(keepdims, keep_dims)
    x = to_tensor(input_tensor)
    with name_scope(name, "ReduceLogSumExp", [x]):
        largest = reduce_max(x, axis, keepdims=True)
        finite = elementwise.is_finite(largest)
        shift = array.stop_gradient(array.where(finite, largest, array.zeros_like(largest)))
        total = reduce_sum(elementwise.exp(binary.subtract(x, shift)), axis, keepdims=keep)
        result = elementwise.log(total)
        if not keep:
            shift = array.reshape(shift, array.shape(result))
        return binary.Add(result, shift)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean of the squared differences from the mean over `axis`. See `reduce_sum`."""
    with name_scope(name or "reduce_variance", values=[input_tensor]):
        x: Any = to_tensor(input_tensor)
        centred = x - reduce_mean(x, axis, keepdims=True)
        return reduce_mean(elementwise.square(centred), axis, keepdims=keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The standard deviation over `axis`: the root of the variance. See `reduce_sum`."""
    with name_scope(name or "reduce_std", values=[input_tensor]):
        return elementwise.sqrt(reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
    input: Any = None,
) -> Tensor:
    """How many elements along `axis` are not zero (not empty, for strings). See `reduce_sum`."""
    axis, keep = chosen_axis(axis, reduction_indices), keeps(keepdims, keep_dims)
    source = input_tensor if input is None else input
    with name_scope(name, "count_nonzero", [source]):
        x = to_tensor(source, name="input")
        counted = comparison.not_equal(x, array.zeros([], dtype=x.dtype))
        total = reduce_sum(casts.cast(counted, dtypes.int64), axis, keepdims=keep)
        return casts.cast(total, dtype)


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the main diagonal of each innermost matrix."""
    with name_scope(name, "Trace", [x]) as scope:
        x = to_tensor(x, name="x")
        return reduce_sum(array.matrix_diag_part(x), [-1], name=scope)


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors (`axis` is one axis, or None for all elements) or matrices (two axes).

    `ord` is "euclidean" or "fro", or p for the p-norm: any positive number for vectors, 1, 2 or
    `np.inf` for matrices.
    """
    keep = keeps(keepdims, keep_dims)
    axes = _norm_axes(axis)
    of_matrices = axes is not None and len(axes) == 2
    _check_order(ord, of_matrices)
    with name_scope(name, "norm", [tensor]):
        x = to_tensor(tensor)
        if ord in ("fro", "euclidean") or (ord in (2, 2.0) and not of_matrices):
            result = elementwise.sqrt(_sum_of_squares(x, axes))
        elif of_matrices and ord == 2:
            assert axes is not None
            result = _largest_singular_value(x, axes)
        elif of_matrices:
            assert axes is not None
            result = _matrix_norm(elementwise.abs(x), ord, axes)
        else:
            result = _vector_norm(elementwise.abs(x), ord, axes)
        return result if keep else array.squeeze(result, axes)


def _norm_axes(axis: Any) -> list[int] | None:
    if axis is None:
        return None
    is_pair = isinstance(axis, (list, tuple))
    try:
        axes = [int(entry) for entry in axis] if is_pair else [int(axis)]
    except (TypeError, ValueError):
        axes = []
    if len(set(axes)) != len(axes) or len(axes) != (2 if is_pair else 1):
        raise ValueError(
            f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis!r}"
        )
    return axes


def _check_order(ord: Any, of_matrices: bool) -> None:
    if of_matrices:
        allowed = ["euclidean", "fro", 1, 2, np.inf]
        if ord not in allowed:
            raise ValueError(f"'ord' must be a supported matrix norm in {allowed}, got {ord}")
    elif ord != "euclidean" and (isinstance(ord, str) or not (np.isreal(ord) and ord > 0)):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")


def _sum_of_squares(x: Any, axes: list[int] | None) -> Any:
    squares = x * casts.conj(x)
    return casts.cast(reduce_sum(squares, axes, keepdims=True), squares.dtype.real_dtype)


def _vector_norm(length: Any, ord: Any, axes: list[int] | None) -> Any:
    if ord == np.inf:
        return reduce_max(length, axes, keepdims=True)
    if ord == 1:
        return reduce_sum(length, axes, keepdims=True)
    return binary.pow(reduce_sum(binary.pow(length, ord), axes, keepdims=True), 1.0 / ord)


def _matrix_norm(length: Any, ord: Any, axes: list[int]) -> Any:
    first, second = axes if ord == 1 else axes[::-1]
    return reduce_max(reduce_sum(length, first, keepdims=True), second, keepdims=True)


def _largest_singular_value(x: Any, axes: list[int]) -> Any:
    """The largest singular value of the matrices along two axes, which stay, of size 1."""
    from penstock.ops.spectral_decompositions import svd

    rank = array.rank(x) if x.shape.ndims is None else x.shape.ndims
    inner = [axis if axis >= 0 else axis + rank for axis in axes]
    outer = array.setdiff1d(array.range(rank), inner)[0]
    matrices_last = array.concat([outer, inner], 0)
    singular_values = svd(array.transpose(x, matrices_last), compute_uv=False)
    largest = array.expand_dims(reduce_max(singular_values, [-1], keepdims=True), -1)
    return array.transpose(largest, array.invert_permutation(matrices_last))
