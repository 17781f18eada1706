"""Batch normalization as one op, and its gradients."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.registry import attr, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import NARROW_FLOATING
from penstock.ops import window
from penstock.ops.binary import squared_difference
from penstock.ops.casts import cast
from penstock.ops.constants import constant
from penstock.ops.elementwise import reciprocal, rsqrt
from penstock.ops.identity import stop_gradient
from penstock.ops.permuting import transpose
from penstock.ops.reductions import reduce_mean, reduce_sum
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.shaping import reshape, squeeze
from penstock.shapes import Shape

__all__ = ["fused_batch_norm"]

_FORMAT = attr("string", "NHWC", allowed=("NHWC", "NCHW"))
_FORMAT_V3 = attr("string", "NHWC", allowed=("NHWC", "NCHW", "NDHWC", "NCDHW"))
_SINGLE = types(dtypes.float32)
_SMALLEST_EPSILON = 1.001e-5  # what cuDNN takes
_FORWARD: dict[str, Any] = {"epsilon": 0.0001, "exponential_avg_factor": 1.0}

FusedBatchNorm = op(
    "FusedBatchNorm(x: T, scale: T, offset: T, mean: T, variance: T) -> y: T, batch_mean: T, "
    "batch_variance: T, reserve_space_1: T, reserve_space_2: T",
    T=_SINGLE,
    **_FORWARD,
    data_format=_FORMAT,
    is_training=True,
)
FusedBatchNormV2 = op(
    "FusedBatchNormV2(x: T, scale: U, offset: U, mean: U, variance: U) -> y: T, batch_mean: U, "
    "batch_variance: U, reserve_space_1: U, reserve_space_2: U",
    T=NARROW_FLOATING,
    U=_SINGLE,
    **_FORWARD,
    data_format=_FORMAT,
    is_training=True,
)
FusedBatchNormV3 = op(
    "FusedBatchNormV3(x: T, scale: U, offset: U, mean: U, variance: U) -> y: T, batch_mean: U, "
    "batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U",
    T=NARROW_FLOATING,
    U=types(dtypes.bfloat16, dtypes.float32),
    **_FORWARD,
    data_format=_FORMAT_V3,
    is_training=True,
)
FusedBatchNormGrad = op(
    "FusedBatchNormGrad(y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T) "
    "-> x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, "
    "reserve_space_4: T",
    T=_SINGLE,
    epsilon=0.0001,
    data_format=_FORMAT,
    is_training=True,
)
FusedBatchNormGradV2 = op(
    "FusedBatchNormGradV2(y_backprop: T, x: T, scale: float32, reserve_space_1: U, "
    "reserve_space_2: U) -> x_backprop: T, scale_backprop: U, offset_backprop: U, "
    "reserve_space_3: U, reserve_space_4: U",
    T=NARROW_FLOATING,
    U=_SINGLE,
    epsilon=0.0001,
    data_format=_FORMAT,
    is_training=True,
)
FusedBatchNormGradV3 = op(
    "FusedBatchNormGradV3(y_backprop: T, x: T, scale: float32, reserve_space_1: U, "
    "reserve_space_2: U, reserve_space_3: U) -> x_backprop: T, scale_backprop: U, "
    "offset_backprop: U, reserve_space_4: U, reserve_space_5: U",
    T=NARROW_FLOATING,
    U=_SINGLE,
    epsilon=0.0001,
    data_format=_FORMAT_V3,
    is_training=True,
)


# Shapes ---------------------------------------------------------------------------------------


def _rank(op: Any) -> int:
    return 5 if "D" in op.attrs["data_format"] else 4


def _with_channels(
    op: Any, image: tuple[int | None, ...], vectors: list[Shape]
) -> tuple[Shape, int | None]:
    """The image's shape and its channels, as far as it and vectors of that length know them."""
    channels = window.channel_axis(op.attrs["data_format"])
    depth = image[channels]
    for vector in vectors:
        depth = merge_sizes(depth, with_rank(vector, 1)[0])
    return window.assemble(image[0], window.spatial(image, channels), depth, channels), depth


@FusedBatchNorm.shape
@FusedBatchNormV2.shape
@FusedBatchNormV3.shape
def _(op: Any, x: Shape, scale: Shape, offset: Shape, mean: Shape, variance: Shape) -> Any:
    vectors = [scale, offset]
    if not op.attrs["is_training"]:
        vectors += [mean, variance]
    image, depth = _with_channels(op, with_rank(x, _rank(op)), vectors)
    statistics: list[Shape] = [(depth,)] * 4
    return [image, *statistics, None] if op.type == "FusedBatchNormV3" else [image, *statistics]


@FusedBatchNormGrad.shape
@FusedBatchNormGradV2.shape
@FusedBatchNormGradV3.shape
def _(op: Any, y_backprop: Shape, x: Shape, scale: Shape, *reserved: Shape) -> Any:
    rank = _rank(op)
    x, y_backprop = with_rank(x, rank), with_rank(y_backprop, rank)
    channels = window.channel_axis(op.attrs["data_format"])
    vectors = [(x[channels],), scale, *reserved[:2]]
    image, depth = _with_channels(op, y_backprop, vectors)
    return [image, (depth,), (depth,), (0,), (0,)]


# Gradients ------------------------------------------------------------------------------------


@FusedBatchNorm.gradient
def _(op: Any, *grads: Tensor) -> Any:
    return _gradient(op, FusedBatchNormGrad, grads[0], [])


@FusedBatchNormV2.gradient
def _(op: Any, *grads: Tensor) -> Any:
    return _gradient(op, FusedBatchNormGradV2, grads[0], [])


@FusedBatchNormV3.gradient
def _(op: Any, *grads: Tensor) -> Any:
    return _gradient(op, FusedBatchNormGradV3, grads[0], [op.outputs[5]])


def _gradient(op: Any, backward: Any, grad: Tensor, extra: list[Tensor]) -> Any:
    x, scale, _, mean, variance = op.inputs
    attrs = {key: op.attrs[key] for key in ("epsilon", "is_training")}
    data_format = op.attrs["data_format"]
    if attrs["is_training"]:
        reserved = op.outputs[3:5]
        dx, dscale, doffset, *by_statistics = backward(
            grad, x, scale, *reserved, *extra, data_format=data_format, **attrs
        )
        if mean._shape != (0,):
            by_statistics = [None, None]
        return dx, dscale, doffset, *by_statistics
    # With fixed statistics TensorFlow computes the gradient channels last.
    turned = window.channel_axis(data_format) == 1
    if turned:
        to_last, to_first, data_format = _TURNS[data_format]
        x, grad = transpose(x, to_last), transpose(grad, to_last)
    dx, dscale, doffset, *_ = backward(
        grad, x, scale, mean, variance, *extra, data_format=data_format, **attrs
    )
    return (transpose(dx, to_first) if turned else dx), dscale, doffset, None, None


_TURNS = {
    "NCHW": ([0, 2, 3, 1], [0, 3, 1, 2], "NHWC"),
    "NCDHW": ([0, 2, 3, 4, 1], [0, 4, 1, 2, 3], "NDHWC"),
}


@FusedBatchNormGrad.gradient
@FusedBatchNormGradV2.gradient
@FusedBatchNormGradV3.gradient
def _(op: Any, *grads: Tensor) -> Any:
    """Second derivatives, by differentiating the formula of the first."""
    from penstock.autodiff.gradients import gradients

    inputs = list(op.inputs[:5])
    first = list(_formula(op, *inputs))
    # Partial derivatives: y's gradient is often computed from x, a way that the caller follows.
    partials = gradients(first, inputs[:3], grad_ys=list(grads[:3]), stop_gradients=inputs)
    by_statistics: list[Any] = [None] * (len(op.inputs) - 3)
    if not op.attrs["is_training"]:
        by_statistics[:2] = gradients(
            first, inputs[3:], grad_ys=list(grads[:3]), stop_gradients=inputs
        )
    return *partials, *by_statistics


def _formula(
    op: Any, y_grad: Tensor, x: Tensor, scale: Tensor, mean: Tensor, variance: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients for x, scale and offset, from ops that have gradients themselves."""
    channels = window.channel_axis(op.attrs["data_format"])
    dimensions = _rank(op)
    axes = [i for i in range(dimensions) if i != channels % dimensions]
    keep = channels == 1
    given, epsilon = x.dtype.base_dtype, op.attrs["epsilon"]
    x, y_grad = cast(x, dtypes.float32), cast(y_grad, dtypes.float32)
    if keep:  # one entry per channel, shaped to broadcast over what stands behind it
        scale, mean, variance = (
            reshape(entry, [1, -1, *[1] * (dimensions - 2)]) for entry in (scale, mean, variance)
        )
    if op.attrs["is_training"]:
        by_x, by_scale = _training_formula(y_grad, x, scale, epsilon, axes, keep)
        by_offset = reduce_sum(y_grad, axes, keepdims=keep)
    else:
        by_offset = reduce_sum(y_grad, axes, keepdims=keep)
        deviation = rsqrt(variance + epsilon)
        by_scale = reduce_sum(y_grad * (x - mean) * deviation, axes, keepdims=keep)
        by_x = y_grad * scale * deviation
    if keep:
        by_scale, by_offset = squeeze(by_scale, axes), squeeze(by_offset, axes)
    return cast(by_x, given), by_scale, by_offset


def _training_formula(
    y_grad: Tensor, x: Tensor, scale: Tensor, epsilon: float, axes: list[int], keep: bool
) -> tuple[Tensor, Tensor]:
    mean_y_grad = reduce_mean(y_grad, axes, keepdims=keep)
    mean_x = reduce_mean(x, axes, keepdims=keep)
    variance = reduce_mean(squared_difference(x, stop_gradient(mean_x)), axes, keepdims=keep)
    y_grad_offset = y_grad - mean_y_grad
    x_offset = x - mean_x
    mean = reduce_mean(y_grad * x_offset, axes, keepdims=keep)
    by_x = (
        scale
        * rsqrt(variance + epsilon)
        * (y_grad_offset - reciprocal(variance + epsilon) * mean * x_offset)
    )
    by_scale = rsqrt(variance + epsilon) * reduce_sum(y_grad * x_offset, axes, keepdims=keep)
    return by_x, by_scale


# Public function ------------------------------------------------------------------------------


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalizes each channel: y, its mean and its variance (over n - 1).

    Args:
      x: Four dimensions in the order of `data_format`.
      mean, variance: Known statistics, needed where `is_training` is False.
      epsilon: Added to the variance.
    """
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    lacks_statistics = mean is None or variance is None
    if is_training and exponential_avg_factor == 1.0 and not (mean is None and variance is None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    mean = constant([]) if mean is None else mean
    variance = constant([]) if variance is None else variance
    if lacks_statistics and (not is_training or exponential_avg_factor != 1.0):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
            "`exponential_avg_factor` != 1.0."
        )
    y, batch_mean, batch_variance, *_ = FusedBatchNormV3(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=max(epsilon, _SMALLEST_EPSILON),
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return y, batch_mean, batch_variance
