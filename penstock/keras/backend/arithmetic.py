"""Element-wise functions, reductions, products, and changes of shape."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

import penstock as tf
from penstock.keras.backend.config import floatx
from penstock.keras.backend.tensors import int_shape, is_sparse, ndim

__all__ = [
    "abs",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "batch_dot",
    "batch_flatten",
    "cast",
    "clip",
    "concatenate",
    "cos",
    "cumprod",
    "cumsum",
    "dot",
    "equal",
    "exp",
    "expand_dims",
    "flatten",
    "foldl",
    "foldr",
    "gather",
    "gradients",
    "greater",
    "greater_equal",
    "identity",
    "less",
    "less_equal",
    "log",
    "logsumexp",
    "map_fn",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "moving_average_update",
    "not_equal",
    "one_hot",
    "permute_dimensions",
    "pow",
    "print_tensor",
    "prod",
    "repeat",
    "repeat_elements",
    "reshape",
    "reverse",
    "round",
    "sign",
    "sin",
    "slice",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stop_gradient",
    "sum",
    "tile",
    "transpose",
    "update",
    "update_add",
    "update_sub",
    "var",
]


def cast(x: Any, dtype: Any) -> Any:
    """A tensor in another type."""
    return tf.cast(x, dtype)


def identity(x: Any, name: str | None = None) -> Any:
    """A tensor with the same content."""
    return tf.identity(x, name=name)


# Updates ----------------------------------------------------------------------------------------


def update(x: Any, new_x: Any) -> Any:
    """The operation that sets a variable."""
    return tf.assign(x, new_x)


def update_add(x: Any, increment: Any) -> Any:
    """The operation that adds to a variable."""
    return tf.assign_add(x, increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """The operation that subtracts from a variable."""
    return tf.assign_sub(x, decrement)


def moving_average_update(x: Any, value: Any, momentum: Any) -> Any:
    """The operation that moves a variable towards a value."""
    from penstock.train.moving_averages import assign_moving_average

    return assign_moving_average(x, value, momentum, zero_debias=True)


# Products ---------------------------------------------------------------------------------------


def dot(x: Any, y: Any) -> Any:
    """The product over the last axis of `x` and the last but one of `y`."""
    if is_sparse(x):
        return tf.sparse_tensor_dense_matmul(x, y)
    x_rank, y_rank = ndim(x), ndim(y)
    if x_rank is not None and (x_rank > 2 or y_rank > 2):
        x_sizes, y_sizes = _sizes(x), _sizes(y)
        axes = list(range(y_rank))
        first = [axes.pop(-2), *axes] if y_rank > 1 else axes
        left = tf.reshape(x, [-1, x_sizes[-1]])
        right = tf.reshape(tf.transpose(y, first), [y_sizes[-2], -1])
        return tf.reshape(tf.matmul(left, right), [*x_sizes[:-1], *y_sizes[:-2], y_sizes[-1]])
    return tf.matmul(x, y)


def _sizes(x: Any) -> list[Any]:
    """The shape with numbers where they are known, tensors elsewhere."""
    known = int_shape(x)
    dynamic = tf.unstack(tf.shape(x)) if None in known else known
    return [d if k is None else k for k, d in zip(known, dynamic, strict=True)]


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """The matrix products of the items of two batches.

    Tensors of rank four and more are batches over all axes but the last two.

    Args:
      axes: which of the last two axes is summed over: one for both, or one for each; by default
        the last of `x` and the last but one of `y`.
    """
    x_rank, y_rank = ndim(x), ndim(y)
    if isinstance(axes, int):
        axes = (axes, axes)
    if axes is None:
        axes = (x_rank - 1, y_rank - 2)
    added = builtins.abs(x_rank - y_rank)
    if x_rank > y_rank:
        y = _with_axes_of_one(y, added)
    elif y_rank > x_rank:
        x = _with_axes_of_one(x, added)
    if ndim(x) == ndim(y) == 2:
        left = x if axes[0] == axes[1] else tf.transpose(x, [1, 0])
        product = tf.reduce_sum(tf.multiply(left, y), axes[1])
    else:
        product = tf.matmul(
            x, y, adjoint_a=axes[0] != ndim(x) - 1, adjoint_b=axes[1] == ndim(y) - 1
        )
    if added:
        first = x_rank + y_rank - 3 if x_rank > y_rank else x_rank - 1
        product = tf.squeeze(product, list(range(first, first + added)))
    return expand_dims(product, 1) if ndim(product) == 1 else product


def _with_axes_of_one(x: Any, count: int) -> Any:
    return tf.reshape(x, tf.concat([tf.shape(x), [1] * count], axis=0))


def transpose(x: Any) -> Any:
    """A tensor with its axes in reverse order."""
    return tf.transpose(x)


def gather(reference: Any, indices: Any) -> Any:
    """The rows of `reference` at `indices`."""
    return tf.gather(reference, indices)


# Reductions -------------------------------------------------------------------------------------


def max(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest value along axes."""
    return tf.reduce_max(x, axis, keepdims)


def min(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest value along axes."""
    return tf.reduce_min(x, axis, keepdims)


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum along axes."""
    return tf.reduce_sum(x, axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product along axes."""
    return tf.reduce_prod(x, axis, keepdims)


def cumsum(x: Any, axis: int = 0) -> Any:
    """Running sums along an axis."""
    return tf.cumsum(x, axis=axis)


def cumprod(x: Any, axis: int = 0) -> Any:
    """Running products along an axis."""
    return tf.cumprod(x, axis=axis)


def _as_number(x: Any) -> Any:
    return tf.cast(x, floatx()) if x.dtype.base_dtype == tf.bool else x


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The variance along axes."""
    return tf.math.reduce_variance(_as_number(x), axis=axis, keepdims=keepdims)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The standard deviation along axes."""
    return tf.math.reduce_std(_as_number(x), axis=axis, keepdims=keepdims)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean along axes."""
    return tf.reduce_mean(_as_number(x), axis, keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether any value along axes is true."""
    return tf.reduce_any(tf.cast(x, tf.bool), axis, keepdims)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all values along axes are true."""
    return tf.reduce_all(tf.cast(x, tf.bool), axis, keepdims)


def argmax(x: Any, axis: int = -1) -> Any:
    """Where the largest value along an axis is."""
    return tf.argmax(x, axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """Where the smallest value along an axis is."""
    return tf.argmin(x, axis)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`log(sum(exp(x)))` along axes."""
    return tf.reduce_logsumexp(x, axis, keepdims)


# Element-wise -----------------------------------------------------------------------------------


def square(x: Any) -> Any:
    """Squares."""
    return tf.square(x)


def abs(x: Any) -> Any:
    """Absolute values."""
    return tf.abs(x)


def sqrt(x: Any) -> Any:
    """Square roots; zero for negative numbers."""
    zero = tf.constant(0.0, x.dtype.base_dtype)
    infinity = tf.constant(np.inf, x.dtype.base_dtype)
    return tf.sqrt(tf.clip_by_value(x, zero, infinity))


def exp(x: Any) -> Any:
    """Exponentials."""
    return tf.exp(x)


def log(x: Any) -> Any:
    """Natural logarithms."""
    return tf.log(x)


def round(x: Any) -> Any:
    """The nearest integers; halves go to even ones."""
    return tf.round(x)


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    return tf.sign(x)


def pow(x: Any, a: Any) -> Any:
    """`x` to the power of `a`."""
    return tf.pow(x, a)


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """Values between two limits; None is no limit."""
    if builtins.all(isinstance(limit, (int, float)) for limit in (min_value, max_value)):
        max_value = builtins.max(min_value, max_value)
    low = -np.inf if min_value is None else min_value
    high = np.inf if max_value is None else max_value
    return tf.clip_by_value(x, low, high)


def equal(x: Any, y: Any) -> Any:
    """Whether values are equal."""
    return tf.equal(x, y)


def not_equal(x: Any, y: Any) -> Any:
    """Whether values differ."""
    return tf.not_equal(x, y)


def greater(x: Any, y: Any) -> Any:
    """Whether `x > y`."""
    return tf.greater(x, y)


def greater_equal(x: Any, y: Any) -> Any:
    """Whether `x >= y`."""
    return tf.greater_equal(x, y)


def less(x: Any, y: Any) -> Any:
    """Whether `x < y`."""
    return tf.less(x, y)


def less_equal(x: Any, y: Any) -> Any:
    """Whether `x <= y`."""
    return tf.less_equal(x, y)


def maximum(x: Any, y: Any) -> Any:
    """The larger of two values."""
    return tf.maximum(x, y)


def minimum(x: Any, y: Any) -> Any:
    """The smaller of two values."""
    return tf.minimum(x, y)


def sin(x: Any) -> Any:
    """Sines."""
    return tf.sin(x)


def cos(x: Any) -> Any:
    """Cosines."""
    return tf.cos(x)


# Shapes -----------------------------------------------------------------------------------------


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Joins tensors along an axis."""
    if axis < 0:
        rank = ndim(tensors[0])
        axis = axis % rank if rank else 0
    if builtins.all(is_sparse(tensor) for tensor in tensors):
        return tf.sparse_concat(axis, tensors)
    return tf.concat([_dense(tensor) for tensor in tensors], axis)


def _dense(tensor: Any) -> Any:
    return tf.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def reshape(x: Any, shape: Any) -> Any:
    """A tensor of another shape with the same values."""
    return tf.reshape(x, shape)


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """A tensor with its axes in another order."""
    return tf.transpose(x, perm=pattern)


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Each slice along an axis `rep` times."""
    sizes = x.shape.as_list()
    if sizes[axis] is not None:
        parts = tf.split(value=x, num_or_size_splits=sizes[axis], axis=axis)
        return concatenate([part for part in parts for _ in range(rep)], axis)
    axis = axis % len(sizes)
    repeats = np.ones(len(sizes) + 1, dtype=np.int32)
    repeats[axis + 1] = rep
    tiled = tf.tile(tf.expand_dims(x, axis + 1), repeats)
    factor = np.ones(len(sizes), dtype=np.int32)
    factor[axis] = rep
    repeated = tf.reshape(tiled, tf.shape(x) * factor)
    repeated.set_shape(sizes)
    return repeated


def repeat(x: Any, n: int) -> Any:
    """A matrix `n` times, along a new axis 1."""
    assert ndim(x) == 2
    return tf.tile(tf.expand_dims(x, 1), tf.stack([1, n, 1]))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """Numbers from `start` to `stop` (excluded); one alone is `stop`, with start 0."""
    if stop is None and isinstance(start, int) and start < 0:
        start = 0
    numbers = tf.range(start, limit=stop, delta=step, name="arange")
    return numbers if dtype == "int32" else tf.cast(numbers, dtype)


def tile(x: Any, n: Any) -> Any:
    """A tensor repeated `n` times along each axis."""
    return tf.tile(x, [n] if isinstance(n, int) else n)


def flatten(x: Any) -> Any:
    """All values along one axis."""
    return tf.reshape(x, [-1])


def batch_flatten(x: Any) -> Any:
    """All values of a batch item along one axis."""
    return tf.reshape(x, tf.stack([-1, prod(tf.shape(x)[1:])]))


def expand_dims(x: Any, axis: int = -1) -> Any:
    """A tensor with a new axis of size 1."""
    return tf.expand_dims(x, axis)


def squeeze(x: Any, axis: int) -> Any:
    """A tensor without an axis of size 1."""
    return tf.squeeze(x, [axis])


def stack(x: Any, axis: int = 0) -> Any:
    """Tensors side by side along a new axis."""
    return tf.stack(x, axis=axis)


def one_hot(indices: Any, num_classes: int) -> Any:
    """A vector for each index that is 1 there and 0 elsewhere."""
    return tf.one_hot(indices, depth=num_classes, axis=-1)


def reverse(x: Any, axes: Any) -> Any:
    """A tensor with its values in reverse order along axes."""
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


def slice(x: Any, start: Any, size: Any) -> Any:
    """A part of a tensor."""
    return tf.slice(x, start, size)


# Others -----------------------------------------------------------------------------------------


def print_tensor(x: Any, message: str = "") -> Any:
    """The tensor, which is printed when it is computed."""
    return tf.Print(x, [x], message)


def gradients(loss: Any, variables: Any) -> Any:
    """The gradients of a loss."""
    return tf.gradients(loss, variables, colocate_gradients_with_ops=True)


def stop_gradient(variables: Any) -> Any:
    """Tensors that count as constants for gradients."""
    if isinstance(variables, (list, tuple)):
        return list(map(tf.stop_gradient, variables))
    return tf.stop_gradient(variables)


def map_fn(fn: Any, elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """`fn` of each element."""
    return tf.map_fn(fn, elems, name=name, dtype=dtype)


def foldl(fn: Any, elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """Combines elements from the left."""
    return tf.foldl(fn, elems, initializer=initializer, name=name)


def foldr(fn: Any, elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """Combines elements from the right."""
    return tf.foldr(fn, elems, initializer=initializer, name=name)
