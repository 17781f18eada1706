"""Tensors with their elements in another order: transposed or reversed."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import COMPLEX, INDEX, REAL
from penstock.ops.filling import Range
from penstock.ops.joining import concat
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.shaping import rank, renamed_argument
from penstock.shapes import Shape

__all__ = [
    "invert_permutation",
    "matrix_transpose",
    "reverse",
    "reverse_sequence",
    "reverse_v2",
    "transpose",
]

Transpose = op("Transpose(x: T, perm: Tperm) -> y: T", Tperm=types(INDEX, default=dtypes.int32))
ConjugateTranspose = op(
    "ConjugateTranspose(x: T, perm: Tperm) -> y: T", Tperm=types(INDEX, default=dtypes.int32)
)
InvertPermutation = op("InvertPermutation(x: T) -> y: T", T=types(INDEX, default=dtypes.int32))
Reverse = op(
    "Reverse(tensor: T, dims: bool) -> output: T",
    T=types(REAL, COMPLEX, dtypes.bool, dtypes.string),
)
ReverseV2 = op(
    "ReverseV2(tensor: T, axis: Tidx) -> output: T",
    Tidx=types(INDEX, default=dtypes.int32),
    T=types(REAL, COMPLEX, dtypes.bool, dtypes.string),
)
ReverseSequence = op(
    "ReverseSequence(input: T, seq_lengths: Tlen) -> output: T",
    seq_dim=attr("int"),
    batch_dim=0,
    Tlen=types(INDEX, default=dtypes.int64),
)

not_differentiable(InvertPermutation)


# Transpose ------------------------------------------------------------------------------------


@Transpose.shape
@ConjugateTranspose.shape
def _(op: Operation, x: Shape, perm: Shape) -> Shape:
    (count,) = with_rank(perm, 1)
    order = constant_value(op.inputs[1])
    if x is None:
        return None if count is None else (None,) * count
    if count not in (None, len(x)):
        raise ValueError(f"Dimension must be {len(x)} but is {count}")
    if order is None:
        return (None,) * len(x)
    for axis in order:
        if not -len(x) <= axis < len(x):
            raise ValueError(f"perm dim {axis} is out of range of input rank {len(x)}")
    return tuple([x[axis] for axis in order])


@Transpose.fold
def _(op: Operation, x: Any, perm: Any) -> Any:
    return np.transpose(x, perm)


@Transpose.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [transpose(grad, invert_permutation(op.inputs[1])), None]


@ConjugateTranspose.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [transpose(grad, invert_permutation(op.inputs[1]), conjugate=True), None]


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """`a` with its dimensions in the order `perm`, by default in the opposite one.

    With `conjugate` the elements of a complex tensor are conjugated too.
    """
    with name_scope(name, "transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        kind = ConjugateTranspose if conjugate and a.dtype.is_complex else Transpose
        if perm is None:
            ndims = a._rank()
            if ndims is None:
                perm = Range(rank(a) - 1, -1, -1)
            else:
                perm = np.arange(ndims, dtype=np.int32)[::-1]
        return kind(a, perm, name=scope)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """`a` with its last two dimensions swapped."""
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        ndims = a._rank()
        if ndims is None:
            count = rank(a)
            batch = Range(0, count - 2, 1)
            perm: Any = concat([batch, [count - 1, count - 2]], 0)
        elif ndims < 2:
            raise ValueError(
                f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {a.shape}"
            )
        else:
            perm = [*range(ndims - 2), ndims - 1, ndims - 2]
        return transpose(a, perm, conjugate=conjugate)


@InvertPermutation.shape
def _(op: Operation, x: Shape) -> Shape:
    return with_rank(x, 1)


@InvertPermutation.fold
def _(op: Operation, x: Any) -> Any:
    order = np.argsort(x)
    return order if (x[order] == np.arange(x.size)).all() else None


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`: `y[x[i]] == i`."""
    return InvertPermutation(x, name=name)


# Reverse --------------------------------------------------------------------------------------


@Reverse.shape
def _(op: Operation, x: Shape, dims: Shape) -> Shape:
    (count,) = with_rank(dims, 1)
    if count is not None and x is not None and len(x) != count:
        raise ValueError(f"Shape must be rank {count} but is rank {len(x)}")
    return x


@ReverseV2.shape
def _(op: Operation, x: Shape, axis: Shape) -> Shape:
    with_rank(axis, 1)
    if x is not None and len(x) > 8:
        raise ValueError("reverse does not work on tensors with more than 8 dimensions")
    axes = constant_value(op.inputs[1])
    if axes is not None and x is not None:
        check_reversed_axes(axes.tolist(), len(x))
    return x


def check_reversed_axes(axes: list[int], ndims: int) -> None:
    """ValueError where an axis doesn't exist or is named twice."""
    seen: set[int] = set()
    for i, axis in enumerate(axes):
        if not -ndims <= axis < ndims:
            raise ValueError(f"'axis'[{i}] = {axis} is out of valid range [0, {ndims - 1}")
        if axis % ndims in seen:
            raise ValueError(f"axis {axis % ndims} specified more than once.")
        seen.add(axis % ndims)


@Reverse.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [Reverse(grad, op.inputs[1]), None]


@ReverseV2.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [reverse(grad, op.inputs[1]), None]


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` in the opposite order along each of the dimensions in the list `axis`."""
    return ReverseV2(tensor, axis, name=name)


reverse_v2 = reverse


@ReverseSequence.shape
def _(op: Operation, x: Shape, lengths: Shape) -> Shape:
    (count,) = with_rank(lengths, 1)
    if x is None:
        return None
    sequence, batch = op.attrs["seq_dim"], op.attrs["batch_dim"]
    for key, axis in (("batch_dim", batch), ("seq_dim", sequence)):
        if axis >= len(x):
            raise ValueError(f"{key} must be < input rank: {axis} vs. {len(x)}")
    size = merge_sizes(x[batch], count)
    return tuple([size if axis == batch else entry for axis, entry in enumerate(x)])


@ReverseSequence.gradient
def _(op: Operation, grad: Tensor) -> Any:
    lengths = op.inputs[1]
    axes = {key: op.attrs[key] for key in ("seq_dim", "batch_dim")}
    return [ReverseSequence(grad, lengths, **axes), None]


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """For each entry i along `batch_axis`, its first `seq_lengths[i]` elements along `seq_axis`
    reversed, and the others as they are.
    """
    seq_axis = renamed_argument("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = renamed_argument("batch_axis", batch_axis, "batch_dim", batch_dim)
    return ReverseSequence(input, seq_lengths, seq_dim=seq_axis, batch_dim=batch_axis, name=name)
