"""Kernels of activation functions and biases."""

from __future__ import annotations

import math

import torch

from penstock.kernels.host_loops import vectorised
from penstock.kernels.registry import direct, inplace, inplace_factory, kernel
from penstock.kernels.select import choose
from penstock.kernels.values import torch_type
from penstock.kernels.with_triton import Attempt
from penstock.ops import window

_aten = torch.ops.aten
_nn = torch._C._nn

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946
# Types whose arithmetic ATen lacks, and one that holds their values.
_WIDER = {"uint16": torch.int32, "uint32": torch.int64, "uint64": torch.int64}


def _wider(node):
    """The type to compute in where ATen lacks the node's, else None."""
    return _WIDER.get(node.dtypes[0].name)


# Rectifiers -----------------------------------------------------------------------------------


@kernel("Relu", fresh=True)
def _(node):
    # Relu of an unsigned number is the number.
    return torch.relu if not node.dtypes[0].is_unsigned else torch.clone


@kernel("ReluGrad", fresh=True)
def _(node):
    backward = _aten.threshold_backward.default
    wide = _wider(node)
    if wide is not None:
        return lambda grad, features: torch.where(features.to(wide) != 0, grad, grad.new_zeros(()))
    return lambda grad, features: backward(grad, features, 0)


def _relu_grad_(grad, features, _out=_aten.threshold_backward.grad_input):
    return _out(grad, features, 0, grad_input=grad)


@inplace_factory("ReluGrad", keeps_shape=True)
def _(node):
    return {} if _wider(node) is not None else {0: _relu_grad_}


@kernel("Relu6", fresh=True)
def _(node):
    if _wider(node) is None:
        return lambda features: torch.clamp(features, 0, 6)
    return lambda features: torch.clamp(features.double(), 0, 6).to(features.dtype)


@kernel("Relu6Grad", fresh=True)
def _(node):
    if node.dtypes[0].is_floating:
        backward = _aten.hardtanh_backward.default
        return lambda grad, features: backward(grad, features, 0, 6)
    wide = _wider(node) is not None

    def run(grad, features):
        if wide:
            features = features.double()
        return torch.where((features > 0) & (features < 6), grad, grad.new_zeros(()))

    return run


@kernel("LeakyRelu", fresh=True)
def _(node):
    alpha = node.attrs["alpha"]
    return lambda features: _nn.leaky_relu(features, alpha)


@kernel("LeakyReluGrad", fresh=True)
def _(node):
    alpha, backward = node.attrs["alpha"], _aten.leaky_relu_backward.default
    return lambda grad, features: backward(grad, features, alpha, False)


@inplace_factory("Relu")
def _(node):
    return {} if _wider(node) is not None else {0: torch.relu_}


@inplace_factory("Relu6")
def _(node):
    return {} if _wider(node) is not None else {0: lambda x: x.clamp_(0, 6)}


# Exponential units ----------------------------------------------------------------------------

_elu_backward = _aten.elu_backward.default


_is_negative = vectorised(lambda x: x < 0, lambda x: x < 0)


def _selu_grad(grad, outputs):
    below = outputs + _SELU_ALPHA * _SELU_SCALE
    slope = choose(_is_negative(outputs), below, torch.full_like(outputs, _SELU_SCALE))
    return slope.mul_(grad)


direct(
    {
        "Elu": _nn.elu,
        "EluGrad": lambda grad, outputs: _elu_backward(grad, 1, 1, 1, True, outputs),
        "Selu": torch.selu,
        "SeluGrad": _selu_grad,
        "SoftplusGrad": lambda grad, features: torch.sigmoid(features).mul_(grad),
    }
)
inplace({"Elu": {0: _nn.elu_}, "Selu": {0: torch.selu_}})


@kernel("Softplus", fresh=True)
def _(node):
    # Above the threshold log(1 + exp(x)) is x in the type's precision.
    threshold = -math.log(torch.finfo(torch_type(node.dtypes[0])).eps)
    return lambda features: _nn.softplus(features, 1, threshold)


def _softsign(features):
    below = features.abs().add_(1)
    return torch.div(features, below, out=below)


def _softsign_grad(grad, features):
    below = features.abs().add_(1).pow_(2)
    return torch.div(grad, below, out=below)


direct({"Softsign": _softsign, "SoftsignGrad": _softsign_grad})


# Biases ---------------------------------------------------------------------------------------


def _beside(bias, value):
    """A bias shaped to broadcast over the dimensions behind the channels."""
    return bias.view(-1, *[1] * (value.dim() - 2))


def _check_bias(value, bias, axis):
    if bias.dim() != 1 or value.dim() < 2 or value.shape[axis] != bias.shape[0]:
        raise ValueError("the bias must have one entry per channel")


@kernel("BiasAdd", "BiasAddV1", fresh=True)
def _(node):
    wide = _wider(node)
    axis = window.channel_axis(node.attrs.get("data_format"))

    def run(value, bias):
        _check_bias(value, bias, axis)
        if wide is not None:
            return (value.to(wide) + bias.to(wide)).to(value.dtype)
        return torch.add(value, bias if axis == -1 else _beside(bias, value))

    return run


@inplace_factory("BiasAdd", keeps_shape=True)
def _(node):
    if _wider(node) is not None:
        return {}
    axis = window.channel_axis(node.attrs["data_format"])

    def run(value, bias):
        _check_bias(value, bias, axis)
        return value.add_(bias if axis == -1 else _beside(bias, value))

    return {0: run}


_channel_sums, _rectified = Attempt("sums", "channel_sums"), Attempt("sums", "rectified")


@kernel("_ReluGradAndSum", devices=("GPU",), fresh=True)
def _(node):
    backward = _aten.threshold_backward.default

    def run(grad, features):
        found = _rectified(grad, features)
        if found is not None:
            return found
        passed = backward(grad, features, 0)
        return passed, passed.reshape(-1, passed.shape[-1]).sum(0)

    return run


@kernel("BiasAddGrad", fresh=True)
def _(node):
    axis = window.channel_axis(node.attrs["data_format"])
    dtype, wide = torch_type(node.dtypes[0]), _wider(node)

    def run(grad):
        if grad.dim() < 2:
            raise ValueError("a bias belongs to at least two dimensions")
        if axis == -1:
            found = _channel_sums(grad) if grad.is_cuda else None
            if found is not None:
                return found
            # One long dimension sums twice as fast as several.
            return grad.reshape(-1, grad.shape[-1]).sum(0, dtype=dtype)
        return grad.sum([i for i in range(grad.dim()) if i != 1], dtype=dtype)

    if wide is None:
        return run
    return lambda grad: grad.to(wide).movedim(axis, -1).flatten(0, -2).sum(0).to(dtype)
