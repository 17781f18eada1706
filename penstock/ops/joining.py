"""Tensors put together and taken apart: concat and split, stack and unstack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.constants import constant_value
from penstock.ir.convert import (
    convert_to_tensor,
    is_dense_tensor_like,
    register_tensor_conversion_function,
)
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.constants import constant
from penstock.ops.identity import identity
from penstock.ops.shape_checks import (
    check_scalar_input,
    merge_shapes,
    with_rank,
    with_rank_at_least,
)
from penstock.ops.shaping import ShapeN, expand_dims, rank, shape
from penstock.shapes import Shape

__all__ = ["concat", "pack", "parallel_stack", "split", "stack", "unpack", "unstack"]

Concat = op("Concat(concat_dim: int32, values: N*T) -> output: T", N=attr("int", minimum=2))
ConcatV2 = op(
    "ConcatV2(values: N*T, axis: Tidx) -> output: T",
    N=attr("int", minimum=2),
    Tidx=types(INDEX, default=dtypes.int32),
)
ConcatOffset = op(
    "ConcatOffset(concat_dim: int32, shape: N*shape_type) -> offset: N*shape_type",
    N=attr("int", minimum=2),
    shape_type=types(INDEX, default=dtypes.int32),
)
ParallelConcat = op("ParallelConcat(values: N*T) -> output: T", shape=attr("shape"))
Pack = op("Pack(values: N*T) -> output: T", axis=0)
Unpack = op("Unpack(value: T) -> output: num*T", num=attr("int", minimum=0), axis=0)
Split = op("Split(split_dim: int32, value: T) -> output: num_split*T")
SplitV = op(
    "SplitV(value: T, size_splits: Tlen, split_dim: int32) -> output: num_split*T",
    Tlen=types(dtypes.int8, dtypes.int32, dtypes.int64, default=dtypes.int64),
)

not_differentiable(ConcatOffset)


# Concat ---------------------------------------------------------------------------------------


@Concat.shape
def _(op: Operation, axis: Shape, *values: Shape) -> Shape:
    return _concatenated(values, axis, constant_value(op.inputs[0]))


@ConcatV2.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    *values, axis = inputs
    return _concatenated(values, axis, constant_value(op.inputs[-1]))


def _concatenated(values: Sequence[Shape], axis_shape: Shape, axis: Any) -> Shape:
    with_rank(axis_shape, 0)
    known = [value for value in values if value is not None]
    if not known:
        return None
    ndims = len(known[0])
    if ndims == 0:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    parts = [with_rank(value, ndims) for value in values]
    if axis is None:
        return (None,) * ndims
    position = int(axis)
    with_rank_at_least(parts[0], position + 1 if position >= 0 else -position)
    position %= ndims
    before, after = parts[0][:position], parts[0][position + 1 :]
    for part in parts[1:]:
        before = merge_shapes(before, part[:position])  # type: ignore[assignment]
        after = merge_shapes(after, part[position + 1 :])  # type: ignore[assignment]
    sizes = [part[position] for part in parts]
    total = None if None in sizes else sum(sizes)  # type: ignore[arg-type]
    return (*before, total, *after)


@ConcatV2.fold
def _(op: Operation, *inputs: Any) -> Any:
    *values, axis = inputs
    return np.concatenate(values, axis=int(axis))


@Concat.gradient
def _(op: Operation, grad: Any) -> Any:
    axis, *values = op.inputs
    return [None, *_concat_gradient(grad, values, axis)]


@ConcatV2.gradient
def _(op: Operation, grad: Any) -> Any:
    *values, axis = op.inputs
    return [*_concat_gradient(grad, values, axis), None]


def _concat_gradient(grad: Any, values: list[Tensor], axis: Tensor) -> list[Any]:
    from penstock.ops.control_contexts import output_context
    from penstock.ops.slicing import slice as slice_

    if not isinstance(grad, Tensor):
        return _sparse_concat_gradient(grad, values, axis)
    if len(values) == 1:
        return [grad]
    known = constant_value(axis)
    if known is not None and output_context(axis._op) is not output_context(grad._op):
        # In a gradient loop: a constant of its own, not one that is carried in from the loop.
        axis = constant(known, axis.dtype)
    position = axis % rank(values[0])
    sizes = _shapes_of(values)
    offsets = ConcatOffset(position, sizes)
    return [slice_(grad, begin, size) for begin, size in zip(offsets, sizes, strict=True)]


def _shapes_of(values: list[Tensor]) -> list[Tensor]:
    """Constants where all shapes are known, else the outputs of one ShapeN."""
    known: list[Tensor] = []
    for value in values:
        size = shape(value)
        if size._op.type != "Const":
            return ShapeN(values)
        known.append(size)
    return known


def _sparse_concat_gradient(grad: Any, values: list[Tensor], axis: Tensor) -> list[Any]:
    """The gradient of a concat that rows were gathered from: each value gets its rows."""
    from penstock.ir.composite import IndexedSlices

    position = constant_value(axis)
    ndims = values[0]._rank()
    if position is None or ndims is None:
        raise TypeError("sparse gradients through concat need a known axis and a known rank")
    sizes = _shapes_of(values)
    if position % ndims:
        pieces = split(grad.values, stack([size[position] for size in sizes]), int(position))
        pairs = zip(pieces, sizes, strict=True)
        return [IndexedSlices(piece, grad.indices, size) for piece, size in pairs]
    found, start = [], constant(0, sizes[0].dtype)
    for size in sizes:
        end = start + size[0]
        found.append(_rows_between(grad, start, end, size))
        start = end
    return found


def _rows_between(grad: Any, start: Tensor, end: Tensor, dense_shape: Tensor) -> Any:
    from penstock.ir.composite import IndexedSlices
    from penstock.ops.casts import cast
    from penstock.ops.comparison import logical_and
    from penstock.ops.gather import gather
    from penstock.ops.masking import where
    from penstock.ops.shaping import squeeze

    start, end = cast(start, grad.indices.dtype), cast(end, grad.indices.dtype)
    inside = squeeze(where(logical_and(grad.indices >= start, grad.indices < end)), axis=[1])
    rows = gather(grad.indices, inside) - start
    return IndexedSlices(gather(grad.values, inside), rows, dense_shape)


@dispatched
def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Tensors joined along an existing dimension; `stack` makes a new one."""
    if not isinstance(values, (list, tuple)):
        if isinstance(values, int) and isinstance(axis, (list, tuple)):
            raise TypeError(
                f"tf.concat(values, axis): the arguments are in the order of TensorFlow before "
                f"1.0, concat(concat_dim, values). Write tf.concat(values, {values})."
            )
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            checked = convert_to_tensor(axis, dtypes.int32, name="concat_dim")
            checked.shape.assert_has_rank(0)
            return identity(values[0], name=name)
    return ConcatV2(values, axis, name=name)


@ConcatOffset.shape
def _(op: Operation, axis: Shape, *sizes: Shape) -> list[Shape]:
    with_rank(axis, 0)
    return [with_rank(size, 1) for size in sizes]


@ConcatOffset.fold
def _(op: Operation, axis: Any, *sizes: Any) -> Any:
    return list(concat_offsets(int(axis), np.stack(sizes)))


def concat_offsets(axis: int, sizes: np.ndarray) -> np.ndarray:
    """Where each part of a concatenation starts; `sizes` holds one shape per row."""
    offsets = np.zeros_like(sizes)
    offsets[1:, axis] = np.cumsum(sizes[:-1, axis])
    return offsets


# Stack ----------------------------------------------------------------------------------------


@Pack.shape
def _(op: Operation, *values: Shape) -> Shape:
    merged: Shape = None
    for i, value in enumerate(values):
        try:
            merged = merge_shapes(merged, value)
        except ValueError as error:
            raise ValueError(f"{error}\n\tFrom merging shape {i - 1} with other shapes.") from None
    if merged is None:
        return None
    axis = op.attrs["axis"]
    if not -len(merged) - 1 <= axis <= len(merged):
        raise ValueError(f"axis = {axis} not in [{-len(merged) - 1}, {len(merged) + 1})")
    axis %= len(merged) + 1
    return (*merged[:axis], len(values), *merged[axis:])


@Pack.fold
def _(op: Operation, *values: Any) -> Any:
    return np.stack(values, axis=op.attrs["axis"])


@Pack.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return unstack(grad, num=op.attrs["N"], axis=op.attrs["axis"])


@ParallelConcat.shape
def _(op: Operation, *values: Shape) -> Shape:
    wanted = op.attrs["shape"]
    if not shapes.is_full(wanted):
        raise ValueError("shape attr must be fully defined.")
    merged: Shape = (1, *wanted[1:])
    for value in values:
        if value is not None and value[:1] not in ((1,), (None,)):
            raise ValueError("Size of first dimension must be 1.")
        merged = merge_shapes(merged, value)
    return wanted


@dispatched
def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape as the slices of a new dimension at `axis`."""
    if axis == 0:
        try:  # one constant where the values are numbers
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass
    first = convert_to_tensor(values[0], name=name)._shape
    if first is not None:
        _check_axis(axis, len(first) + 1)
    return Pack(values, axis=axis, name=name)


def pack(values: Any, axis: int = 0, name: str = "pack") -> Tensor:
    """`stack` under the name that it had before TensorFlow 1.0."""
    return stack(values, axis, name)


def _check_axis(axis: int, ndims: int) -> None:
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis = {axis} not in [{-ndims}, {ndims})")


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """`stack` along a new first dimension, for values whose shapes are all known."""
    with name_scope(name):
        value_shape = convert_to_tensor(values[0])._shape
        wanted = None if value_shape is None else (len(values), *value_shape)
        return ParallelConcat([expand_dims(value, 0) for value in values], shape=wanted)


@Unpack.shape
def _(op: Operation, value: Shape) -> list[Shape]:
    num, axis = op.attrs["num"], op.attrs["axis"]
    if value is None:
        return [None] * num
    if not -len(value) <= axis < len(value):
        raise ValueError(f"axis = {axis} not in [{-len(value)}, {len(value)})")
    axis %= len(value)
    if value[axis] not in (None, num):
        raise ValueError(f"Dimension must be {num} but is {value[axis]}")
    return [(*value[:axis], *value[axis + 1 :])] * num


@Unpack.fold
def _(op: Operation, value: Any) -> Any:
    return list(np.moveaxis(value, op.attrs["axis"], 0))


@Unpack.gradient
def _(op: Operation, *grads: Tensor) -> Any:
    return stack(list(grads), axis=op.attrs["axis"])


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> Any:
    """The slices of a tensor along `axis`, as a list; `num` says how many, if that is unknown."""
    if num is None:
        value = convert_to_tensor(value)
        sizes = value._shape
        if sizes is not None:
            _check_axis(axis, len(sizes))
            num = sizes[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {value.shape}")
    return Unpack(value, num=num, axis=axis, name=name)


def unpack(value: Any, num: int | None = None, axis: int = 0, name: str = "unpack") -> Any:
    """`unstack` under the name that it had before TensorFlow 1.0."""
    return unstack(value, num, axis, name)


# Split ----------------------------------------------------------------------------------------


def _split_position(axis: Any, value: Shape) -> int | None:
    """The split dimension, counted from the front; None where it isn't known."""
    if axis is None or value is None:
        return None
    position = int(axis.reshape(-1)[0])
    if not -len(value) <= position < len(value):
        raise ValueError(
            f"Dimension size, given by scalar input {position} must be in range "
            f"[{-len(value)}, {len(value)})"
        )
    return position % len(value)


@Split.shape
def _(op: Operation, axis: Shape, value: Shape) -> Any:
    count = op.attrs["num_split"]
    check_scalar_input(axis)
    position = _split_position(constant_value(op.inputs[0]), value)
    if value is None or position is None:
        return [None if value is None else (None,) * len(value)] * count
    size = value[position]
    if size is not None and size % count:
        raise ValueError(
            f"Dimension size must be evenly divisible by {count} but is {size}\n\tNumber of ways "
            "to split should evenly divide the split dimension"
        )
    part = None if size is None else size // count
    return [(*value[:position], part, *value[position + 1 :])] * count


@SplitV.shape
def _(op: Operation, value: Shape, size_splits: Shape, axis: Shape) -> Any:
    count = op.attrs["num_split"]
    (given,) = with_rank(size_splits, 1)
    if given not in (None, count):
        raise ValueError("Length of size_splits should be equal to num_outputs")
    check_scalar_input(axis)
    position = _split_position(constant_value(op.inputs[2]), value)
    if value is None or position is None:
        return [None if value is None else (None,) * len(value)] * count
    sizes = constant_value(op.inputs[1])
    parts = [None] * count if sizes is None else _part_sizes(sizes.tolist(), value[position])
    return [(*value[:position], part, *value[position + 1 :]) for part in parts]


def _part_sizes(sizes: list[int], total: int | None) -> list[int | None]:
    given = sum(size for size in sizes if size != -1)
    free = sizes.count(-1)
    if free > 1:
        raise ValueError("size_splits can only have one -1")
    if total is not None and (given > total or (not free and given != total)):
        raise ValueError(
            f"can't split axis of size {total} into pieces of size [{','.join(map(str, sizes))}]"
        )
    rest = None if total is None else total - given
    return [rest if size == -1 else size for size in sizes]


@Split.gradient
def _(op: Operation, *grads: Tensor) -> Any:
    return [None, concat(list(grads), op.inputs[0])]


@SplitV.gradient
def _(op: Operation, *grads: Tensor) -> Any:
    return [concat(list(grads), op.inputs[2]), None, None]


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> Any:
    """A tensor cut along `axis`: into equal parts by their number, else by a list of sizes.

    One of the sizes may be -1: what is left. `num` is needed for a tensor of unknown length.
    """
    # TensorFlow 1.x makes a constant of the number, too: later names count on it.
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, np.integer, shapes.Dimension)):
        return Split(axis, value, num_split=num_or_size_splits, name=name)
    if sizes._rank() == 0:
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if num is None:
        num = sizes._shape[0] if sizes._shape else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return SplitV(value, sizes, axis, num_split=num, name=name)


# Lists that hold tensors ----------------------------------------------------------------------


def _type_inside(values: Any) -> DType | None:
    """The type of the first tensor in nested lists; None where there is none."""
    for entry in values:
        if is_dense_tensor_like(entry):
            return entry.dtype.base_dtype
        if isinstance(entry, (list, tuple)):
            found = _type_inside(entry)
            if found is not None:
                return found
    return None


def _cast_inside(values: Any, dtype: DType) -> Any:
    from penstock.ops.casts import cast

    if isinstance(values, (list, tuple)):
        return [_cast_inside(entry, dtype) for entry in values]
    if is_dense_tensor_like(values) and values.dtype.base_dtype is not dtype:
        return cast(values, dtype)
    return values


def _packed(values: Any, dtype: DType, name: str) -> Any:
    """Nested lists as one tensor where a tensor stands in them, else the lists themselves."""
    entries: list[Any] = []
    has_tensor = False
    with name_scope(name) as scope:
        for i, entry in enumerate(values):
            if is_dense_tensor_like(entry):
                if entry.dtype.base_dtype is not dtype:
                    raise TypeError(
                        f"Cannot convert a list containing a tensor of dtype {entry.dtype} to "
                        f"{dtype} (Tensor is: {entry!r})"
                    )
                has_tensor = True
            elif isinstance(entry, (list, tuple)):
                entry = _packed(entry, dtype, str(i))
                has_tensor = has_tensor or isinstance(entry, Tensor)
            entries.append(entry)
        if not has_tensor:
            return entries
        tensors = [
            convert_to_tensor(entry)
            if is_dense_tensor_like(entry)
            else constant(entry, dtype, name=str(i))
            for i, entry in enumerate(entries)
        ]
        return Pack(tensors, name=scope)


def _list_conversion(
    value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    found = _type_inside(value)
    if as_ref or found is None:
        return NotImplemented
    if dtype is not None and dtype.base_dtype is not found:
        value = _cast_inside(value, dtype)
    return _packed(value, found if dtype is None else dtype.base_dtype, name or "packed")


register_tensor_conversion_function((list, tuple), _list_conversion, 99)
