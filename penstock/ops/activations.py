"""Activation functions, and the bias that goes before them."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import attr, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, NUMERIC, REAL
from penstock.ops import window
from penstock.ops.matmul import matmul
from penstock.ops.shape_checks import merge_shapes, merge_sizes, with_rank, with_rank_at_least
from penstock.shapes import Shape

__all__ = [
    "bias_add",
    "crelu",
    "elu",
    "leaky_relu",
    "relu",
    "relu6",
    "relu_layer",
    "selu",
    "silu",
    "softplus",
    "softsign",
    "swish",
    "xw_plus_b",
]

_LEAK = types(FLOATING, default=dtypes.float32)
_BIAS_FORMAT = attr("string", "NHWC", allowed=("NHWC", "NCHW"))

Relu = op("Relu(features: T) -> activations: T", T=types(REAL, dtypes.qint8))
ReluGrad = op("ReluGrad(gradients: T, features: T) -> backprops: T", T=REAL)
Relu6 = op("Relu6(features: T) -> activations: T", T=REAL)
Relu6Grad = op("Relu6Grad(gradients: T, features: T) -> backprops: T", T=REAL)
LeakyRelu = op("LeakyRelu(features: T) -> activations: T", alpha=0.2, T=_LEAK)
LeakyReluGrad = op("LeakyReluGrad(gradients: T, features: T) -> backprops: T", alpha=0.2, T=_LEAK)
Elu = op("Elu(features: T) -> activations: T", T=FLOATING)
EluGrad = op("EluGrad(gradients: T, outputs: T) -> backprops: T", T=FLOATING)
Selu = op("Selu(features: T) -> activations: T", T=FLOATING)
SeluGrad = op("SeluGrad(gradients: T, outputs: T) -> backprops: T", T=FLOATING)
Softplus = op("Softplus(features: T) -> activations: T", T=FLOATING)
SoftplusGrad = op("SoftplusGrad(gradients: T, features: T) -> backprops: T", T=FLOATING)
Softsign = op("Softsign(features: T) -> activations: T", T=FLOATING)
SoftsignGrad = op("SoftsignGrad(gradients: T, features: T) -> backprops: T", T=FLOATING)
BiasAdd = op("BiasAdd(value: T, bias: T) -> output: T", T=NUMERIC, data_format=_BIAS_FORMAT)
BiasAddV1 = op("BiasAddV1(value: T, bias: T) -> output: T", T=NUMERIC)
BiasAddGrad = op("BiasAddGrad(out_backprop: T) -> output: T", T=NUMERIC, data_format=_BIAS_FORMAT)


# Shapes ---------------------------------------------------------------------------------------


def _unchanged(op: Any, features: Shape) -> Shape:
    return features


def _merged(op: Any, gradients: Shape, features: Shape) -> Shape:
    return merge_shapes(gradients, features)


for _spec in (Relu, Relu6, LeakyRelu, Elu, Selu, Softplus, Softsign):
    _spec.shape(_unchanged)
for _spec in (ReluGrad, Relu6Grad, LeakyReluGrad, EluGrad, SeluGrad, SoftplusGrad, SoftsignGrad):
    _spec.shape(_merged)


@BiasAdd.shape
@BiasAddV1.shape
def _(op: Any, value: Shape, bias: Shape) -> Shape:
    channels = window.channel_axis(op.attrs.get("data_format"))
    value = with_rank_at_least(value, 3 if channels == 1 else 2)
    bias = with_rank(bias, 1)
    if value is None:
        return None
    axis = channels % len(value)
    return (*value[:axis], merge_sizes(value[axis], bias[0]), *value[axis + 1 :])


@BiasAddGrad.shape
def _(op: Any, out_backprop: Shape) -> Shape:
    channels = window.channel_axis(op.attrs["data_format"])
    out_backprop = with_rank_at_least(out_backprop, 3 if channels == 1 else 2)
    return (None,) if out_backprop is None else (out_backprop[channels],)


# Gradients ------------------------------------------------------------------------------------


def _no_gradient(x: Tensor) -> Tensor:
    from penstock.ops.filling import zeros
    from penstock.ops.shaping import shape

    return zeros(shape(x), x.dtype)


@Relu.gradient
def _(op: Any, grad: Tensor) -> Any:
    return ReluGrad(grad, op.outputs[0])


@ReluGrad.gradient
def _(op: Any, grad: Tensor) -> Any:
    features = op.inputs[1]
    return ReluGrad(grad, features), _no_gradient(features)


@Relu6.gradient
def _(op: Any, grad: Tensor) -> Any:
    return Relu6Grad(grad, op.outputs[0])


@Relu6Grad.gradient
def _(op: Any, grad: Tensor) -> Any:
    features = op.inputs[1]
    return Relu6Grad(grad, features), _no_gradient(features)


@LeakyRelu.gradient
def _(op: Any, grad: Tensor) -> Any:
    return LeakyReluGrad(grad, op.inputs[0], alpha=op.attrs["alpha"])


@LeakyReluGrad.gradient
def _(op: Any, grad: Tensor) -> Any:
    features = op.inputs[1]
    return LeakyReluGrad(grad, features, alpha=op.attrs["alpha"]), _no_gradient(features)


@Elu.gradient
def _(op: Any, grad: Tensor) -> Any:
    return EluGrad(grad, op.outputs[0])


@Selu.gradient
def _(op: Any, grad: Tensor) -> Any:
    return SeluGrad(grad, op.outputs[0])


@EluGrad.gradient
@SeluGrad.gradient
def _(op: Any, grad: Tensor) -> Any:
    from penstock.ops.filling import zeros_like
    from penstock.ops.select import Select

    gradients, outputs = op.inputs
    again = op.spec(grad, outputs)
    curved = Select(outputs < 0, grad * gradients, zeros_like(outputs))
    return again, curved


@Softplus.gradient
def _(op: Any, grad: Tensor) -> Any:
    from penstock.ops.elementwise import sigmoid

    return grad * sigmoid(op.inputs[0])


@SoftplusGrad.gradient
def _(op: Any, grad: Tensor) -> Any:
    from penstock.ops.elementwise import after, exp

    gradients, features = op.inputs
    with after(grad):
        again = SoftplusGrad(grad, features)
        curved = grad * gradients / (exp(-features) + 2.0 + exp(features))
        return again, curved


@Softsign.gradient
def _(op: Any, grad: Tensor) -> Any:
    return SoftsignGrad(grad, op.inputs[0])


@BiasAdd.gradient
def _(op: Any, grad: Tensor) -> Any:
    return grad, BiasAddGrad(grad, data_format=op.attrs["data_format"])


@BiasAddV1.gradient
def _(op: Any, grad: Tensor) -> Any:
    from penstock.ops.filling import range as count
    from penstock.ops.reductions import reduce_sum
    from penstock.ops.shaping import rank

    return grad, reduce_sum(grad, count(rank(grad) - 1))


@BiasAddGrad.gradient
def _(op: Any, grad: Tensor) -> Any:
    from penstock.ops.broadcasting import tile
    from penstock.ops.filling import ones_like
    from penstock.ops.joining import concat
    from penstock.ops.shaping import reshape, shape

    sizes, bias = shape(op.inputs[0]), shape(grad)
    if window.channel_axis(op.attrs["data_format"]) == 1:
        expanded = concat([ones_like(sizes[:1]), bias, ones_like(sizes[2:])], 0)
        repeats = concat([sizes[:1], [1], sizes[2:]], 0)
    else:
        expanded = concat([ones_like(sizes[:-1]), bias], 0)
        repeats = concat([sizes[:-1], [1]], 0)
    return tile(reshape(grad, expanded), repeats)


# Public functions -----------------------------------------------------------------------------


def relu(features: Any, name: str | None = None) -> Tensor:
    """max(x, 0)."""
    return Relu(features, name=name)


def relu6(features: Any, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6)."""
    with name_scope(name, "Relu6", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        return Relu6(features, name=scope)


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """x where it is positive, else alpha * x."""
    from penstock.ops.casts import cast

    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = cast(features, dtypes.float32)
        return LeakyRelu(features, alpha=alpha, name=scope)


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """The positive parts of x and of -x beside each other: twice the channels."""
    from penstock.ops.joining import concat

    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        both = concat([features, -features], axis, name=scope)
        return Relu(both)


def elu(features: Any, name: str | None = None) -> Tensor:
    """x where it is positive, else exp(x) - 1."""
    return Elu(features, name=name)


def selu(features: Any, name: str | None = None) -> Tensor:
    """The scaled exponential unit, whose activations keep mean 0 and variance 1."""
    return Selu(features, name=name)


def softplus(features: Any, name: str | None = None) -> Tensor:
    """log(exp(x) + 1)."""
    return Softplus(features, name=name)


def softsign(features: Any, name: str | None = None) -> Tensor:
    """x / (|x| + 1)."""
    return Softsign(features, name=name)


def swish(features: Any, beta: Any = 1.0) -> Tensor:
    """x * sigmoid(beta * x); the backward pass recomputes the sigmoid instead of keeping it."""
    from penstock.autodiff.registration import custom_gradient

    features = convert_to_tensor(features, name="features")
    beta = convert_to_tensor(beta, dtype=features.dtype.base_dtype, name="beta")
    return custom_gradient(_swish)(features, beta)


silu = swish


def _swish(features: Tensor, beta: Tensor) -> tuple[Tensor, Any]:
    from penstock.ops.elementwise import after, sigmoid, square
    from penstock.ops.reductions import reduce_sum

    def backward(grad: Tensor) -> tuple[Tensor, Tensor]:
        with after(grad):
            gate = sigmoid(beta * features)
        by_features = gate * (1.0 + (beta * features) * (1.0 - gate))
        by_beta = reduce_sum(grad * square(features) * gate * (1.0 - gate))
        return grad * by_features, by_beta

    return features * sigmoid(beta * features), backward


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """Adds `bias` [channels] to every position of `value`.

    Args:
      data_format: "N...C" (channels last, the default) or "NC..." and their kin.
    """
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is None:
            data_format = "NHWC"
        elif data_format.startswith("NC"):
            data_format = "NCHW"
        elif data_format.startswith("N") and data_format.endswith("C"):
            data_format = "NHWC"
        else:
            raise ValueError("data_format must be of the form `N...C` or `NC...`")
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype.base_dtype, name="bias")
        return BiasAdd(value, bias, data_format=data_format, name=scope)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """x @ weights + biases."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return bias_add(matmul(x, weights), biases, name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """relu(x @ weights + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return relu(bias_add(matmul(x, weights), biases), name=scope)
