"""Arithmetic of quantized numbers: integers, and the two floats that their range stands for.

Every op gives, beside its integers, the range that they stand for.
"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.registry import OpSpec, attr, not_differentiable, op, types
from penstock.ir.type_sets import FLOATING, INDEX, QUANTIZED
from penstock.ops import window
from penstock.ops.shape_checks import merge_sizes, with_rank, with_rank_at_least
from penstock.shapes import Shape, broadcast, num_elements

__all__ = [
    "quantized_avg_pool",
    "quantized_concat",
    "quantized_conv2d",
    "quantized_max_pool",
    "quantized_relu_x",
]

_PRODUCT_ATTRS: dict[str, Any] = {
    "T1": QUANTIZED,
    "T2": QUANTIZED,
    "Toutput": types(QUANTIZED, default=dtypes.qint32),
}
_RELU_ATTRS: dict[str, Any] = {
    "Tinput": QUANTIZED,
    "out_type": types(QUANTIZED, default=dtypes.quint8),
}
_WINDOW_ATTRS: dict[str, Any] = {
    "strides": attr("list(int)"),
    "padding": attr("string", allowed=("SAME", "VALID")),
}
QuantizeAndDequantizeV4 = op(
    "QuantizeAndDequantizeV4(input: T, input_min: T, input_max: T) -> output: T",
    signed_input=True,
    num_bits=8,
    range_given=False,
    T=FLOATING,
    round_mode=attr("string", "HALF_TO_EVEN", allowed=("HALF_TO_EVEN", "HALF_UP")),
    narrow_range=False,
    axis=-1,
)
QuantizeAndDequantizeV4Grad = op(
    "QuantizeAndDequantizeV4Grad(gradients: T, input: T, input_min: T, input_max: T) "
    "-> input_backprop: T, input_min_backprop: T, input_max_backprop: T",
    T=FLOATING,
    axis=-1,
)
Requantize = op(
    "Requantize(input: Tinput, input_min: float32, input_max: float32, "
    "requested_output_min: float32, requested_output_max: float32) -> output: out_type, "
    "output_min: float32, output_max: float32",
    Tinput=QUANTIZED,
    out_type=QUANTIZED,
)
RequantizationRange = op(
    "RequantizationRange(input: Tinput, input_min: float32, input_max: float32) "
    "-> output_min: float32, output_max: float32",
    Tinput=QUANTIZED,
)
QuantizeDownAndShrinkRange = op(
    "QuantizeDownAndShrinkRange(input: Tinput, input_min: float32, input_max: float32) "
    "-> output: out_type, output_min: float32, output_max: float32",
    Tinput=QUANTIZED,
    out_type=QUANTIZED,
)
QuantizedAdd = op(
    "QuantizedAdd(x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32) "
    "-> z: Toutput, min_z: float32, max_z: float32",
    **_PRODUCT_ATTRS,
)
QuantizedMul = op(
    "QuantizedMul(x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32) "
    "-> z: Toutput, min_z: float32, max_z: float32",
    **_PRODUCT_ATTRS,
)
QuantizedMatMul = op(
    "QuantizedMatMul(a: T1, b: T2, min_a: float32, max_a: float32, min_b: float32, "
    "max_b: float32) -> out: Toutput, min_out: float32, max_out: float32",
    **_PRODUCT_ATTRS,
    transpose_a=False,
    transpose_b=False,
    Tactivation=types(QUANTIZED, default=dtypes.quint8),
)
QuantizedConv2D = op(
    "QuantizedConv2D(input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, "
    "min_filter: float32, max_filter: float32) -> output: out_type, min_output: float32, "
    "max_output: float32",
    Tinput=QUANTIZED,
    Tfilter=QUANTIZED,
    out_type=types(QUANTIZED, default=dtypes.qint32),
    dilations=attr("list(int)", [1, 1, 1, 1]),
    **_WINDOW_ATTRS,
)
QuantizedBiasAdd = op(
    "QuantizedBiasAdd(input: T1, bias: T2, min_input: float32, max_input: float32, "
    "min_bias: float32, max_bias: float32) -> output: out_type, min_out: float32, max_out: float32",
    T1=QUANTIZED,
    T2=QUANTIZED,
    out_type=QUANTIZED,
)
QuantizedRelu = op(
    "QuantizedRelu(features: Tinput, min_features: float32, max_features: float32) "
    "-> activations: out_type, min_activations: float32, max_activations: float32",
    **_RELU_ATTRS,
)
QuantizedRelu6 = op(
    "QuantizedRelu6(features: Tinput, min_features: float32, max_features: float32) "
    "-> activations: out_type, min_activations: float32, max_activations: float32",
    **_RELU_ATTRS,
)
QuantizedReluX = op(
    "QuantizedReluX(features: Tinput, max_value: float32, min_features: float32, "
    "max_features: float32) -> activations: out_type, min_activations: float32, "
    "max_activations: float32",
    **_RELU_ATTRS,
)
QuantizedMaxPool = op(
    "QuantizedMaxPool(input: T, min_input: float32, max_input: float32) -> output: T, "
    "min_output: float32, max_output: float32",
    T=QUANTIZED,
    ksize=attr("list(int)"),
    **_WINDOW_ATTRS,
)
QuantizedAvgPool = op(
    "QuantizedAvgPool(input: T, min_input: float32, max_input: float32) -> output: T, "
    "min_output: float32, max_output: float32",
    T=QUANTIZED,
    ksize=attr("list(int)"),
    **_WINDOW_ATTRS,
)
QuantizedBatchNormWithGlobalNormalization = op(
    "QuantizedBatchNormWithGlobalNormalization(t: Tinput, t_min: float32, t_max: float32, "
    "m: Tinput, m_min: float32, m_max: float32, v: Tinput, v_min: float32, v_max: float32, "
    "beta: Tinput, beta_min: float32, beta_max: float32, gamma: Tinput, gamma_min: float32, "
    "gamma_max: float32) -> result: out_type, result_min: float32, result_max: float32",
    Tinput=QUANTIZED,
    out_type=QUANTIZED,
    variance_epsilon=attr("float"),
    scale_after_normalization=attr("bool"),
)
QuantizedInstanceNorm = op(
    "QuantizedInstanceNorm(x: T, x_min: float32, x_max: float32) -> y: T, y_min: float32, "
    "y_max: float32",
    T=QUANTIZED,
    output_range_given=False,
    given_y_min=0.0,
    given_y_max=0.0,
    variance_epsilon=1e-05,
    min_separation=0.001,
)
QuantizedResizeBilinear = op(
    "QuantizedResizeBilinear(images: T, size: int32, min: float32, max: float32) "
    "-> resized_images: T, out_min: float32, out_max: float32",
    T=types(dtypes.quint8, dtypes.qint32, dtypes.float32),
    align_corners=False,
    half_pixel_centers=False,
)
QuantizedConcat = op(
    "QuantizedConcat(concat_dim: int32, values: N*T, input_mins: N*float32, "
    "input_maxes: N*float32) -> output: T, output_min: float32, output_max: float32",
    N=attr("int", minimum=2),
)
QuantizedReshape = op(
    "QuantizedReshape(tensor: T, shape: Tshape, input_min: float32, input_max: float32) "
    "-> output: T, output_min: float32, output_max: float32",
    Tshape=types(INDEX, default=dtypes.int32),
)
not_differentiable(
    *(Requantize, RequantizationRange, QuantizeDownAndShrinkRange, QuantizedAdd, QuantizedMul),
    *(QuantizedMatMul, QuantizedConv2D, QuantizedBiasAdd, QuantizedRelu, QuantizedRelu6),
    *(QuantizedBatchNormWithGlobalNormalization, QuantizedInstanceNorm, QuantizedResizeBilinear),
    *(QuantizedReluX, QuantizedMaxPool, QuantizedAvgPool, QuantizedConcat, QuantizedReshape),
)


# Shapes ---------------------------------------------------------------------------------------


def _with_range(shape: Shape, *bounds: Shape) -> list[Shape]:
    """The shapes of a result and its range, where the ranges of the inputs must be numbers."""
    for bound in bounds:
        with_rank(bound, 0)
    return [shape, (), ()]


@QuantizeAndDequantizeV4.shape
def _(op: Any, input: Shape, low: Shape, high: Shape) -> Shape:
    rank = 0 if op.attrs["axis"] == -1 else 1
    with_rank(low, rank)
    with_rank(high, rank)
    return input


@QuantizeAndDequantizeV4Grad.shape
def _(op: Any, grad: Shape, input: Shape, low: Shape, high: Shape) -> list[Shape]:
    rank = 0 if op.attrs["axis"] == -1 else 1
    return [input, with_rank(low, rank), with_rank(high, rank)]


@QuantizeDownAndShrinkRange.shape
@QuantizedRelu.shape
@QuantizedRelu6.shape
@Requantize.shape
def _(op: Any, input: Shape, *bounds: Shape) -> list[Shape]:
    return _with_range(input, *bounds)


@QuantizedReluX.shape
def _(op: Any, input: Shape, largest: Shape, *bounds: Shape) -> list[Shape]:
    return _with_range(input, *bounds)


@RequantizationRange.shape
def _(op: Any, input: Shape, low: Shape, high: Shape) -> list[Shape]:
    return _with_range(input, low, high)[1:]


@QuantizedAdd.shape
@QuantizedMul.shape
def _(op: Any, x: Shape, y: Shape, *bounds: Shape) -> list[Shape]:
    return _with_range(broadcast(x, y))


@QuantizedBiasAdd.shape
def _(op: Any, input: Shape, bias: Shape, *bounds: Shape) -> list[Shape]:
    sizes = with_rank_at_least(input, 2)
    size = with_rank(bias, 1)[0]
    if sizes is not None:
        sizes = (*sizes[:-1], merge_sizes(sizes[-1], size))
    return _with_range(sizes, *bounds)


@QuantizedMatMul.shape
def _(op: Any, a: Shape, b: Shape, *bounds: Shape) -> list[Shape]:
    rows, inner = with_rank(a, 2)[:: -1 if op.attrs["transpose_a"] else 1]
    inner_b, columns = with_rank(b, 2)[:: -1 if op.attrs["transpose_b"] else 1]
    merge_sizes(inner, inner_b)
    return _with_range((rows, columns), *bounds)


@QuantizedConv2D.shape
def _(op: Any, input: Shape, filter: Shape, *bounds: Shape) -> list[Shape]:
    images, taps = with_rank(input, 4), with_rank(filter, 4)
    merge_sizes(images[3], taps[2])
    window.check_length("QuantizedConv2D", "stride", op.attrs["strides"], 4)
    rates = op.attrs["dilations"][1:3]
    extents = [window.dilated(n, rate) for n, rate in zip(taps[:2], rates, strict=True)]
    sizes = window.output_sizes(
        images[1:3], extents, op.attrs["strides"][1:3], op.attrs["padding"], []
    )
    return _with_range((images[0], *sizes, taps[3]), *bounds)


@QuantizedMaxPool.shape
@QuantizedAvgPool.shape
def _(op: Any, input: Shape, *bounds: Shape) -> list[Shape]:
    batch, *sizes, depth = with_rank(input, 4)
    for key, what in (("strides", "stride"), ("ksize", "ksize")):
        window.check_length(op.type, what, op.attrs[key], 4)
    pooled = window.output_sizes(
        sizes, op.attrs["ksize"][1:3], op.attrs["strides"][1:3], op.attrs["padding"], []
    )
    return _with_range((batch, *pooled, depth), *bounds)


@QuantizedBatchNormWithGlobalNormalization.shape
def _(op: Any, t: Shape, *rest: Shape) -> list[Shape]:
    images = with_rank(t, 4)
    depth = images[3]
    for vector in rest[2::3]:
        depth = merge_sizes(depth, with_rank(vector, 1)[0])
    bounds = [bound for place, bound in enumerate(rest) if place % 3 != 2]
    return _with_range((*images[:3], depth), *bounds)


@QuantizedInstanceNorm.shape
def _(op: Any, x: Shape, *bounds: Shape) -> list[Shape]:
    return _with_range(with_rank(x, 4), *bounds)


@QuantizedResizeBilinear.shape
def _(op: Any, images: Shape, size: Shape, *bounds: Shape) -> list[Shape]:
    batch, _, _, depth = with_rank(images, 4)
    height, width = with_rank(constant_shape(op.inputs[1]), 2)
    return _with_range((batch, height, width, depth), *bounds)


@QuantizedConcat.shape
def _(op: Any, axis: Shape, *values_and_bounds: Shape) -> list[Shape]:
    values = values_and_bounds[: op.attrs["N"]]
    known = constant_value(op.inputs[0])
    first = next((value for value in values if value is not None), None)
    if known is None or first is None:
        return _with_range(None if first is None else (None,) * len(first))
    place = int(known) % max(len(first), 1)
    result = list(first)
    result[place] = 0
    for value in values:
        sizes = with_rank(value, len(first))
        for i, size in enumerate(sizes):
            if i != place:
                result[i] = merge_sizes(result[i], size)
            elif size is None or result[i] is None:
                result[i] = None
            else:
                result[i] += size  # type: ignore[operator]  # neither is None
    return _with_range(tuple(result), *values_and_bounds[op.attrs["N"] :])


@QuantizedReshape.shape
def _(op: Any, tensor: Shape, shape: Shape, *bounds: Shape) -> list[Shape]:
    wanted = constant_shape(op.inputs[1])
    count = num_elements(tensor)
    if wanted is not None and wanted.count(None) == 1 and count is not None:
        rest = num_elements(tuple(size for size in wanted if size is not None)) or 1
        wanted = tuple(count // rest if size is None else size for size in wanted)
    return _with_range(wanted, *bounds)


@QuantizeAndDequantizeV4.gradient
def _(op: Any, grad: Any) -> Any:
    return QuantizeAndDequantizeV4Grad(grad, *op.inputs, axis=op.attrs["axis"])


# Functions ------------------------------------------------------------------------------------


def quantized_concat(
    concat_dim: Any, values: Any, input_mins: Any, input_maxes: Any, name: str | None = None
) -> Any:
    """Concatenates quantized tensors, whose ranges are brought to one that holds all of them."""
    return QuantizedConcat(concat_dim, values, input_mins, input_maxes, name=name)


def quantized_conv2d(
    input: Any,
    filter: Any,
    min_input: Any,
    max_input: Any,
    min_filter: Any,
    max_filter: Any,
    strides: Any,
    padding: str,
    out_type: Any = dtypes.qint32,
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """The convolution of quantized images with quantized filters, exact in 32-bit integers."""
    return QuantizedConv2D(
        *(input, filter, min_input, max_input, min_filter, max_filter),
        strides=strides,
        padding=padding,
        out_type=out_type,
        dilations=list(dilations),
        name=name,
    )


def quantized_max_pool(
    input: Any,
    min_input: Any,
    max_input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    name: str | None = None,
) -> Any:
    """The maximum of each window of quantized images, in the range of the input."""
    return _pooled(QuantizedMaxPool, input, min_input, max_input, ksize, strides, padding, name)


def quantized_avg_pool(
    input: Any,
    min_input: Any,
    max_input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    name: str | None = None,
) -> Any:
    """The mean of each window of quantized images, in the range of the input."""
    return _pooled(QuantizedAvgPool, input, min_input, max_input, ksize, strides, padding, name)


def _pooled(
    spec: OpSpec,
    input: Any,
    low: Any,
    high: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    name: str | None,
) -> Any:
    return spec(input, low, high, ksize=ksize, strides=strides, padding=padding, name=name)


def quantized_relu_x(
    features: Any,
    max_value: Any,
    min_features: Any,
    max_features: Any,
    out_type: Any = dtypes.quint8,
    name: str | None = None,
) -> Any:
    """Quantized numbers clipped to the range from zero to `max_value`."""
    return QuantizedReluX(
        features, max_value, min_features, max_features, out_type=out_type, name=name
    )
