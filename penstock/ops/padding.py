"""Tensors with a border added: of a constant, or mirrored."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.operation import Operation
from penstock.ir.registry import SAME_IF_SAME_SHAPE, attr, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.joining import stack
from penstock.ops.shape_checks import with_rank
from penstock.ops.shaping import rank, reshape, shape
from penstock.ops.slicing import slice as slice_
from penstock.shapes import Shape

__all__ = ["pad"]

_PADDINGS = ("Pad", "PadV2", "MirrorPad")
_MODES = ("REFLECT", "SYMMETRIC")

Pad = op(
    "Pad(input: T, paddings: Tpaddings) -> output: T",
    SAME_IF_SAME_SHAPE,
    Tpaddings=types(INDEX, default=dtypes.int32),
)
PadV2 = op(
    "PadV2(input: T, paddings: Tpaddings, constant_values: T) -> output: T",
    SAME_IF_SAME_SHAPE,
    Tpaddings=types(INDEX, default=dtypes.int32),
)
MirrorPad = op(
    "MirrorPad(input: T, paddings: Tpaddings) -> output: T",
    Tpaddings=types(INDEX, default=dtypes.int32),
    mode=attr("string", allowed=_MODES),
)
MirrorPadGrad = op(
    "MirrorPadGrad(input: T, paddings: Tpaddings) -> output: T",
    Tpaddings=types(INDEX, default=dtypes.int32),
    mode=attr("string", allowed=_MODES),
)


@Pad.shape
@MirrorPad.shape
def _(op: Operation, x: Shape, paddings: Shape) -> Shape:
    return _padded(op, x, paddings)


@PadV2.shape
def _(op: Operation, x: Shape, paddings: Shape, constant_values: Shape) -> Shape:
    return _padded(op, x, paddings)


def _padded(op: Operation, x: Shape, paddings: Shape) -> Shape:
    dims = _checked(x, paddings)
    known = constant_value(op.inputs[1])
    if dims is None or known is None:
        return dims and (None,) * len(dims)
    if (known < 0).any():
        raise ValueError("Paddings must be non-negative")
    return _add_borders(dims, known.tolist())


def _checked(x: Shape, paddings: Shape) -> Shape:
    """The padded tensor's shape, with the rank that the paddings give it."""
    rows, columns = with_rank(paddings, 2)
    if columns not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {columns}")
    if rows is None:
        return x
    if x is not None and len(x) != rows:
        raise ValueError(f"Shape must be rank {rows} but is rank {len(x)}")
    return with_rank(x, rows)


def _add_borders(x: Shape, borders: Any) -> Shape:
    assert x is not None
    return tuple(
        [
            None if size is None or None in border else size + sum(border)
            for size, border in zip(x, borders, strict=True)
        ]
    )


@MirrorPadGrad.shape
def _(op: Operation, x: Shape, paddings: Shape) -> Shape:
    dims = _checked(x, paddings)
    known = constant_value(op.inputs[1])
    if dims is None or known is None:
        return dims and (None,) * len(dims)
    return _add_borders(dims, (-known).tolist())


@Pad.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [_without_border(op, grad), None]


@PadV2.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [_without_border(op, grad), None, None]


def _without_border(op: Operation, grad: Tensor) -> Tensor:
    x, paddings = op.inputs[:2]
    before = reshape(slice_(paddings, [0, 0], stack([rank(x), 1])), [-1])
    return slice_(grad, before, shape(x, out_type=before.dtype))


@MirrorPad.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [MirrorPadGrad(grad, op.inputs[1], mode=op.attrs["mode"]), None]


@MirrorPadGrad.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [MirrorPad(grad, op.inputs[1], mode=op.attrs["mode"]), None]


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Any = 0,
) -> Tensor:
    """`tensor` with `paddings[i]` = [before, after] elements added along each dimension i.

    They are `constant_values`, or with mode "REFLECT" or "SYMMETRIC" the tensor's own elements
    mirrored at its edge, without or with the edge element itself.
    """
    kind = mode.upper()
    padded: Tensor
    if kind in _MODES:
        padded = MirrorPad(tensor, paddings, mode=kind, name=name)
    elif kind != "CONSTANT":
        raise ValueError(f"Unknown padding mode: {kind}")
    elif isinstance(constant_values, (Tensor, np.ndarray)) or constant_values != 0:
        padded = PadV2(tensor, paddings, constant_values, name=name)
    else:
        padded = Pad(tensor, paddings, name=name)
    if not padded._op.graph.is_eager and padded._op.type in _PADDINGS:  # not a callback's tensor
        _use_known_rows(padded)
    return padded


def _use_known_rows(padded: Tensor) -> None:
    """Sets the sizes of dimensions whose paddings are known though others are not."""
    x, paddings = padded._op.inputs[:2]
    if x._shape is None or constant_value(paddings) is not None or paddings._op.type != "Pack":
        return
    rows = [constant_shape(row) or (None, None) for row in paddings._op.inputs]
    if len(rows) == len(x._shape) and paddings._op.attrs["axis"] == 0:
        padded.set_shape(_add_borders(x._shape, rows))
