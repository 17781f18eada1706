"""Kernels of functions of one tensor: signs, powers, exponentials, rounding."""

import numpy as np
import torch

from penstock import dtypes
from penstock.kernels.host_loops import vectorised
from penstock.kernels.registry import direct, inplace, inplace_factory, kernel
from penstock.kernels.unsigned import WIDE_UNSIGNED, through_numpy

_COMPLEX = (dtypes.complex64, dtypes.complex128)

direct(
    {
        "Abs": torch.abs,
        "Neg": torch.neg,
        "Inv": torch.reciprocal,
        "Reciprocal": torch.reciprocal,
        "Sqrt": torch.sqrt,
        "Rsqrt": torch.rsqrt,
        "Exp": torch.exp,
        "Expm1": torch.expm1,
        "Log": torch.log,
        "Log1p": torch.log1p,
        "Tanh": torch.tanh,
        "Sigmoid": torch.sigmoid,
        "Floor": torch.floor,
        "Ceil": torch.ceil,
        "Rint": torch.round,
        "IsNan": vectorised(torch.isnan, np.isnan),
        "IsInf": vectorised(torch.isinf, np.isinf),
        "IsFinite": vectorised(torch.isfinite, np.isfinite),
    }
)

inplace(
    {
        "Abs": {0: torch.abs_},
        "Neg": {0: torch.neg_},
        "Inv": {0: torch.reciprocal_},
        "Reciprocal": {0: torch.reciprocal_},
        "Sqrt": {0: torch.sqrt_},
        "Rsqrt": {0: torch.rsqrt_},
        "Exp": {0: torch.exp_},
        "Expm1": {0: torch.expm1_},
        "Log": {0: torch.log_},
        "Log1p": {0: torch.log1p_},
        "Tanh": {0: torch.tanh_},
        "Sigmoid": {0: torch.sigmoid_},
        "Floor": {0: torch.floor_},
        "Ceil": {0: torch.ceil_},
        "Rint": {0: torch.round_},
    }
)


@kernel("Square", fresh=True)
def _(node):
    return through_numpy(np.square) if node.attrs["T"] in WIDE_UNSIGNED else torch.square


@inplace_factory("Square")
def _(node):
    return {} if node.attrs["T"] in WIDE_UNSIGNED else {0: torch.square_}


@kernel("Sign", fresh=True)
def _(node):
    if node.attrs["T"] in _COMPLEX:
        return torch.sgn
    if node.attrs["T"].is_integer:
        return torch.sign
    # The sign of NaN is NaN, not 0 as torch has it: adds nothing times what is finite, or NaN.
    return lambda x: torch.sign(x).add_(torch.clamp(x, -1, 1), alpha=0)


@kernel("Round", fresh=True)
def _(node):
    if node.attrs["T"].is_integer:
        return torch.clone
    if node.attrs["T"] in _COMPLEX:
        return lambda x: torch.complex(torch.round(x.real), torch.round(x.imag))
    return torch.round


# Gradients as ops of their own: functions of the result y and the gradient dy ------------------


@kernel("TanhGrad", fresh=True)
def _(node):
    if node.attrs["T"] in _COMPLEX:
        return lambda y, dy: torch.mul(y, y).neg_().add_(1).mul_(dy)
    backward = torch.ops.aten.tanh_backward.default
    return lambda y, dy: backward(dy, y)


@inplace_factory("TanhGrad", keeps_shape=True)
def _(node):
    if node.attrs["T"] in _COMPLEX:
        return {}
    backward = torch.ops.aten.tanh_backward.grad_input
    return {1: lambda y, dy: backward(dy, y, grad_input=dy)}


@kernel("SigmoidGrad", fresh=True)
def _(node):
    if node.attrs["T"] in _COMPLEX:
        return lambda y, dy: torch.sub(1, y).mul_(y).mul_(dy)
    backward = torch.ops.aten.sigmoid_backward.default
    return lambda y, dy: backward(dy, y)


@inplace_factory("SigmoidGrad", keeps_shape=True)
def _(node):
    if node.attrs["T"] in _COMPLEX:
        return {}
    backward = torch.ops.aten.sigmoid_backward.grad_input
    return {1: lambda y, dy: backward(dy, y, grad_input=dy)}


@kernel("InvGrad", "ReciprocalGrad", fresh=True)
def _(node):
    def run(y, dy):
        y = y.conj()
        return torch.mul(y, y).mul_(dy).neg_()

    return run


@kernel("SqrtGrad", fresh=True)
def _(node):
    return lambda y, dy: torch.div(dy, y.conj()).mul_(0.5)


@kernel("RsqrtGrad", fresh=True)
def _(node):
    def run(y, dy):
        y = y.conj()
        return torch.mul(y, y).mul_(y).mul_(dy).mul_(-0.5)

    return run
