"""Pooling: the maximum or the mean of windows that slide over the spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import attr, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, INDEX, NARROW_FLOATING, REAL, SIGNED
from penstock.ops import window
from penstock.ops.convolution import one_of
from penstock.ops.dilated import with_space_to_batch
from penstock.ops.shape_checks import merge_shapes, with_rank

__all__ = [
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "avg_pool_v2",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_v2",
    "max_pool_with_argmax",
    "pool",
]

_POOLED = types(
    FLOATING, SIGNED, dtypes.uint8, dtypes.uint16, dtypes.qint8, default=dtypes.float32
)
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
    **_ARGMAX,
    Targmax=types(INDEX, default=dtypes.int64),
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
def _(op, input):
    return _pooled(op.attrs, input, op.attrs["ksize"], op.attrs["strides"], op.type)


@MaxPoolV2.shape
def _(op, input, ksize, strides):
    with_rank(ksize, 1)
    with_rank(strides, 1)
    sizes, steps = (constant_value(tensor) for tensor in op.inputs[1:])
    if sizes is None or steps is None:
        return None if input is None else (None,) * len(with_rank(input, 4))
    return _pooled(op.attrs, input, sizes.tolist(), steps.tolist(), "MaxPool")


@MaxPoolWithArgmax.shape
def _(op, input):
    shape = _pooled(op.attrs, input, op.attrs["ksize"], op.attrs["strides"], "MaxPool")
    return [shape, shape]


@MaxPoolGrad.shape
@MaxPoolGradV2.shape
def _(op, orig_input, *_):
    return with_rank(orig_input, 4)


@MaxPool3DGrad.shape
def _(op, orig_input, orig_output, grad):
    return with_rank(orig_input, 5)


@MaxPoolGradGrad.shape
@MaxPoolGradGradV2.shape
@MaxPool3DGradGrad.shape
def _(op, orig_input, orig_output, grad, *_):
    rank = 5 if op.type == "MaxPool3DGradGrad" else 4
    merge_shapes(with_rank(orig_input, rank), grad)
    return with_rank(orig_output, rank)


@MaxPoolGradWithArgmax.shape
def _(op, input, grad, argmax):
    return with_rank(input, 4)


@MaxPoolGradGradWithArgmax.shape
def _(op, input, grad, argmax):
    merge_shapes(with_rank(input, 4), grad)
    return with_rank(argmax, 4)


@AvgPoolGrad.shape
@AvgPool3DGrad.shape
def _(op, orig_input_shape, grad):
    return with_rank(constant_shape(op.inputs[0]), 4 if op.type == "AvgPoolGrad" else 5)


# Gradients ------------------------------------------------------------------------------------


def _attrs(op: Any, *keys: str) -> dict[str, Any]:
    return {key: op.attrs[key] for key in (*keys, "padding", "data_format") if key in op.attrs}


def _zeros(tensor: Tensor) -> Tensor:
    from penstock.ops.array import zeros_like

    return zeros_like(tensor)


@MaxPool.gradient
def _(op, grad):
    attrs = _attrs(op, "ksize", "strides", "explicit_paddings")
    return MaxPoolGrad(op.inputs[0], op.outputs[0], grad, **attrs)


@MaxPoolV2.gradient
def _(op, grad):
    input, ksize, strides = op.inputs
    return MaxPoolGradV2(input, op.outputs[0], grad, ksize, strides, **_attrs(op)), None, None


@MaxPoolGrad.gradient
def _(op, grad):
    input, output, _ = op.inputs
    grad_grad = MaxPoolGradGrad(input, output, grad, **_attrs(op, "ksize", "strides"))
    return _zeros(input), _zeros(output), grad_grad


@MaxPoolGradV2.gradient
def _(op, grad):
    input, output, _, ksize, strides = op.inputs
    grad_grad = MaxPoolGradGradV2(input, output, grad, ksize, strides, **_attrs(op))
    return _zeros(input), _zeros(output), grad_grad, None, None


@MaxPoolGradGrad.gradient
def _(op, grad):
    input, output, _ = op.inputs
    back = MaxPoolGrad(input, output, grad, **_attrs(op, "ksize", "strides"))
    return _zeros(input), _zeros(output), back


@MaxPoolWithArgmax.gradient
def _(op, grad, _):
    keys = ("ksize", "strides", "include_batch_in_index")
    return MaxPoolGradWithArgmax(op.inputs[0], grad, op.outputs[1], **_attrs(op, *keys))


@MaxPoolGradWithArgmax.gradient
def _(op, grad):
    input, output_grad, argmax = op.inputs
    keys = ("ksize", "strides", "include_batch_in_index")
    grad_grad = MaxPoolGradGradWithArgmax(input, grad, argmax, **_attrs(op, *keys))
    return _zeros(input), grad_grad, None


@MaxPool3D.gradient
def _(op, grad):
    return MaxPool3DGrad(op.inputs[0], op.outputs[0], grad, **_attrs(op, "ksize", "strides"))


@MaxPool3DGrad.gradient
def _(op, grad):
    input, output, _ = op.inputs
    grad_grad = MaxPool3DGradGrad(input, output, grad, **_attrs(op, "ksize", "strides"))
    return _zeros(input), _zeros(output), grad_grad


@MaxPool3DGradGrad.gradient
def _(op, grad):
    input, output, _ = op.inputs
    back = MaxPool3DGrad(input, output, grad, **_attrs(op, "ksize", "strides"))
    return _zeros(input), _zeros(output), back


@AvgPool.gradient
@AvgPool3D.gradient
def _(op, grad):
    from penstock.ops.array import shape

    backward = AvgPoolGrad if op.type == "AvgPool" else AvgPool3DGrad
    return backward(shape(op.inputs[0]), grad, **_attrs(op, "ksize", "strides"))


@AvgPoolGrad.gradient
@AvgPool3DGrad.gradient
def _(op, grad):
    from penstock.ops.array import stop_gradient

    forward = AvgPool if op.type == "AvgPoolGrad" else AvgPool3D
    return stop_gradient(op.inputs[0]), forward(grad, **_attrs(op, "ksize", "strides"))


# Public functions -----------------------------------------------------------------------------


def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The maximum of each window of an image.

    Args:
      value: [batch, height, width, channels], or channels second for NCHW.
      ksize: The window: a number, two (height, width), or one per dimension.
      strides: How far apart windows are, in the same forms.
      padding: "SAME", "VALID", or a list of [before, after] pairs, one per dimension.
    """
    value = one_of("value", value, "input", input)
    with name_scope(name, "MaxPool", [value]) as scope:
        return _max_pool(value, ksize, strides, padding, data_format, scope)


def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of an image: `max_pool` under its later name."""
    with name_scope(name, "MaxPool2d", [input]) as scope:
        return _max_pool(input, ksize, strides, padding, data_format, scope)


def _max_pool(
    value: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None, name: str
) -> Tensor:
    data_format = data_format or "NHWC"
    channels = window.channel_axis(data_format)
    ksize = window.per_dimension(ksize, 2, channels, "ksize")
    strides = window.per_dimension(strides, 2, channels, "strides")
    if 0 in ksize:
        raise ValueError(f"`ksize` cannot be zero. Received: ksize={ksize}")
    padding, explicit = window.padding_attrs(padding)
    return MaxPool(  # type: ignore[no-any-return]
        value,
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        name=name,
    )


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The mean of each window of an image; padding doesn't count.

    Args:
      value: [batch, height, width, channels], or channels second for NCHW.
      ksize: The window: a number, two (height, width), or one per dimension.
      strides: How far apart windows are, in the same forms.
    """
    with name_scope(name, "AvgPool", [value]) as scope:
        value = one_of("value", value, "input", input)
        data_format = data_format or "NHWC"
        channels = window.channel_axis(data_format)
        return AvgPool(  # type: ignore[no-any-return]
            value,
            ksize=window.per_dimension(ksize, 2, channels, "ksize"),
            strides=window.per_dimension(strides, 2, channels, "strides"),
            padding=padding,
            data_format=data_format,
            name=scope,
        )


avg_pool2d = avg_pool


def _pool1d(
    spec: Any,
    default_name: str,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    from penstock.ops.array import expand_dims, squeeze

    with name_scope(name, default_name, [input]) as scope:
        channels = window.channel_axis(data_format or "NWC")
        axis = 2 if channels == 1 else 1
        sizes = window.per_dimension(ksize, 1, channels, "ksize")
        steps = window.per_dimension(strides, 1, channels, "strides")
        images = expand_dims(input, axis)
        result = spec(
            images,
            ksize=[*sizes[:axis], 1, *sizes[axis:]],
            strides=[*steps[:axis], 1, *steps[axis:]],
            padding=padding,
            data_format="NCHW" if channels == 1 else "NHWC",
            name=scope,
        )
        return squeeze(result, axis)  # type: ignore[no-any-return]


def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a sequence [batch, width, channels]."""
    return _pool1d(MaxPool, "MaxPool1d", input, ksize, strides, padding, data_format, name)


def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of a sequence [batch, width, channels]."""
    return _pool1d(AvgPool, "AvgPool1D", input, ksize, strides, padding, data_format, name)


def _pool3d(
    spec: Any,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    with name_scope(name, spec.name, [input]) as scope:
        data_format = data_format or "NDHWC"
        channels = window.channel_axis(data_format)
        return spec(  # type: ignore[no-any-return]
            input,
            ksize=window.per_dimension(ksize, 3, channels, "ksize"),
            strides=window.per_dimension(strides, 3, channels, "strides"),
            padding=padding,
            data_format=data_format,
            name=scope,
        )


def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a volume [batch, depth, height, width, channels]."""
    return _pool3d(MaxPool3D, input, ksize, strides, padding, data_format, name)


def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of a volume [batch, depth, height, width, channels]."""
    return _pool3d(AvgPool3D, input, ksize, strides, padding, data_format, name)


_BY_RANK: dict[str, dict[int, Any]] = {
    "max": {1: max_pool1d, 2: max_pool2d, 3: max_pool3d},
    "avg": {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d},
}


def _pool_v2(
    kind: str,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    input = convert_to_tensor(input, name="input")
    rank = input.get_shape().ndims
    count = rank - 2 if rank is not None else len(data_format or "NHWC") - 2
    if count not in (1, 2, 3):
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={input.shape} of rank "
            f"{rank}."
        )
    default_format = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[count]
    function = _BY_RANK[kind][count]
    return function(  # type: ignore[no-any-return]
        input, ksize, strides, padding, data_format or default_format, name
    )


def max_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The maximum of each window over one to three spatial dimensions, as `input` has."""
    return _pool_v2("max", input, ksize, strides, padding, data_format, name)


def avg_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The mean of each window over one to three spatial dimensions, as `input` has."""
    return _pool_v2("avg", input, ksize, strides, padding, data_format, name)


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,  # noqa: N803 - TensorFlow's spelling
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> Any:
    """The maximum of each window, and where it stands in the flattened image.

    Args:
      output_dtype: Of the positions: int64 or int32.
      include_batch_in_index: Whether positions count through the whole batch.
    """
    if data_format != "NHWC":
        raise ValueError(
            "`data_format` values other than 'NHWC' are not supported. Received: "
            f"data_format={data_format}"
        )
    return MaxPoolWithArgmax(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=one_of("Targmax", Targmax, "output_dtype", output_dtype),
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Pools over one to three spatial dimensions.

    Args:
      window_shape: One size per spatial dimension.
      pooling_type: "MAX" or "AVG".
      dilation_rate: How far apart the elements of a window are; needs padding "VALID" if above
        one, and strides of one.
    """
    rate = one_of("dilation_rate", dilation_rate, "dilations", dilations)
    scope_name = f"{pooling_type.lower()}_pool"
    with name_scope(name, scope_name, [input, strides, rate]) as scope:
        input = convert_to_tensor(input, name="input")
        count = len(window_shape)
        if count not in (1, 2, 3):
            raise ValueError(f"`len(window_shape)` must be 1, 2, or 3. Received: {window_shape}")
        steps = np.ones(count, np.int32) if strides is None else np.asarray(strides, np.int32)
        rates = np.ones(count, np.int32) if rate is None else np.asarray(rate, np.int32)
        if np.any(steps > 1) and np.any(rates > 1):
            raise ValueError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
                f"Received: strides={steps} and dilation_rate={rates}"
            )
        if padding == "SAME" and np.any(rates > 1):
            raise ValueError(
                "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. "
                f"Received: padding={padding} and dilation_rate={rates}"
            )
        spec = {"MAX": {2: MaxPool, 3: MaxPool3D}, "AVG": {2: AvgPool, 3: AvgPool3D}}.get(
            pooling_type
        )
        if spec is None:
            raise ValueError(f"{count}-D {pooling_type} pooling is not supported.")
        channels = window.channel_axis(data_format)

        def apply(converted: Tensor, _: int, padding: str) -> Tensor:
            sizes = [int(size) for size in window_shape]
            if count == 1:
                return _pool1d(
                    spec[2],
                    scope_name,
                    converted,
                    sizes,
                    steps.tolist(),
                    padding,
                    "NCW" if channels == 1 else "NWC",
                    scope,
                )
            formats = {2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}[count]
            return spec[count](  # type: ignore[no-any-return]
                converted,
                ksize=list(window.assemble(1, sizes, 1, channels)),
                strides=list(window.assemble(1, steps.tolist(), 1, channels)),
                padding=padding,
                data_format=formats[channels == 1],
                name=scope,
            )

        return with_space_to_batch(
            input=input,
            dilation_rate=rates,
            padding=padding,
            op=apply,
            filter_shape=window_shape,
            data_format=data_format,
        )
