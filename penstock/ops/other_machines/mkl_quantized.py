"""Quantized products with biases, sums and activations in them, which MKL computes."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec, attr, op, types
from penstock.ir.type_sets import QUANTIZED
from penstock.ops import window
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.shapes import Shape

_BIAS_TYPE = types(dtypes.float32, dtypes.qint32)
_RANGES = ", min_input: float32, max_input: float32, min_filter: float32, max_filter: float32"
_FROZEN = ", min_freezed_output: float32, max_freezed_output: float32"
_SUMMAND = ", summand: Tsummand, min_summand: float32, max_summand: float32"
_PADDED: dict[str, Any] = {"padding_list": attr("list(int)", [])}


def _convolution(
    name: str, *, bias: str = "", more: str = "", out: Any = dtypes.qint32, **attrs: Any
) -> OpSpec:
    inputs = "input: Tinput, filter: Tfilter" + (f", bias: {bias}" if bias else "")
    if bias == "Tbias":
        attrs["Tbias"] = _BIAS_TYPE
    return op(
        f"{name}({inputs}{_RANGES}{more}) -> output: out_type, min_output: float32, "
        "max_output: float32",
        Tinput=QUANTIZED,
        Tfilter=QUANTIZED,
        out_type=types(QUANTIZED, default=out),
        strides=attr("list(int)"),
        padding=attr("string", allowed=("SAME", "VALID")),
        dilations=attr("list(int)", [1, 1, 1, 1]),
        **attrs,
    )


_CONVOLUTIONS = (
    _convolution("QuantizedConv2DAndRelu", **_PADDED),
    _convolution("QuantizedConv2DAndReluAndRequantize", more=_FROZEN, out=dtypes.quint8, **_PADDED),
    _convolution("QuantizedConv2DAndRequantize", more=_FROZEN, out=dtypes.qint8, **_PADDED),
    _convolution("QuantizedConv2DPerChannel"),
    _convolution("QuantizedConv2DWithBias", bias="float32", **_PADDED),
    _convolution("QuantizedConv2DWithBiasAndRelu", bias="float32", **_PADDED),
    _convolution(
        "QuantizedConv2DWithBiasAndReluAndRequantize",
        bias="Tbias",
        more=_FROZEN,
        out=dtypes.quint8,
        **_PADDED,
    ),
    _convolution(
        "QuantizedConv2DWithBiasAndRequantize",
        bias="Tbias",
        more=_FROZEN,
        out=dtypes.qint8,
        **_PADDED,
    ),
    _convolution(
        "QuantizedConv2DWithBiasSumAndRelu", bias="float32", more=", summand: float32", **_PADDED
    ),
    *(
        _convolution(
            f"QuantizedConv2DWithBias{sum_of}AndReluAndRequantize",
            bias="Tbias",
            more=_FROZEN + _SUMMAND,
            out=dtypes.quint8,
            Tsummand=QUANTIZED,
            **_PADDED,
        )
        for sum_of in ("Sum", "SignedSum")
    ),
)
_DEPTHWISE = (
    _convolution("QuantizedDepthwiseConv2D"),
    _convolution("QuantizedDepthwiseConv2DWithBias", bias="float32"),
    _convolution("QuantizedDepthwiseConv2DWithBiasAndRelu", bias="float32", **_PADDED),
    _convolution(
        "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
        bias="Tbias",
        more=_FROZEN,
        out=dtypes.quint8,
        **_PADDED,
    ),
)


def _product(name: str, bias: str, more: str = "", out: Any = dtypes.qint32) -> OpSpec:
    attrs: dict[str, Any] = {"Tbias": _BIAS_TYPE} if bias == "Tbias" else {}
    return op(
        f"{name}(a: T1, b: T2, bias: {bias}, min_a: float32, max_a: float32, min_b: float32, "
        f"max_b: float32{more}) -> out: Toutput, min_out: float32, max_out: float32",
        T1=QUANTIZED,
        T2=QUANTIZED,
        Toutput=types(QUANTIZED, default=out),
        transpose_a=False,
        transpose_b=False,
        input_quant_mode=attr("string", "MIN_FIRST", allowed=("MIN_FIRST", "SCALED")),
        **attrs,
    )


_PRODUCTS = (
    _product("QuantizedMatMulWithBias", "Tbias"),
    _product("QuantizedMatMulWithBiasAndRelu", "float32"),
    _product("QuantizedMatMulWithBiasAndReluAndRequantize", "Tbias", _FROZEN, dtypes.quint8),
)
RequantizationRangePerChannel = op(
    "RequantizationRangePerChannel(input: T, input_min: float32, input_max: float32) "
    "-> output_min: float32, output_max: float32",
    T=types(QUANTIZED, default=dtypes.qint32),
    clip_value_max=attr("float"),
)
RequantizePerChannel = op(
    "RequantizePerChannel(input: T, input_min: float32, input_max: float32, "
    "requested_output_min: float32, requested_output_max: float32) -> output: out_type, "
    "output_min: float32, output_max: float32",
    T=types(QUANTIZED, default=dtypes.qint32),
    out_type=types(QUANTIZED, default=dtypes.quint8),
)
OPS = (*_CONVOLUTIONS, *_DEPTHWISE, *_PRODUCTS, RequantizationRangePerChannel, RequantizePerChannel)


# Shapes ---------------------------------------------------------------------------------------


def _image_sizes(op: Operation, images: Any, taps: Any) -> list[int | None]:
    window.check_length(op.type, "stride", op.attrs["strides"], 4)
    rates = op.attrs["dilations"][1:3]
    extents = [window.dilated(n, rate) for n, rate in zip(taps[:2], rates, strict=True)]
    return window.output_sizes(
        images[1:3], extents, op.attrs["strides"][1:3], op.attrs["padding"], []
    )


def _convolved(op: Operation, input: Shape, filter: Shape, *rest: Shape) -> list[Shape]:
    images, taps = with_rank(input, 4), with_rank(filter, 4)
    merge_sizes(images[3], taps[2])
    return [(images[0], *_image_sizes(op, images, taps), taps[3]), (), ()]


def _convolved_by_channel(op: Operation, input: Shape, filter: Shape, *rest: Shape) -> list[Shape]:
    images, taps = with_rank(input, 4), with_rank(filter, 4)
    depth, each = merge_sizes(images[3], taps[2]), taps[3]
    channels = None if depth is None or each is None else depth * each
    return [(images[0], *_image_sizes(op, images, taps), channels), None, None]


def _multiplied(op: Operation, a: Shape, b: Shape, *rest: Shape) -> list[Shape]:
    rows, inner = with_rank(a, 2)[:: -1 if op.attrs["transpose_a"] else 1]
    inner_b, columns = with_rank(b, 2)[:: -1 if op.attrs["transpose_b"] else 1]
    merge_sizes(inner, inner_b)
    return [(rows, columns), (), ()]


for _ops, _rule in (
    (_CONVOLUTIONS, _convolved),
    (_DEPTHWISE, _convolved_by_channel),
    (_PRODUCTS, _multiplied),
):
    for _spec in _ops:
        _spec.shape(_rule)


@RequantizationRangePerChannel.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    return [(), ()]


@RequantizePerChannel.shape
def _(op: Operation, input: Shape, *rest: Shape) -> list[Shape]:
    return [input, (), ()]
