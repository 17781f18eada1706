"""Constants and placeholders: where values enter the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.ir.convert import register_tensor_conversion_function
from penstock.ir.defaults import executing_eagerly
from penstock.ir.registry import not_differentiable, op
from penstock.ir.signature import attr
from penstock.ir.tensor import Tensor
from penstock.ops import eager_literals
from penstock.ops.literals import to_array

__all__ = ["constant", "placeholder", "placeholder_with_default"]

Const = op("Const() -> output: dtype", value=attr("tensor"), dtype=attr("type"))
Placeholder = op("Placeholder() -> output: dtype", dtype=attr("type"), shape=attr("shape", None))
PlaceholderV2 = op("PlaceholderV2() -> output: dtype", dtype=attr("type"), shape=attr("shape"))
_LAST_WITHOUT_UNKNOWN_SHAPES = 21  # version of GraphDefs
PlaceholderWithDefault = op(
    "PlaceholderWithDefault(input: dtype) -> output: dtype", shape=attr("shape")
)
not_differentiable(Const, Placeholder, PlaceholderV2)


@Const.shape
def _(op):
    return op.attrs["value"].shape


@Const.fold
def _(op):
    return op.attrs["value"]


@Placeholder.shape
def _(op):
    shape = op.attrs["shape"]
    if shape == () and op.graph.graph_def_versions.producer <= _LAST_WITHOUT_UNKNOWN_SHAPES:
        return None  # written by a program that had no other word for it
    return shape


@PlaceholderV2.shape
def _(op):
    return op.attrs["shape"]


@PlaceholderWithDefault.shape
def _(op, default):
    shapes.merge(default, op.attrs["shape"])
    return op.attrs["shape"]


@PlaceholderWithDefault.gradient
def _(op, grad):
    return grad


def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A tensor that holds `value`; a shorter value is repeated at the end to fill `shape`."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    if isinstance(value, Tensor) and value._op.graph.is_eager:
        return _of_value_there(value, wanted, shape, name, verify_shape)
    if executing_eagerly():
        array, array_type = _array_now(value, wanted, shape)
    else:
        array, array_type = to_array(value, wanted)
    if shape is not None:
        array = filled(array, shapes.raw(shape), verify_shape)
    return Const(value=array, dtype=array_type, name=name)


def _array_now(
    value: Any, wanted: dtypes.DType | None, shape: Any
) -> tuple[np.ndarray, dtypes.DType]:
    """The array of a constant in eager mode, whose size a shape must have."""
    try:
        array, dtype = to_array(*eager_literals.read_sequence(value, wanted))
    except (TypeError, ValueError, OverflowError) as error:
        raise eager_literals.refusal(value, wanted, error) from None
    if shape is not None and array.size != 1:
        _check_size(array.size, shapes.raw(shape))
    return array, dtype


def _check_size(size: int | None, shape: Any) -> None:
    """Refuses a shape that eager mode would have to fill up."""
    if shapes.num_elements(shape) != size:
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape (value has {size} elements, "
            f"shape is {shape} with {shapes.num_elements(shape)} elements)."
        )


def _of_value_there(
    tensor: Any, wanted: dtypes.DType | None, shape: Any, name: str, verify_shape: bool
) -> Tensor:
    """A constant of an eager tensor: the tensor itself, in `shape`; in a graph, of its value."""
    if not executing_eagerly():
        return constant(tensor.numpy(), wanted, shape, name, verify_shape)
    if wanted is not None and wanted is not tensor.dtype:
        raise TypeError(f"Expected tensor with type {wanted!r} not {tensor.dtype!r}")
    size, full = shapes.num_elements(tensor._shape), shapes.raw(shape)
    if shape is None or full == tensor._shape:
        return tensor
    if verify_shape:
        raise TypeError(f"Expected Tensor's shape: {full}, got {tensor._shape}.")
    if size != 1:
        _check_size(size, full)
    return constant(filled(tensor.numpy(), full, verify_shape), tensor.dtype, name=name)


def filled(array: np.ndarray, shape: Any, verify_shape: bool) -> np.ndarray:
    """The array in a shape of at least its size: its last element fills what is left."""
    if not shapes.is_full(shape):
        raise ValueError(f"a constant's shape must be fully known, got {shapes.text(shape)}")
    if array.shape == shape:
        return array
    if verify_shape:
        raise TypeError(f"Expected Tensor's shape: {shape}, got {array.shape}.")
    if array.ndim == 0:
        # One value of which the shape is a view: it is written to files as one value, too.
        return np.broadcast_to(array, shape)
    count = int(np.prod(shape, dtype=np.int64))
    if array.size > count:
        raise ValueError(
            f"Too many elements provided. Needed at most {count}, but received {array.size}"
        )
    if array.size == count:
        return array.reshape(shape)
    if array.size == 0:
        nothing = b"" if array.dtype.hasobject else 0
        return np.broadcast_to(np.asarray(nothing, array.dtype), shape)
    flat = array.reshape(-1)
    longer = np.full(count, flat[-1], dtype=array.dtype)
    longer[: array.size] = flat
    return longer.reshape(shape)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor that must be fed: `sess.run(y, feed_dict={x: value})`.

    >>> x = tf.placeholder(tf.float32, [None, 784])
    """
    if executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return Placeholder(dtype=dtypes.as_dtype(dtype), shape=shapes.raw(shape), name=name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """A tensor that has the value `input` unless it is fed."""
    return PlaceholderWithDefault(input, shape=shapes.raw(shape), name=name)


def _constant_conversion(value, dtype=None, name=None, as_ref=False):
    # An op that needs a mutable tensor refuses the constant itself, by its own name.
    return constant(value, dtype, name=name or "Const")


def _shape_conversion(value, dtype=None, name=None, as_ref=False):
    dims = shapes.raw(value)
    if dims is None or not shapes.is_full(dims):
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    too_large = next((size for size in dims if size is not None and size >= 2**31), None)
    if dtype is None:
        dtype = dtypes.int32 if too_large is None else dtypes.int64
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    elif dtype is dtypes.int32 and too_large is not None:
        raise ValueError(
            f"Cannot convert a TensorShape to dtype int32; a dimension is too large ({too_large})"
        )
    return constant(list(dims), dtype, name=name or "shape_as_tensor")


def _dimension_conversion(value, dtype=None, name=None, as_ref=False):
    if value.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    return constant(value.value, dtype or dtypes.int32, name=name or "shape_as_tensor")


register_tensor_conversion_function(object, _constant_conversion, 200)
register_tensor_conversion_function(shapes.TensorShape, _shape_conversion, 100)
register_tensor_conversion_function(shapes.Dimension, _dimension_conversion, 100)
