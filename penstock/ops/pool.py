"""Pooling ops: the maximum or the mean of windows that slide over the spatial dimensions.

The public functions stand in `pooling.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.registry import attr, keeps_for_gradient, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, INDEX, NARROW_FLOATING, REAL, SIGNED
from penstock.ops import window
from penstock.ops.filling import zeros
from penstock.ops.identity import stop_gradient
from penstock.ops.shape_checks import merge_shapes, with_rank
from penstock.ops.shaping import shape
from penstock.shapes import Shape

_POOLED = types(FLOATING, SIGNED, dtypes.uint8, dtypes.uint16, dtypes.qint8, default=dtypes.float32)
_WINDOW: dict[str, Any] = {
    "ksize": attr("list(int)", minimum=4),
    "strides": attr("list(int)", minimum=4),
}
_PADDING: dict[str, Any] = {"padding": attr("string", allowed=("SAME", "VALID"))}
_EXPLICIT_PADDING: dict[str, Any] = {
    "padding": attr("string", allowed=("SAME", "VALID", "EXPLICIT")),
    "explicit_paddings": attr("list(int)", []),
}
_FORMAT: dict[str, Any] = {"data_format": attr("string", "NHWC", allowed=("NHWC", "NCHW"))}
_VECTOR_FORMAT: dict[str, Any] = {
    "data_format": attr("string", "NHWC", allowed=("NHWC", "NCHW", "NCHW_VECT_C"))
}
_VOLUME: dict[str, Any] = {
    "ksize": attr("list(int)", minimum=5),
    "strides": attr("list(int)", minimum=5),
    **_PADDING,
    "data_format": attr("string", "NDHWC", allowed=("NDHWC", "NCDHW")),
}
_ARGMAX: dict[str, Any] = {**_WINDOW, **_PADDING, "include_batch_in_index": False}
_REAL_OR_FLOAT = types(REAL, default=dtypes.float32)
_NARROW = types(NARROW_FLOATING, default=dtypes.float32)

MaxPool = op(
    "MaxPool(input: T) -> output: T", T=_POOLED, **_WINDOW, **_EXPLICIT_PADDING, **_VECTOR_FORMAT
)
MaxPoolGrad = op(
    "MaxPoolGrad(orig_input: T, orig_output: T, grad: T) -> output: T",
    **_WINDOW,
    **_EXPLICIT_PADDING,
    **_FORMAT,
    T=_REAL_OR_FLOAT,
)
_MaxPoolKeeping = op(
    "_MaxPoolKeeping(input: T) -> output: T, positions: int64",
    T=_POOLED,
    **_WINDOW,
    **_EXPLICIT_PADDING,
    **_VECTOR_FORMAT,
)
_MaxPoolGradOfKept = op(
    "_MaxPoolGradOfKept(orig_input: T, orig_output: T, grad: T, positions: int64) -> output: T",
    **_WINDOW,
    **_EXPLICIT_PADDING,
    **_FORMAT,
    T=_REAL_OR_FLOAT,
)
keeps_for_gradient(
    MaxPool,
    MaxPoolGrad,
    input=0,
    output=1,
    keeping=_MaxPoolKeeping,
    of_kept=_MaxPoolGradOfKept,
)
MaxPoolGradGrad = op(
    "MaxPoolGradGrad(orig_input: T, orig_output: T, grad: T) -> output: T",
    **_WINDOW,
    **_PADDING,
    **_FORMAT,
    T=REAL,
)
MaxPoolV2 = op(
    "MaxPoolV2(input: T, ksize: int32, strides: int32) -> output: T",
    T=_POOLED,
    **_PADDING,
    **_VECTOR_FORMAT,
)
MaxPoolGradV2 = op(
    "MaxPoolGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) "
    "-> output: T",
    **_PADDING,
    **_FORMAT,
    T=_REAL_OR_FLOAT,
)
MaxPoolGradGradV2 = op(
    "MaxPoolGradGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) "
    "-> output: T",
    **_PADDING,
    **_FORMAT,
    T=REAL,
)
MaxPoolWithArgmax = op(
    "MaxPoolWithArgmax(input: T) -> output: T, argmax: Targmax",
    **_WINDOW,
    Targmax=types(INDEX, default=dtypes.int64),
    **_PADDING,
    include_batch_in_index=False,
    T=REAL,
)
MaxPoolGradWithArgmax = op(
    "MaxPoolGradWithArgmax(input: T, grad: T, argmax: Targmax) -> output: T",
    **_ARGMAX,
    Targmax=INDEX,
    T=REAL,
)
MaxPoolGradGradWithArgmax = op(
    "MaxPoolGradGradWithArgmax(input: T, grad: T, argmax: Targmax) -> output: T",
    **_ARGMAX,
    Targmax=INDEX,
    T=REAL,
)
MaxPool3D = op("MaxPool3D(input: T) -> output: T", **_VOLUME, T=NARROW_FLOATING)
MaxPool3DGrad = op(
    "MaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T) -> output: T",
    **_VOLUME,
    T=_NARROW,
    TInput=_NARROW,
)
MaxPool3DGradGrad = op(
    "MaxPool3DGradGrad(orig_input: T, orig_output: T, grad: T) -> output: T", **_VOLUME, T=REAL
)
AvgPool = op("AvgPool(value: T) -> output: T", **_WINDOW, **_PADDING, **_FORMAT, T=FLOATING)
AvgPoolGrad = op(
    "AvgPoolGrad(orig_input_shape: int32, grad: T) -> output: T",
    **_WINDOW,
    **_PADDING,
    **_FORMAT,
    T=FLOATING,
)
AvgPool3D = op("AvgPool3D(input: T) -> output: T", **_VOLUME, T=FLOATING)
AvgPool3DGrad = op(
    "AvgPool3DGrad(orig_input_shape: int32, grad: T) -> output: T", **_VOLUME, T=FLOATING
)


# Shapes ---------------------------------------------------------------------------------------


def _pooled(
    attrs: dict[str, Any], input: Any, ksize: Sequence[int], strides: Sequence[int], what: str
) -> tuple[int | None, ...]:
    """The output shape of pooling; a window over the channels shrinks them too."""
    rank = 5 if what.endswith("3D") else 4
    input = with_rank(input, rank)
    window.check_length(what, "ksize", ksize, rank)
    window.check_length(what, "stride", strides, rank)
    channels = window.channel_axis(attrs.get("data_format"))
    window.check_explicit_pads(attrs, rank, channels)
    if any(size <= 0 for size in ksize):
        raise ValueError(f"Sliding window ksize must be positive, got {list(ksize)}")
    sizes = window.output_sizes(
        window.spatial(input, channels),
        window.spatial(ksize, channels),
        window.spatial(strides, channels),
        attrs["padding"],
        window.explicit_pads(attrs, channels),
    )
    depth = input[channels]
    if rank == 4 and what != "AvgPool":
        padding = "VALID" if attrs["padding"] == "EXPLICIT" else attrs["padding"]
        depth = window.output_size(depth, ksize[channels], strides[channels], padding)
    return window.assemble(input[0], sizes, depth, channels)


@MaxPool.shape
@AvgPool.shape
@MaxPool3D.shape
@AvgPool3D.shape
def _(op: Any, input: Shape) -> Any:
    return _pooled(op.attrs, input, op.attrs["ksize"], op.attrs["strides"], op.type)


@MaxPoolV2.shape
def _(op: Any, input: Shape, ksize: Shape, strides: Shape) -> Any:
    with_rank(ksize, 1)
    with_rank(strides, 1)
    sizes, steps = (constant_value(tensor) for tensor in op.inputs[1:])
    if sizes is None or steps is None:
        return None if input is None else (None,) * len(with_rank(input, 4))
    return _pooled(op.attrs, input, sizes.tolist(), steps.tolist(), "MaxPool")


@MaxPoolWithArgmax.shape
def _(op: Any, input: Shape) -> Any:
    shape = _pooled(op.attrs, input, op.attrs["ksize"], op.attrs["strides"], "MaxPool")
    return [shape, shape]


@MaxPoolGrad.shape
@MaxPoolGradV2.shape
def _(op: Any, orig_input: Shape, *_: Any) -> Any:
    return with_rank(orig_input, 4)


@MaxPool3DGrad.shape
def _(op: Any, orig_input: Shape, orig_output: Shape, grad: Any) -> Any:
    return with_rank(orig_input, 5)


@MaxPoolGradGrad.shape
@MaxPoolGradGradV2.shape
@MaxPool3DGradGrad.shape
def _(op: Any, orig_input: Shape, orig_output: Shape, grad: Any, *_: Any) -> Any:
    rank = 5 if op.type == "MaxPool3DGradGrad" else 4
    merge_shapes(with_rank(orig_input, rank), grad)
    return with_rank(orig_output, rank)


@MaxPoolGradWithArgmax.shape
def _(op: Any, input: Shape, grad: Any, argmax: Shape) -> Any:
    return with_rank(input, 4)


@MaxPoolGradGradWithArgmax.shape
def _(op: Any, input: Shape, grad: Any, argmax: Shape) -> Any:
    merge_shapes(with_rank(input, 4), grad)
    return with_rank(argmax, 4)


@AvgPoolGrad.shape
@AvgPool3DGrad.shape
def _(op: Any, orig_input_shape: Shape, grad: Any) -> Any:
    return with_rank(constant_shape(op.inputs[0]), 4 if op.type == "AvgPoolGrad" else 5)


# Gradients ------------------------------------------------------------------------------------


def _attrs(op: Any, *keys: str) -> dict[str, Any]:
    return {key: op.attrs[key] for key in (*keys, "padding", "data_format") if key in op.attrs}


def _zeros(tensor: Tensor) -> Tensor:
    return zeros(shape(tensor), tensor.dtype)


@MaxPool.gradient
def _(op: Any, grad: Any) -> Any:
    attrs = _attrs(op, "ksize", "strides", "explicit_paddings")
    return MaxPoolGrad(op.inputs[0], op.outputs[0], grad, **attrs)


@MaxPoolV2.gradient
def _(op: Any, grad: Any) -> Any:
    input, ksize, strides = op.inputs
    return MaxPoolGradV2(input, op.outputs[0], grad, ksize, strides, **_attrs(op)), None, None


@MaxPoolGrad.gradient
def _(op: Any, grad: Any) -> Any:
    input, output, _ = op.inputs
    nothing = _zeros(input), _zeros(output)
    return *nothing, MaxPoolGradGrad(input, output, grad, **_attrs(op, "ksize", "strides"))


@MaxPoolGradV2.gradient
def _(op: Any, grad: Any) -> Any:
    input, output, _, ksize, strides = op.inputs
    nothing = _zeros(input), _zeros(output)
    return (
        *nothing,
        MaxPoolGradGradV2(input, output, grad, ksize, strides, **_attrs(op)),
        None,
        None,
    )


@MaxPoolGradGrad.gradient
def _(op: Any, grad: Any) -> Any:
    input, output, _ = op.inputs
    nothing = _zeros(input), _zeros(output)
    return *nothing, MaxPoolGrad(input, output, grad, **_attrs(op, "ksize", "strides"))


@MaxPoolWithArgmax.gradient
def _(op: Any, grad: Any, _: Any) -> Any:
    keys = ("ksize", "strides", "include_batch_in_index")
    return MaxPoolGradWithArgmax(op.inputs[0], grad, op.outputs[1], **_attrs(op, *keys))


@MaxPoolGradWithArgmax.gradient
def _(op: Any, grad: Any) -> Any:
    input, _output_grad, argmax = op.inputs
    keys = ("ksize", "strides", "include_batch_in_index")
    nothing = _zeros(input)
    return nothing, MaxPoolGradGradWithArgmax(input, grad, argmax, **_attrs(op, *keys)), None


@MaxPool3D.gradient
def _(op: Any, grad: Any) -> Any:
    return MaxPool3DGrad(op.inputs[0], op.outputs[0], grad, **_attrs(op, "ksize", "strides"))


@MaxPool3DGrad.gradient
def _(op: Any, grad: Any) -> Any:
    input, output, _ = op.inputs
    nothing = _zeros(input), _zeros(output)
    return *nothing, MaxPool3DGradGrad(input, output, grad, **_attrs(op, "ksize", "strides"))


@MaxPool3DGradGrad.gradient
def _(op: Any, grad: Any) -> Any:
    input, output, _ = op.inputs
    nothing = _zeros(input), _zeros(output)
    return *nothing, MaxPool3DGrad(input, output, grad, **_attrs(op, "ksize", "strides"))


@AvgPool.gradient
@AvgPool3D.gradient
def _(op: Any, grad: Any) -> Any:
    backward = AvgPoolGrad if op.type == "AvgPool" else AvgPool3DGrad
    return backward(shape(op.inputs[0]), grad, **_attrs(op, "ksize", "strides"))


@AvgPoolGrad.gradient
@AvgPool3DGrad.gradient
def _(op: Any, grad: Any) -> Any:
    forward = AvgPool if op.type == "AvgPoolGrad" else AvgPool3D
    return stop_gradient(op.inputs[0]), forward(grad, **_attrs(op, "ksize", "strides"))
