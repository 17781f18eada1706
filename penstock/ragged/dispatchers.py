"""Which of TensorFlow's functions take ragged tensors, and what they do with them.

The functions themselves know nothing of ragged tensors: they refuse them, and are answered for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.dispatch import OpDispatcher
from penstock.ops.decoding import decode_compressed
from penstock.ops.shaping import renamed_argument
from penstock.ragged import arrays, gathering, reductions, selection, string_functions
from penstock.ragged.broadcasts import broadcast_dynamic_shape, broadcast_to
from penstock.ragged.concatenation import concat, stack
from penstock.ragged.conversion import (
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from penstock.ragged.dynamic_shape import RaggedTensorDynamicShape
from penstock.ragged.flat_values import map_flat_values

Function = Callable[..., Any]


def _is_convertible(value: Any) -> bool:
    """Whether a tensor can be made of a value, as far as a call with it may go on."""
    if value is None or isinstance(value, (tf.Tensor, tf.Variable, np.ndarray, int, float, str)):
        return True
    if isinstance(value, tf.SparseTensor):
        return False
    try:
        tf.convert_to_tensor(value)
    except (TypeError, ValueError):
        return False
    return True


class _OfElements(OpDispatcher):
    """A function of one tensor, element by element."""

    def __init__(self, function: Function):
        self._function = function
        self._first = next(iter(inspect.signature(function).parameters))

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        rest = dict(kwargs)
        x, others = (args[0], args[1:]) if args else (self._argument(rest), ())
        if not is_ragged(x):
            return self.NOT_SUPPORTED
        ragged = convert_to_tensor_or_ragged_tensor(x)
        return ragged.with_flat_values(self._function(ragged.flat_values, *others, **rest))

    def _argument(self, kwargs: dict[str, Any]) -> Any:
        """The argument by its name; some have an older one, and a newer one is `input`."""
        for name in (self._first, "input"):
            if name in kwargs:
                return kwargs.pop(name)
        return None


class _OfLists(OpDispatcher):
    """A function of a list of tensors, element by element."""

    def __init__(self, function: Function):
        self._function = function
        self._first = next(iter(inspect.signature(function).parameters))

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        rest = dict(kwargs)
        values, others = (args[0], args[1:]) if args else (rest.pop(self._first, None), ())
        if not isinstance(values, (list, tuple)) or not any(is_ragged(each) for each in values):
            return self.NOT_SUPPORTED
        if not all(is_ragged(each) or _is_convertible(each) for each in values):
            return self.NOT_SUPPORTED
        matched = match_row_splits_dtypes(*values)
        return map_flat_values(self._function, list(matched), *others, **rest)


class _OfPairs(OpDispatcher):
    """A function of two tensors, element by element, which are stretched to a common shape."""

    def __init__(self, function: Function):
        self._function = function
        self._names = list(inspect.signature(function).parameters)[:2]

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        rest = dict(kwargs)
        pair = list(args[:2]) + [rest.pop(name, None) for name in self._names[len(args) :]]
        x, y = pair
        if not (is_ragged(x) or is_ragged(y)):
            return self.NOT_SUPPORTED
        try:
            x = convert_to_tensor_or_ragged_tensor(
                x, name=self._names[0], preferred_dtype=getattr(y, "dtype", None)
            )
            y = convert_to_tensor_or_ragged_tensor(y, name=self._names[1], preferred_dtype=x.dtype)
        except (TypeError, ValueError):
            return self.NOT_SUPPORTED
        x, y = self._stretched(x, y)
        values = _compared_at_run_time(
            *(each.flat_values if is_ragged(each) else each for each in (x, y))
        )
        result = self._function(*values, *args[2:], **rest)
        return (x if is_ragged(x) else y).with_flat_values(result)

    @staticmethod
    def _stretched(x: Any, y: Any) -> tuple[Any, Any]:
        x, y = match_row_splits_dtypes(x, y)
        one, other = (x, y) if is_ragged(x) else (y, x)
        if not is_ragged(other) and not _needs_rows(one, other):
            return x, y
        shape = broadcast_dynamic_shape(*_shapes(x, y))
        return (
            broadcast_to(x, shape, broadcast_inner_dimensions=False),
            broadcast_to(y, shape, broadcast_inner_dimensions=False),
        )


def _shapes(x: Any, y: Any) -> list[RaggedTensorDynamicShape]:
    """The shapes of both, with sizes of the type of the ragged one's row splits."""
    shapes = [RaggedTensorDynamicShape.from_tensor(each) for each in (x, y)]
    wanted = next(
        shape.dim_size_dtype for shape, each in zip(shapes, (x, y), strict=True) if is_ragged(each)
    )
    return [shape.with_dim_size_dtype(wanted) for shape in shapes]


def _compared_at_run_time(x: Any, y: Any) -> list[Any]:
    """The elements of two tensors; that their rows differ is an error of the run, as elsewhere."""
    if x.shape.ndims and x.shape.ndims == y.shape.ndims:
        sizes = {x.shape.as_list()[0], y.shape.as_list()[0]} - {None}
        if len(sizes) > 1:
            return [_with_any_rows(x), _with_any_rows(y)]
    return [x, y]


def _with_any_rows(values: Any) -> Any:
    """The same values, of which the graph doesn't know how many rows they have."""
    return tf.placeholder_with_default(values, tf.TensorShape([None]).concatenate(values.shape[1:]))


def _needs_rows(ragged: Any, dense: Any) -> bool:
    """Whether a dense tensor has dimensions that meet the ragged ones."""
    flat_rank, dense_rank = ragged.flat_values.shape.ndims, dense.shape.ndims
    if dense_rank == 0:
        return False
    return flat_rank is None or dense_rank is None or flat_rank <= dense_rank


class _ByAnother(OpDispatcher):
    """A function that another one stands in for, where certain arguments are ragged."""

    def __init__(self, original: Function, replacement: Function, names: Sequence[str]):
        self._replacement = replacement
        self._signature = inspect.signature(original)
        self._names = names

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            given = self._signature.bind(*args, **kwargs).arguments
        except TypeError:
            return self.NOT_SUPPORTED
        found = False
        for name in self._names:
            value: Any = given.get(name.strip("[]"))
            if name.startswith("[") and not isinstance(value, (list, tuple)):
                return self.NOT_SUPPORTED
            for each in value if name.startswith("[") else [value]:
                if is_ragged(each):
                    found = True
                elif not _is_convertible(each):
                    return self.NOT_SUPPORTED
        return self._replacement(*args, **kwargs) if found else self.NOT_SUPPORTED


# Replacements with the arguments of the functions of 1.x --------------------------------------


def _expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    return arrays.expand_dims(input, axis if dim is None else dim, name)


def _gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = 0,
    batch_dims: int = 0,
) -> Any:
    return gathering.gather(params, indices, validate_indices, axis, batch_dims, name)


def _gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    return gathering.gather_nd(params, indices, batch_dims, name)


def _size(input: Any, name: str | None = None, out_type: Any = tf.int32) -> Any:
    return arrays.size(input, out_type, name)


def _squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Any:
    axis = renamed_argument("axis", axis, "squeeze_dims", squeeze_dims)
    return selection.squeeze(input, axis, name)


def _dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    result = arrays.stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [result[i] for i in range(num_partitions)]


def _reduction(function: Function) -> Function:
    """A reduction with the older names of its arguments, too."""

    def reduced(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:
        axis = renamed_argument("axis", axis, "reduction_indices", reduction_indices)
        keepdims = renamed_argument("keepdims", keepdims, "keep_dims", keep_dims)
        return function(input_tensor, axis, keepdims, name)

    return reduced


def _reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Any:
    axis = renamed_argument("axis", axis, "reduction_indices", reduction_indices)
    keepdims = renamed_argument("keepdims", keepdims, "keep_dims", keep_dims)
    return string_functions.reduce_join(inputs, axis, keepdims, separator, name)


ELEMENTWISE: tuple[Function, ...] = (
    *(tf.check_numerics, tf.identity, tf.ones_like, tf.zeros_like, tf.clip_by_value),
    *(tf.bitwise.invert, tf.abs, tf.acos, tf.acosh, tf.angle, tf.asin, tf.asinh, tf.atan, tf.atanh),
    *(tf.cast, tf.ceil, tf.conj, tf.cos, tf.cosh, tf.digamma, tf.erf, tf.erfc, tf.exp, tf.expm1),
    *(tf.floor, tf.imag, tf.is_finite, tf.is_inf, tf.is_nan, tf.lgamma, tf.log, tf.log1p),
    *(tf.log_sigmoid, tf.logical_not, tf.negative, tf.real, tf.reciprocal, tf.rint, tf.round),
    *(tf.rsqrt, tf.saturate_cast, tf.sign, tf.sin, tf.sinh, tf.sqrt, tf.square, tf.tan),
    *(decode_compressed, tf.string_to_number, tf.string_to_hash_bucket, tf.as_string),
    *(tf.decode_base64, tf.encode_base64, tf.strings.regex_full_match, tf.regex_replace),
    *(tf.string_strip, tf.string_to_hash_bucket_fast, tf.string_to_hash_bucket_strong, tf.substr),
    *(tf.strings.length, tf.strings.unicode_script),
)

LISTS: tuple[Function, ...] = (tf.add_n, tf.string_join)

PAIRS: tuple[Function, ...] = (
    *(tf.bitwise.bitwise_and, tf.bitwise.bitwise_or, tf.bitwise.bitwise_xor),
    *(tf.bitwise.left_shift, tf.bitwise.right_shift, tf.add, tf.atan2, tf.complex, tf.div_no_nan),
    *(tf.divide, tf.equal, tf.floordiv, tf.floormod, tf.greater, tf.greater_equal, tf.less),
    *(tf.less_equal, tf.logical_and, tf.logical_or, tf.logical_xor, tf.maximum, tf.minimum),
    *(tf.multiply, tf.not_equal, tf.pow, tf.realdiv, tf.squared_difference, tf.subtract),
    *(tf.truediv, tf.truncatediv, tf.truncatemod),
)

REPLACED: tuple[tuple[Function, Function, tuple[str, ...]], ...] = (
    (tf.batch_gather, gathering.batch_gather, ("params", "indices")),
    (tf.concat, concat, ("[values]",)),
    (tf.expand_dims, _expand_dims, ("input",)),
    (tf.gather, _gather, ("params", "indices")),
    (tf.gather_nd, _gather_nd, ("params", "indices")),
    (tf.one_hot, arrays.ragged_one_hot, ("indices",)),
    (tf.rank, arrays.rank, ("input",)),
    (tf.size, _size, ("input",)),
    (tf.squeeze, _squeeze, ("input",)),
    (tf.stack, stack, ("[values]",)),
    (tf.tile, arrays.tile, ("input",)),
    (tf.where, selection.where, ("condition", "x", "y")),
    (tf.dynamic_partition, _dynamic_partition, ("data", "partitions")),
    (tf.unsorted_segment_sum, reductions.segment_sum, ("data", "segment_ids")),
    (tf.unsorted_segment_prod, reductions.segment_prod, ("data", "segment_ids")),
    (tf.unsorted_segment_min, reductions.segment_min, ("data", "segment_ids")),
    (tf.unsorted_segment_max, reductions.segment_max, ("data", "segment_ids")),
    (tf.unsorted_segment_mean, reductions.segment_mean, ("data", "segment_ids")),
    (tf.unsorted_segment_sqrt_n, reductions.segment_sqrt_n, ("data", "segment_ids")),
    (tf.reduce_join, _reduce_join, ("inputs",)),
    (tf.reduce_sum, _reduction(reductions.reduce_sum), ("input_tensor",)),
    (tf.reduce_prod, _reduction(reductions.reduce_prod), ("input_tensor",)),
    (tf.reduce_min, _reduction(reductions.reduce_min), ("input_tensor",)),
    (tf.reduce_max, _reduction(reductions.reduce_max), ("input_tensor",)),
    (tf.reduce_mean, _reduction(reductions.reduce_mean), ("input_tensor",)),
    (tf.reduce_any, _reduction(reductions.reduce_any), ("input_tensor",)),
    (tf.reduce_all, _reduction(reductions.reduce_all), ("input_tensor",)),
)

for _function in ELEMENTWISE:
    _OfElements(_function).register(_function)
for _function in LISTS:
    _OfLists(_function).register(_function)
for _function in PAIRS:
    _OfPairs(_function).register(_function)
for _function, _replacement, _arguments in REPLACED:
    _ByAnother(_function, _replacement, _arguments).register(_function)
