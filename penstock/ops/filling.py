"""Tensors made from numbers: filled with one value, counted up, or one-hot."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from contextlib import suppress
from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import COMPLEX, FLOATING, INDEX, REAL, SIGNED
from penstock.ops.constants import constant
from penstock.ops.shape_checks import asked_shape, check_scalar_input, with_rank
from penstock.ops.shaping import reshape, shape_of
from penstock.shapes import Shape, TensorShape

__all__ = [
    "fill",
    "lin_space",
    "linspace",
    "one_hot",
    "ones",
    "ones_like",
    "range",
    "zeros",
    "zeros_like",
]

Fill = op(
    "Fill(dims: index_type, value: T) -> output: T", index_type=types(INDEX, default=dtypes.int32)
)
Empty = op("Empty(shape: int32) -> output: dtype", STATEFUL, dtype=attr("type"), init=False)
ZerosLike = op("ZerosLike(x: T) -> y: T")
OnesLike = op("OnesLike(x: T) -> y: T", T=types(REAL, COMPLEX, dtypes.bool))
Range = op(
    "Range(start: Tidx, limit: Tidx, delta: Tidx) -> output: Tidx",
    Tidx=types(FLOATING, SIGNED, dtypes.uint16, dtypes.uint32, dtypes.uint64, default=dtypes.int32),
)
LinSpace = op(
    "LinSpace(start: T, stop: T, num: Tidx) -> output: T",
    T=FLOATING,
    Tidx=types(INDEX, default=dtypes.int32),
)
OneHot = op(
    "OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> output: T",
    axis=-1,
    TI=types(dtypes.uint8, dtypes.int8, dtypes.int32, dtypes.int64, default=dtypes.int64),
)

not_differentiable(Empty, ZerosLike, OnesLike, Range, LinSpace, OneHot)

_LARGEST_LITERAL = 1000  # elements: larger tensors of one value are filled in the step


# One value ------------------------------------------------------------------------------------


@Fill.shape
def _(op: Operation, dims: Shape, value: Shape) -> Shape:
    with_rank(dims, 1)
    with_rank(value, 0)
    return _sizes(op.inputs[0])


@Empty.shape
def _(op: Operation, dims: Shape) -> Shape:
    with_rank(dims, 1)
    return _sizes(op.inputs[0])


def _sizes(tensor: Tensor) -> Shape:
    sizes = asked_shape(tensor)
    known = constant_value(tensor)
    if known is not None and known.size and known.min() < 0:
        raise ValueError("Fill dimensions must be >= 0")
    return sizes


@Fill.fold
def _(op: Operation, dims: Any, value: Any) -> Any:
    is_number = np.ndim(value) == 0  # the kernel refuses anything else
    return np.full(dims, value) if is_number and dims.prod() <= _LARGEST_LITERAL else None


@Fill.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.reductions import reduce_sum

    return [None, reduce_sum(grad)]


@ZerosLike.shape
@OnesLike.shape
def _(op: Operation, x: Shape) -> Shape:
    return x


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` that holds the scalar `value` everywhere."""
    return Fill(dims, value, name=name)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of zeros (False, empty strings); `shape` may be a tensor."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "zeros", [shape]) as scope:
        return _filled(shape, _zero(dtype), dtype, scope)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of ones (True); `shape` may be a tensor."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "ones", [shape]) as scope:
        return _filled(shape, _one(dtype), dtype, scope)


def _zero(dtype: DType) -> Any:
    if dtype is dtypes.string:
        return ""
    return False if dtype is dtypes.bool else 0


def _one(dtype: DType) -> Any:
    return True if dtype is dtypes.bool else 1


def _filled(sizes: Any, value: Any, dtype: DType, name: str) -> Tensor:
    """A literal where it is small and its shape a list of numbers; else a Fill."""
    if not isinstance(sizes, Tensor):
        known = _known_sizes(sizes)
        if known is not None and np.ndim(sizes) and math.prod(known) < _LARGEST_LITERAL:
            return constant(value, dtype, shape=known, name=name)
        if known is None:
            _leave_comparison(sizes)
        sizes = _size_vector(sizes if known is None else TensorShape._of(known))
    if not sizes.shape.ndims:
        sizes = reshape(sizes, [-1])
    return fill(sizes, constant(value, dtype), name=name)


def _leave_comparison(sizes: Any) -> None:
    """Adds what TensorFlow leaves behind of asking whether the elements are few.

    It finds out that the answer is a tensor when that is in the graph.
    """
    if isinstance(sizes, (list, tuple)) and any(isinstance(size, Tensor) for size in sizes):
        with suppress(TypeError, ValueError):
            functools.reduce(operator.mul, sizes) < _LARGEST_LITERAL  # noqa: B015


def _known_sizes(sizes: Any) -> tuple[int, ...] | None:
    """The sizes as numbers; None where they hold tensors or are no sizes at all."""
    try:
        known = shapes.raw(sizes)
    except (TypeError, ValueError):
        return None
    return known if shapes.is_full(known) else None  # type: ignore[return-value]


def _size_vector(sizes: Any) -> Tensor:
    if isinstance(sizes, TensorShape):
        return convert_to_tensor(sizes)
    return convert_to_tensor(sizes, dtypes.int32)


@dispatched
def zeros_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """A tensor of zeros with the shape of `tensor`, and its type unless `dtype` is given.

    `optimize=False` makes a node that asks for the shape in the step even if it is known.
    """
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        given = tensor.dtype.base_dtype
        is_known = optimize and tensor.shape.is_fully_defined()
        # Programs pass False, which TensorFlow takes for no type where the shape is known.
        if dtype is None or (dtype is False and is_known):
            wanted = given
        else:
            wanted = dtypes.as_dtype(dtype).base_dtype
        if is_known and wanted is not dtypes.variant:
            return zeros(tensor.shape, wanted, name=scope)
        if wanted is not given and wanted is not dtypes.variant:
            return zeros(shape_of(tensor, optimize=optimize), wanted, name=scope)
        return ZerosLike(tensor, name=scope)


@dispatched
def ones_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """A tensor of ones with the shape of `tensor`, and its type unless `dtype` is given.

    `optimize=False` makes a node that asks for the shape in the step even if it is known.
    """
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        wanted = tensor.dtype if dtype is None else dtypes.as_dtype(dtype)
        return ones(shape_of(tensor, optimize=optimize), wanted, name=scope)


# Sequences ------------------------------------------------------------------------------------


@Range.shape
def _(op: Operation, *bounds: Shape) -> Shape:
    for key, bound in zip(("start", "limit", "delta"), bounds, strict=True):
        if bound:
            raise ValueError(f"Shape must be rank 0 but is rank {len(bound)} for '{key}'")
    values = [_known_number(tensor) for tensor in op.inputs]
    if any(value is None for value in values):
        return (None,)
    return (range_length(*values),)


def _known_number(tensor: Tensor) -> Any:
    """A bound that is known, also where it is one size of a shape that is known in part."""
    value = constant_value(tensor)
    if value is not None:
        return value.item()
    known = constant_shape(tensor) if tensor.dtype.is_integer else None
    return known[0] if known else None


def range_length(start: Any, limit: Any, delta: Any) -> int:
    """How many elements a Range has; ValueError where it would never end."""
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if delta > 0 and start > limit:
        raise ValueError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if delta < 0 and start < limit:
        raise ValueError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if isinstance(delta, int):
        return len(builtins.range(start, limit, delta))
    return math.ceil(abs((limit - start) / delta))


@Range.fold
def _(op: Operation, start: Any, limit: Any, delta: Any) -> Any:
    if not np.issubdtype(start.dtype, np.integer):
        return None
    return np.arange(start, limit, delta)


# The order in which TensorFlow widens the bounds of a range.
_WIDER = (
    dtypes.int32,
    dtypes.int64,
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
)


def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Tensor:
    """The numbers from `start` (0 where only one is given) up to and without `limit`.

    >>> tf.range(3, 18, 3)  # [3, 6, 9, 12, 15]
    """
    from penstock.ops.casts import cast

    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        given = {"start": start, "limit": limit, "delta": delta}
        bounds = [convert_to_tensor(value, dtype, name=key) for key, value in given.items()]
        if dtype is None:
            found = [bound.dtype.base_dtype for bound in bounds]
            if all(entry in _WIDER for entry in found):
                widest = max(found, key=_WIDER.index)
                bounds = [cast(bound, widest) for bound in bounds]
        return Range(*bounds, name=scope)


@LinSpace.shape
def _(op: Operation, start: Shape, stop: Shape, num: Shape) -> Shape:
    for bound in (start, stop, num):
        with_rank(bound, 0)
    count = constant_value(op.inputs[2])
    if count is None:
        return (None,)
    if count <= 0:
        raise ValueError(f"Requires num > 0: {count}")
    return (int(count),)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    """`num` evenly spaced numbers from `start` to `stop`, both included."""
    return LinSpace(start, stop, num, name=name)


lin_space = linspace


# One-hot --------------------------------------------------------------------------------------


@OneHot.shape
def _(op: Operation, indices: Shape, depth: Shape, on: Shape, off: Shape) -> Shape:
    axis = op.attrs["axis"]
    if axis < -1:
        raise ValueError("axis must be >= -1")
    check_scalar_input(depth)
    for scalar in (on, off):
        with_rank(scalar, 0)
    value = constant_value(op.inputs[1])
    if value is not None and value < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {value}"
        )
    if indices is None:
        return None
    if axis > len(indices):
        return None  # TensorFlow refuses it in the step only
    axis = len(indices) if axis == -1 else axis
    return (*indices[:axis], None if value is None else int(value), *indices[axis:])


@dispatched
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """`on_value` (1) at the positions `indices` of a new dimension of size `depth`, else
    `off_value` (0).

    An index outside of [0, depth) gives `off_value` only. The new dimension stands at `axis`, at
    the end by default.
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        given = {
            key: None if value is None else convert_to_tensor(value)
            for key, value in (("on_value", on_value), ("off_value", off_value))
        }
        for key, value in given.items():
            if value is not None and wanted is not None and value.dtype.base_dtype is not wanted:
                raise TypeError(
                    f"dtype {value.dtype.base_dtype} of {key} does not match dtype parameter "
                    f"{wanted}"
                )
        known = [value.dtype.base_dtype for value in given.values() if value is not None]
        filler = known[0] if known else wanted or dtypes.float32
        on, off = (
            convert_to_tensor(default, filler, name=key) if value is None else value
            for key, value, default in (("on_value", on_value, 1), ("off_value", off_value, 0))
        )
        if len(known) == 2 and known[0] is not known[1]:
            raise TypeError(
                f"dtype {known[0]} of on_value does not match dtype {known[1]} of off_value"
            )
        # TensorFlow's graph has values twice: to look at their type above, and for the node.
        return OneHot(
            indices, depth, _with_type(on, filler), _with_type(off, filler), axis=axis, name=scope
        )


def _with_type(value: Any, dtype: DType) -> Any:
    """What is no tensor yet as an array of a type."""
    if hasattr(value, "dtype") or isinstance(value, str | bytes):
        return value
    return np.asarray(value, dtype.as_numpy_dtype)
