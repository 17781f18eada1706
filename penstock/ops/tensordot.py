"""`tf.tensordot`: sums of products over any axes, as one product of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array, reductions
from penstock.ops.matmul import matmul

__all__ = ["tensordot"]


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Multiplies `a` and `b` and sums over the given axes of both.

    `axes` is a number n (the last n axes of `a` and the first n of `b`), or a pair of axes or of
    lists of axes.
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a = to_tensor(a, name="a")
        b = to_tensor(b, name="b")
        axes_a, axes_b = _axes_of_both(a, axes)
        matrix_a, free_a, static_a = _as_matrix(a, axes_a, summed_first=False)
        matrix_b, free_b, static_b = _as_matrix(b, axes_b, summed_first=True)
        product = matmul(matrix_a, matrix_b)
        if isinstance(free_a, list) and isinstance(free_b, list):
            return array.reshape(product, free_a + free_b, name=scope)
        sizes_a = to_tensor(free_a, dtype=dtypes.int32)
        sizes_b = to_tensor(free_b, dtype=dtypes.int32)
        result = array.reshape(product, array.concat([sizes_a, sizes_b], 0), name=scope)
        if static_a is not None and static_b is not None:
            result.set_shape(static_a + static_b)
        return result


def _axes_of_both(a: Tensor, axes: Any) -> tuple[Any, Any]:
    if isinstance(axes, (int, np.integer)) and not isinstance(axes, bool):
        return _last_axes(a, int(axes)), list(range(int(axes)))
    if isinstance(axes, (list, tuple, np.ndarray)):
        if len(axes) != 2:
            raise ValueError(f"'axes' must be an integer or have length 2, got {axes}")
        axes_a, axes_b = (_axis_list(entry) for entry in axes)
        if len(axes_a) != len(axes_b):
            raise ValueError(
                f"Different number of contraction axes 'a' and 'b', {len(axes_a)} != {len(axes_b)}."
            )
        return axes_a, axes_b
    axes = to_tensor(axes, dtype=dtypes.int32, name="axes")
    return axes[0], axes[1]


def _last_axes(a: Tensor, count: int) -> Any:
    if count < 0:
        raise ValueError("'axes' must be at least 0.")
    if a._shape is not None:
        if count > len(a._shape):
            raise ValueError(
                f"'axes' must not be larger than the number of dimensions of tensor {a}."
            )
        return list(range(len(a._shape) - count, len(a._shape)))
    rank: Any = array.rank(a)
    return array.range(rank - count, rank, dtype=dtypes.int32)


def _axis_list(entry: Any) -> list[int]:
    return [int(entry)] if np.ndim(entry) == 0 else [int(axis) for axis in entry]


def _as_matrix(x: Tensor, axes: Any, summed_first: bool) -> tuple[Tensor, Any, Any]:
    """`x` as a matrix of free by summed axes, or the other way round.

    Returns also the sizes of the free axes, a list or a tensor, and as far as they are known.
    """
    if isinstance(axes, list) and shapes.is_full(x._shape):
        return _as_matrix_static(x, axes, summed_first)
    if x._shape is not None and isinstance(axes, list):
        axes = [axis % len(x._shape) for axis in axes]
        free: Any = [axis for axis in range(len(x._shape)) if axis not in axes]
        static = [x._shape[axis] for axis in free]
        axes = to_tensor(axes, dtype=dtypes.int32, name="axes")
        free = to_tensor(free, dtype=dtypes.int32, name="free")
        sizes = array.shape(x)
    else:
        static = None
        sizes = array.shape(x)
        rank: Any = array.rank(x)
        axes = to_tensor(axes, dtype=dtypes.int32, name="axes")
        axes = array.where(axes >= 0, axes, axes + rank)
        free, _ = array.setdiff1d(array.range(rank), axes)
    free_sizes, summed_sizes = array.gather(sizes, free), array.gather(sizes, axes)
    free_count = reductions.reduce_prod(free_sizes)
    summed_count = reductions.reduce_prod(summed_sizes)
    if summed_first:
        order = array.concat([axes, free], 0)
        matrix_sizes = array.stack([summed_count, free_count])
    else:
        order = array.concat([free, axes], 0)
        matrix_sizes = array.stack([free_count, summed_count])
    matrix = array.reshape(array.transpose(x, order), matrix_sizes)
    return matrix, free_sizes, static


def _as_matrix_static(x: Any, axes: list[int], summed_first: bool) -> tuple[Tensor, Any, Any]:
    sizes = list(x._shape)
    axes = [axis % len(sizes) if sizes else axis for axis in axes]
    free = [axis for axis in range(len(sizes)) if axis not in axes]
    free_sizes = [sizes[axis] for axis in free]
    counts = [math.prod(free_sizes), math.prod(sizes[axis] for axis in axes)]
    order = axes + free if summed_first else free + axes
    if summed_first:
        counts.reverse()
    return array.reshape(array.transpose(x, order), counts), free_sizes, free_sizes
