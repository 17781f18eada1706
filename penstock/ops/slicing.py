"""Parts of tensors: `tf.slice`, `tf.strided_slice` and `x[...]`."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.convert import is_dense_tensor_like
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, WRITES, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops import slice_spec
from penstock.ops.constants import constant
from penstock.ops.filling import ones_like
from penstock.ops.joining import concat, stack
from penstock.ops.shape_checks import merge_shapes, with_rank
from penstock.ops.shaping import rank, reshape, shape
from penstock.ops.slice_spec import Masks
from penstock.shapes import Dimension, Shape

__all__ = ["newaxis", "slice", "strided_slice"]

newaxis = None

_MASKS: dict[str, Any] = {
    "begin_mask": 0,
    "end_mask": 0,
    "ellipsis_mask": 0,
    "new_axis_mask": 0,
    "shrink_axis_mask": 0,
}

Slice = op("Slice(input: T, begin: Index, size: Index) -> output: T", Index=INDEX)
StridedSlice = op(
    "StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> output: T",
    Index=types(dtypes.int16, dtypes.int32, dtypes.int64),
    **_MASKS,
)
StridedSliceGrad = op(
    "StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> output: T",
    Index=INDEX,
    **_MASKS,
)
StridedSliceAssign = op(
    "StridedSliceAssign(ref: &T, begin: Index, end: Index, strides: Index, value: T) "
    "-> output_ref: &T",
    WRITES,
    Index=INDEX,
    **_MASKS,
)
ResourceStridedSliceAssign = op(
    "ResourceStridedSliceAssign(ref: resource, begin: Index, end: Index, strides: Index, value: T)",
    STATEFUL,
    WRITES,
    Index=INDEX,
    **_MASKS,
)
TensorStridedSliceUpdate = op(
    "TensorStridedSliceUpdate(input: T, begin: Index, end: Index, strides: Index, value: T) "
    "-> output: T",
    Index=INDEX,
    **_MASKS,
)

not_differentiable(StridedSliceAssign, ResourceStridedSliceAssign)


# Slice ----------------------------------------------------------------------------------------


@Slice.shape
def _(op: Operation, x: Shape, begin: Shape, size: Shape) -> Shape:
    (count,) = merge_shapes(with_rank(begin, 1), with_rank(size, 1)) or (None,)
    if count is not None:
        x = with_rank(x, count)
    if x is None:
        return None
    given = constant_value(op.inputs[2])
    if given is not None and given.size and given.min() < -1:
        raise ValueError(f"Invalid value in tensor used for shape: {given.min()}")
    sizes = constant_shape(op.inputs[2]) or (None,) * len(x)
    starts = constant_shape(op.inputs[1])
    if starts is None or given is None:
        return sizes
    return tuple(
        n if n is not None or size is None or start is None else _rest(size, start)
        for n, size, start in zip(sizes, x, starts, strict=True)
    )


def _rest(size: int, start: int) -> int:
    if start > size:
        raise ValueError(f"Negative dimension size caused by subtracting {start} from {size}")
    return size - start


@Slice.fold
def _(op: Operation, x: Any, begin: Any, size: Any) -> Any:
    ends = np.where(size < 0, x.shape, begin + size)
    if (begin < 0).any() or (ends > x.shape).any():
        return None  # the step says so, naming the node
    return x[tuple(map(builtins.slice, begin, ends))]


@Slice.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.padding import pad

    x, begin = op.inputs[:2]
    ndims = rank(x)
    sizes = shape(op.outputs[0], out_type=begin.dtype)
    column = stack([ndims, 1])
    before = reshape(begin, column)
    after = reshape(shape(x, out_type=begin.dtype) - sizes - begin, column)
    return [pad(grad, concat([before, after], 1)), None, None]


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The part of a tensor that starts at `begin` and has shape `size`; -1 is all that is left."""
    return Slice(input_, begin, size, name=name)


# Strided slices -------------------------------------------------------------------------------


def _constant_lists(tensors: Any) -> list[list[int] | None]:
    values = [constant_value(tensor) for tensor in tensors]
    return [None if value is None else value.tolist() for value in values]


@StridedSlice.shape
def _(op: Operation, x: Shape, begin: Shape, end: Shape, strides: Shape) -> Shape:
    for bound in (begin, end):
        strides = merge_shapes(with_rank(bound, 1), strides)
    first, last, steps = _constant_lists(op.inputs[1:4])
    masks = Masks.of(op.attrs)
    if steps is None:
        return None
    known = first is not None and last is not None
    if first is None or last is None:
        first = last = [0] * len(steps)
    entries = slice_spec.index(masks, first, last, steps)
    return slice_spec.sliced_shape(entries, x, bounds_known=known)


@StridedSlice.fold
def _(op: Operation, x: Any, begin: Any, end: Any, strides: Any) -> Any:
    masks = Masks.of(op.attrs)
    return x[slice_spec.index(masks, begin.tolist(), end.tolist(), strides.tolist())]


@StridedSlice.gradient
def _(op: Operation, grad: Tensor) -> Any:
    x, begin, end, strides = op.inputs
    sizes = shape(x, out_type=begin.dtype)
    masks = {key: op.attrs[key] for key in _MASKS}
    return [StridedSliceGrad(sizes, begin, end, strides, grad, **masks), None, None, None]


@StridedSliceGrad.shape
def _(op: Operation, sizes: Shape, *others: Shape) -> Shape:
    with_rank(sizes, 1)
    return constant_shape(op.inputs[0])


@StridedSliceGrad.gradient
def _(op: Operation, grad: Tensor) -> Any:
    begin, end, strides = op.inputs[1:4]
    masks = {key: op.attrs[key] for key in _MASKS}
    return [None, None, None, None, StridedSlice(grad, begin, end, strides, **masks)]


@StridedSliceAssign.shape
@TensorStridedSliceUpdate.shape
def _(op: Operation, x: Shape, *others: Shape) -> Shape:
    return x


@TensorStridedSliceUpdate.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.broadcasting import BroadcastGradientArgs
    from penstock.ops.filling import zeros_like
    from penstock.ops.reductions import reduce_sum

    _, begin, end, strides, value = op.inputs
    masks = {key: op.attrs[key] for key in _MASKS}
    taken = StridedSlice(grad, begin, end, strides, **masks)
    rest = TensorStridedSliceUpdate(grad, begin, end, strides, zeros_like(taken), **masks)
    whole, sizes = shape(taken), shape(value)
    _, summed = BroadcastGradientArgs(whole, sizes)
    of_value = reshape(reduce_sum(taken, summed, keepdims=True), sizes)
    return [rest, None, None, None, of_value]


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """The part of a tensor that `x[begin:end:strides]` takes, with one number per dimension.

    Bit i of a mask says that entry i is open at its begin or end, an ellipsis, a new axis, or the
    single position `begin[i]`. With a variable `var` the result has a method `assign`.
    """
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    attrs = dict(zip(_MASKS, masks, strict=True))
    if strides is None:
        strides = ones_like(begin)
    part: Tensor = StridedSlice(input_, begin, end, strides, name=name, **attrs)
    if not part._op.graph.is_eager:
        _attach_assign(part, var, part._op.inputs[1:4], name, attrs)
    elif var is not None:
        _attach_assign(part, var, [begin, end, strides], name, attrs)
    return part


def _attach_assign(
    part: Tensor, var: Any, bounds: Sequence[Any], name: str | None, attrs: dict[str, int]
) -> None:
    parent = name or part._op.name

    def assign(val: Any, name: str | None = None) -> Any:
        """Changes this part of the variable, and gives the variable's new value."""
        if var is None:
            raise ValueError("Sliced assignment is only supported for variables")
        begin, end, strides = bounds
        return var._strided_slice_assign(
            begin=begin,
            end=end,
            strides=strides,
            value=val,
            name=f"{parent.removesuffix('/')}/_assign" if name is None else name,
            **attrs,
        )

    part.assign = assign  # type: ignore[attr-defined]


# Indexing -------------------------------------------------------------------------------------

INDEX_ERROR = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices"
)
_INDEX_TYPES = (dtypes.int16, dtypes.int32, dtypes.int64)


class _Bounds:
    """Collects begin, end, strides and masks, entry by entry of an index."""

    def __init__(self) -> None:
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks: dict[str, Any] = dict.fromkeys(_MASKS, 0)

    def add(self, begin: Any, end: Any, stride: Any, *masks: str) -> None:
        for mask in masks:
            self.masks[f"{mask}_mask"] |= 1 << len(self.begin)
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)

    def add_entry(self, entry: Any) -> None:
        if isinstance(entry, builtins.slice):
            self._add_slice(entry)
        elif entry is Ellipsis:
            self.add(0, 0, 1, "ellipsis")
        elif entry is newaxis:
            self.add(0, 0, 1, "new_axis")
        else:
            _check_index(entry)
            self.add(entry, entry + 1, 1, "shrink_axis")

    def _add_slice(self, entry: builtins.slice) -> None:
        bounds = (entry.start, entry.stop, entry.step)
        for bound in bounds:
            if bound is not None:
                _check_index(bound)
        start, stop, step = (
            default if bound is None else bound
            for bound, default in zip(bounds, (0, 0, 1), strict=True)
        )
        open_ends = [
            mask for mask, bound in (("begin", entry.start), ("end", entry.stop)) if bound is None
        ]
        self.add(start, stop, step, *open_ends)


def _check_index(entry: Any) -> None:
    if isinstance(entry, (int, np.integer, Dimension)) and not isinstance(entry, bool):
        return
    if is_dense_tensor_like(entry):
        valid = entry.dtype.base_dtype in _INDEX_TYPES and entry.shape.ndims in (0, None)
    else:
        valid = isinstance(entry, np.ndarray) and not entry.shape and entry.dtype.kind in "iu"
    if not valid:
        raise TypeError(f"{INDEX_ERROR}, got {entry!r}")


def _is_mask(spec: Any) -> bool:
    if isinstance(spec, bool):
        return True
    return isinstance(spec, (Tensor, np.ndarray)) and spec.dtype in (dtypes.bool, np.bool_)


def slice_helper(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """`tensor[slice_spec]`: integers, slices, `...`, `tf.newaxis`, scalar tensors, or a mask."""
    if _is_mask(slice_spec):
        from penstock.ops.masking import boolean_mask

        return boolean_mask(tensor, slice_spec)
    entries = slice_spec if isinstance(slice_spec, (list, tuple)) else [slice_spec]
    bounds = _Bounds()
    for entry in entries:
        bounds.add_entry(entry)
    values = [tensor, *bounds.begin, *bounds.end, *bounds.strides]
    with name_scope(None, "strided_slice", values) as scope:
        begin, end, strides = _pack_bounds(bounds)
        return strided_slice(tensor, begin, end, strides, var=var, name=scope, **bounds.masks)


def _pack_bounds(bounds: _Bounds) -> list[Tensor]:
    from penstock.ops.casts import cast

    if not bounds.begin:
        return [constant([], dtypes.int32)] * 3
    packed = [stack(numbers) for numbers in (bounds.begin, bounds.end, bounds.strides)]
    if any(tensor.dtype is dtypes.int64 for tensor in packed):
        return [cast(tensor, dtypes.int64) for tensor in packed]
    return packed


Tensor._override_operator("__getitem__", slice_helper)
