"""Shapes as tensors, and tensors in other shapes."""

from __future__ import annotations

import math
from typing import Any

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.constants import constant_value, reads_shapes_only
from penstock.ir.convert import convert_to_tensor
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import (
    ALIASES,
    RESHAPES,
    SAME_IF_SAME_SHAPE,
    attr,
    not_differentiable,
    op,
    types,
)
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.constants import constant
from penstock.ops.shape_checks import asked_shape, merge_shapes, with_rank
from penstock.shapes import Shape as RawShape

__all__ = [
    "ensure_shape",
    "expand_dims",
    "rank",
    "reshape",
    "shape",
    "shape_n",
    "size",
    "squeeze",
]

Shape = op("Shape(input: T) -> output: out_type", out_type=types(INDEX, default=dtypes.int32))
ShapeN = op("ShapeN(input: N*T) -> output: N*out_type", out_type=types(INDEX, default=dtypes.int32))
Size = op("Size(input: T) -> output: out_type", out_type=types(INDEX, default=dtypes.int32))
Rank = op("Rank(input: T) -> output: int32")
Reshape = op(
    "Reshape(tensor: T, shape: Tshape) -> output: T",
    ALIASES,
    RESHAPES,
    SAME_IF_SAME_SHAPE,
    Tshape=types(INDEX, default=dtypes.int32),
)
ExpandDims = op(
    "ExpandDims(input: T, dim: Tdim) -> output: T",
    ALIASES,
    RESHAPES,
    Tdim=types(INDEX, default=dtypes.int32),
)
Squeeze = op(
    "Squeeze(input: T) -> output: T",
    ALIASES,
    RESHAPES,
    SAME_IF_SAME_SHAPE,
    squeeze_dims=attr("list(int)", [], minimum=0),
)
EnsureShape = op("EnsureShape(input: T) -> output: T", SAME_IF_SAME_SHAPE, shape=attr("shape"))

not_differentiable(Shape, ShapeN, Size, Rank)


# Shapes as tensors ----------------------------------------------------------------------------


@Shape.shape
def _(op: Operation, x: RawShape) -> RawShape:
    return (None,) if x is None else (len(x),)


@ShapeN.shape
def _(op: Operation, *xs: RawShape) -> list[RawShape]:
    return [(None,) if x is None else (len(x),) for x in xs]


@Size.shape
@Rank.shape
def _(op: Operation, x: RawShape) -> RawShape:
    return ()


@Shape.fold
@reads_shapes_only
def _(op: Operation) -> Any:
    x = op.inputs[0]._shape
    return x if shapes.is_full(x) else None


@ShapeN.fold
@reads_shapes_only
def _(op: Operation) -> Any:
    found = [x._shape for x in op.inputs]
    return found if all(shapes.is_full(x) for x in found) else None


@Size.fold
@reads_shapes_only
def _(op: Operation) -> Any:
    return shapes.num_elements(op.inputs[0]._shape)


@Rank.fold
@reads_shapes_only
def _(op: Operation) -> Any:
    return op.inputs[0]._rank()


def shape(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The shape of a tensor in a step, as a 1-D tensor; a constant where it is known already.

    `x.shape` is the static shape, known while building.
    """
    return shape_of(input, name, dtypes.as_dtype_or(out_type, dtypes.int32))


def shape_of(
    input: Any, name: str | None = None, out_type: DType = dtypes.int32, *, optimize: bool = True
) -> Tensor:
    """`shape` that may be told to ask at run time even for what is known (`optimize=False`)."""
    with name_scope(name, "Shape", [input]) as scope:
        given = _sparse_shape(input)
        if given is not None:
            from penstock.ops.casts import cast

            return cast(given, out_type)
        tensor = convert_to_tensor(input)
        if optimize and shapes.is_full(tensor._shape):
            return constant(list(tensor._shape or ()), out_type, name=scope)
        return Shape(tensor, out_type=out_type, name=scope)


def _sparse_shape(value: Any) -> Tensor | None:
    """The dense shape of a sparse tensor; None for any other value."""
    from penstock.ir.composite import SparseTensor, SparseTensorValue

    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return convert_to_tensor(value.dense_shape)
    return None


def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors of one type."""
    return ShapeN(input, out_type=dtypes.as_dtype_or(out_type, dtypes.int32), name=name)


@dispatched
def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The number of elements of a tensor, as a scalar."""
    out_type = dtypes.as_dtype_or(out_type, dtypes.int32)
    with name_scope(name, "Size", [input]) as scope:
        given = _sparse_shape(input)
        if given is not None:
            from penstock.ops.casts import cast
            from penstock.ops.reductions import reduce_prod

            return reduce_prod(cast(given, out_type), 0, name=scope)
        tensor = convert_to_tensor(input)
        count = 0 if 0 in (tensor._shape or ()) else shapes.num_elements(tensor._shape)
        if count is not None:
            return constant(count, out_type, name=scope)
        return Size(tensor, out_type=out_type, name=scope)


@dispatched
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dimensions of a tensor, as a scalar."""
    with name_scope(name, "Rank", [input]) as scope:
        given = _sparse_shape(input)
        if given is not None:
            return Size(given, name=scope)
        tensor = convert_to_tensor(input)
        known = tensor._rank()
        if known is not None:
            return constant(known, dtypes.int32, name=scope)
        return Rank(tensor, name=scope)


# Reshape --------------------------------------------------------------------------------------


@Reshape.shape
def _(op: Operation, x: RawShape, wanted: RawShape) -> RawShape:
    with_rank(wanted, 1)
    value = constant_value(op.inputs[1])
    sizes = asked_shape(op.inputs[1])
    if sizes is None:
        return None
    # Only a size that the graph gives as -1 is free; others are unknown because of their value.
    free = value is not None and None in sizes
    return _reshaped(x, sizes, free)


def _reshaped(x: RawShape, sizes: tuple[int | None, ...], free: bool) -> RawShape:
    count = shapes.num_elements(x)
    wanted = math.prod([size for size in sizes if size is not None])
    if count is None or sizes.count(None) > 1:
        return sizes
    if None not in sizes:
        if wanted != count:
            raise ValueError(
                f"Cannot reshape a tensor with {count} elements to shape {shapes.text(sizes)} "
                f"({wanted} elements)"
            )
        return sizes
    if wanted == 0 or (count % wanted and not free):
        return sizes
    if count % wanted:
        raise ValueError(f"Dimension size must be evenly divisible by {wanted} but is {count}")
    return tuple([count // wanted if size is None else size for size in sizes])


@Reshape.fold
def _(op: Operation, x: Any, wanted: Any) -> Any:
    return x.reshape(wanted)


@Reshape.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [reshape(grad, shape(op.inputs[0])), None]


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same elements in another shape; one size may be -1: what is left.

    >>> tf.reshape(images, [-1, 784])
    """
    return Reshape(tensor, shape, name=name)


# Dimensions of size 1 -------------------------------------------------------------------------


@ExpandDims.shape
def _(op: Operation, x: RawShape, dim: RawShape) -> RawShape:
    if x is None:
        return None
    value = constant_value(op.inputs[1])
    if value is None:
        return (None,) * (len(x) + 1)
    if value.size != 1:
        raise ValueError("'dim' input must be a tensor with a single value")
    axis = int(value.reshape(-1)[0])
    if not -len(x) - 1 <= axis <= len(x):
        raise ValueError(f"dim {axis} not in the interval [{-len(x) - 1}, {len(x)}].")
    if axis < 0:
        axis += len(x) + 1
    return (*x[:axis], 1, *x[axis:])


@ExpandDims.fold
def _(op: Operation, x: Any, dim: Any) -> Any:
    return x.reshape(op.outputs[0]._shape)


@Squeeze.fold
def _(op: Operation, x: Any) -> Any:
    return x.reshape(op.outputs[0]._shape)


@ExpandDims.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [_reshape_to_input(op, grad), None]


@Squeeze.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return _reshape_to_input(op, grad)


def _reshape_to_input(op: Operation, grad: Tensor) -> Tensor:
    return reshape(grad, shape(op.inputs[0]))


@Squeeze.shape
def _(op: Operation, x: RawShape) -> RawShape:
    if x is None:
        return None
    given = op.attrs["squeeze_dims"]
    if not given:
        return None if None in x else tuple([size for size in x if size != 1])
    rank = len(x)
    for i, axis in enumerate(given):
        if not -rank <= axis < rank:
            raise ValueError(f"squeeze_dims[{i}] not in [{-rank},{rank}).")
        if x[axis] not in (None, 1):
            raise ValueError(
                f"Can not squeeze dim[{axis % rank}], expected a dimension of 1, got {x[axis]}"
            )
    dropped = {axis % rank for axis in given}
    return tuple([size for i, size in enumerate(x) if i not in dropped])


@dispatched
def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """`input` with a dimension of size 1 inserted at `axis` (-1: at the end)."""
    axis = renamed_argument("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return ExpandDims(input, axis, name=name)


@dispatched
def squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Tensor:
    """`input` without its dimensions of size 1, or without those in `axis` only."""
    axis = renamed_argument("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is None:
        axis = []
    elif not isinstance(axis, (list, tuple)):
        axis = [axis]
    return Squeeze(input, squeeze_dims=axis, name=name)


def renamed_argument(new: str, value: Any, old: str, old_value: Any) -> Any:
    """The value of an argument that TensorFlow renamed; ValueError where both names are used."""
    if old_value is None:
        return value
    if value is not None:
        raise ValueError(f"Cannot specify both '{old}' and '{new}'.")
    return old_value


# EnsureShape ----------------------------------------------------------------------------------


@EnsureShape.shape
def _(op: Operation, x: RawShape) -> RawShape:
    wanted = op.attrs["shape"]
    if wanted is not None:
        with_rank(x, len(wanted))
    return merge_shapes(wanted, x)


@EnsureShape.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return grad


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, with an error in the step where its shape is not compatible with `shape`."""
    return EnsureShape(x, shape=shapes.raw(shape), name=name)
