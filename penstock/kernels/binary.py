"""Kernels of arithmetic on two tensors that broadcast."""

import functools

import numpy as np
import torch

from penstock import dtypes, errors
from penstock.kernels.host_loops import fill_at_zeros
from penstock.kernels.registry import inplace_factory, kernel
from penstock.kernels.unsigned import WIDE_UNSIGNED, through_numpy

_COMPLEX = (dtypes.complex64, dtypes.complex128)


def _register(op_type, function, numpy_function, overwrite=None):
    """An op that is one ATen function; in place it overwrites either operand.

    `overwrite` is a faster way to overwrite the first.
    """

    @kernel(op_type, fresh=True)
    def _(node):
        if node.attrs["T"] in WIDE_UNSIGNED:
            return through_numpy(numpy_function)
        if node.attrs["T"] is dtypes.string:
            return lambda x, y: np.asarray(numpy_function(x, y), dtype=object)
        return function

    @inplace_factory(op_type)
    def _(node):
        if node.attrs["T"] in WIDE_UNSIGNED or node.attrs["T"] is dtypes.string:
            return {}
        return {
            0: overwrite or (lambda x, y: function(x, y, out=x)),
            1: lambda x, y: function(x, y, out=y),
        }


_register("Add", torch.add, np.add, torch.Tensor.add_)
_register("AddV2", torch.add, np.add, torch.Tensor.add_)
_register("Sub", torch.sub, np.subtract, torch.Tensor.sub_)
_register("Mul", torch.mul, np.multiply, torch.Tensor.mul_)
_register("Maximum", torch.maximum, np.maximum)
_register("Minimum", torch.minimum, np.minimum)


@kernel("AddN", "AccumulateNV2", fresh=True)
def _(node):
    if node.attrs["T"] is dtypes.variant:
        return lambda *values: functools.reduce(lambda a, b: a.added(b), values)
    if node.attrs["T"] in WIDE_UNSIGNED:
        return through_numpy(lambda *arrays: np.sum(arrays, axis=0, dtype=arrays[0].dtype))
    if len(node.inputs) == 1:
        return torch.clone
    if not _same_static_shapes(node):
        return _checked_sum
    return torch.add if len(node.inputs) == 2 else _sum


def _same_static_shapes(node):
    first = node.inputs[0].shape
    known = first is not None and None not in first
    return known and all(edge.shape == first for edge in node.inputs)


def _sum(first, second, *rest):
    total = torch.add(first, second)
    for tensor in rest:
        total.add_(tensor)
    return total


def _checked_sum(*tensors):
    first = tensors[0].shape
    for tensor in tensors:
        if tensor.shape != first:
            raise ValueError("summands of different shapes")
    return _sum(*tensors)


@inplace_factory("AddN")
def _(node):
    if node.attrs["T"] in (*WIDE_UNSIGNED, dtypes.variant) or not _same_static_shapes(node):
        return {}

    def into(position):
        def run(*tensors):
            total = tensors[position]
            for i, tensor in enumerate(tensors):
                if i != position:
                    total.add_(tensor)
            return total

        return run

    return {i: into(i) for i in range(len(node.inputs))}


# Quotients ------------------------------------------------------------------------------------


def _guarded(function, error):
    """Integer division, with TensorFlow's error for a zero divisor (on the host)."""

    def run(x, y):
        try:
            return function(x, y)
        except RuntimeError as failure:
            if "ZeroDivisionError" not in str(failure):
                raise
            raise error(None, None, "Integer division by zero") from None

    return run


def _unsigned_guarded(numpy_function, error):
    def divide(x, y):
        if not y.all():
            raise error(None, None, "Integer division by zero")
        return numpy_function(x, y)

    return through_numpy(divide)


def _quotient(on_integers, on_unsigned, on_floats, error=errors.InvalidArgumentError):
    def factory(node):
        dtype = node.attrs["T"]
        if dtype in WIDE_UNSIGNED:
            return _unsigned_guarded(on_unsigned, error)
        return _guarded(on_integers, error) if dtype.is_integer else on_floats

    return factory


def _truncate_divide(x, y):
    # ATen's own crashes the process for the lowest number divided by -1.
    return torch.floor_divide(torch.sub(x, torch.fmod(x, y)), y)


def _truncated_quotient(x, y):
    return torch.div(x, y).trunc_()


def _floored_quotient(x, y):
    # Not ATen's floor_divide, which corrects the rounding of the quotient: 1 // 0.1 is 10.
    return torch.div(x, y).floor_()


for _op_type, _factory in {
    "RealDiv": lambda node: _truncate_divide if node.attrs["T"].is_integer else torch.div,
    "Div": _quotient(_truncate_divide, np.floor_divide, torch.div),
    "FloorDiv": _quotient(torch.floor_divide, np.floor_divide, _floored_quotient),
    "FloorMod": _quotient(torch.remainder, np.remainder, torch.remainder),
    "Mod": _quotient(torch.fmod, np.fmod, torch.fmod),
    # For these two TensorFlow has another class of error.
    "TruncateMod": _quotient(torch.fmod, np.fmod, torch.fmod, errors.InternalError),
    "TruncateDiv": _quotient(
        _truncate_divide, np.floor_divide, _truncated_quotient, errors.InternalError
    ),
}.items():
    kernel(_op_type, fresh=True)(_factory)


@inplace_factory("RealDiv")
def _(node):
    if node.attrs["T"].is_integer:
        return {}
    return {
        0: torch.Tensor.div_,
        1: lambda x, y: torch.div(x, y, out=y),
    }


@kernel("DivNoNan", fresh=True)
def _(node):
    return lambda x, y: fill_at_zeros(torch.div(x, y), y, 0)


@kernel("MulNoNan", fresh=True)
def _(node):
    return lambda x, y: fill_at_zeros(torch.mul(x, y), y, 0)


# Powers and distances --------------------------------------------------------------------------


@kernel("Pow", fresh=True)
def _(node, env):
    if node.attrs["T"].is_integer:
        return _integer_power
    exponent = env.constant(node, 1)
    if exponent is not None and exponent.dim() == 0:
        number = exponent.item()  # small whole numbers and halves have kernels of their own
        return lambda x, y: torch.pow(x, number)
    return torch.pow


def _integer_power(x, y):
    if bool((y < 0).any()):
        raise errors.InvalidArgumentError(
            None, None, "Integers to negative integer powers are not allowed"
        )
    return torch.pow(x, y)


@kernel("SquaredDifference", fresh=True)
def _(node):
    if node.attrs["T"] in _COMPLEX:

        def distance(x, y):
            difference = torch.sub(x, y)
            return torch.mul(difference, difference.conj())

        return distance

    def run(x, y):
        difference = torch.sub(x, y)
        return difference.mul_(difference)

    return run
