"""Kernels of random operations whose generator is a variable: the counter, then the key."""

import math
import os

import numpy as np
import torch

from penstock import dtypes, errors
from penstock.ir.type_sets import FLOATING, INDEX
from penstock.kernels import distributions
from penstock.kernels.binomial import binomial
from penstock.kernels.distributions import reserved
from penstock.kernels.philox import Stream
from penstock.kernels.random import shape_reader
from penstock.kernels.registry import kernel
from penstock.kernels.state import buffer_reader
from penstock.kernels.values import torch_type

_PHILOX = 1
_STATE_SIZE = 3  # both halves of Philox' counter, and its key
_INTEGERS = (*INDEX, dtypes.uint32, dtypes.uint64)


def _scalar(value, index):
    if value.dim() != 0:
        raise errors.InvalidArgumentError(
            None, None, f"input {index} (0-based) must have shape [], not {list(value.shape)}"
        )
    return value.item()


def _check_type(node, supported):
    dtype = node.attrs["dtype"]
    if dtype not in supported:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"No OpKernel was registered to support Op '{node.type}' with dtype={dtype.name}",
        )


class _Generator:
    """Takes parts of the stream that a variable stands for, as one kernel does."""

    def __init__(self, node):
        self._buffer = buffer_reader(node)

    def reserve(self, state, algorithm, blocks):
        """The stream from here on; the variable then says that `blocks` of it are taken.

        Without an algorithm the variable has it before the counter.
        """
        with state.lock:
            buffer = self._buffer(state)
            if algorithm is None:
                number, buffer = buffer[:1].sum().item(), buffer[1:]
            else:
                number = _scalar(algorithm, 1)
            _check_state(buffer, number)
            low, high, key = (word % 2**64 for word in buffer[:_STATE_SIZE].tolist())
            stream = Stream(key, high, low)
            after = stream.skipped(blocks)
            words = np.array([after.low, after.high], np.uint64).view(np.int64)
            buffer[:2] = torch.from_numpy(words).to(buffer.device)
        return stream


def _check_state(buffer, algorithm):
    if buffer.dtype is not torch.int64:
        kind = str(buffer.dtype).removeprefix("torch.")
        problem = f"dtype of RNG state variable must be int64, not {kind}"
    elif buffer.dim() != 1:
        problem = f"RNG state must have one and only one dimension, not {buffer.dim()}"
    elif algorithm != _PHILOX:
        problem = f"Unsupported algorithm id: {algorithm}"
    elif len(buffer) < _STATE_SIZE:
        problem = (
            f"For the Philox algorithm, the size of state must be at least {_STATE_SIZE}; got "
            f"{len(buffer)}"
        )
    else:
        return
    raise errors.InvalidArgumentError(None, None, problem)


_SAMPLERS = {
    "StatefulUniform": distributions.uniform,
    "StatefulStandardNormalV2": distributions.normal,
    "StatefulTruncatedNormal": distributions.truncated_normal,
}


@kernel(*_SAMPLERS, fresh=True)
def _(node, env):
    _check_type(node, FLOATING)
    sampler = _SAMPLERS[node.type]
    dtype, device = torch_type(node.attrs["dtype"]), env.torch_device
    read, generator = shape_reader(node, env, 2), _Generator(node)

    def run(state, algorithm, shape):
        sizes = read(shape)
        count = math.prod(sizes)
        stream = generator.reserve(state, algorithm, reserved(count))
        return sampler(stream, count, dtype, device).view(sizes)

    return run


@kernel("StatefulStandardNormal", fresh=True)
def _(node, env):
    _check_type(node, FLOATING)
    dtype, device = torch_type(node.attrs["dtype"]), env.torch_device
    read, generator = shape_reader(node, env, 1), _Generator(node)

    def run(state, shape):
        sizes = read(shape)
        count = math.prod(sizes)
        stream = generator.reserve(state, None, reserved(count))
        return distributions.normal(stream, count, dtype, device).view(sizes)

    return run


@kernel("StatefulUniformFullInt", fresh=True)
def _(node, env):
    _check_type(node, _INTEGERS)
    element = node.attrs["dtype"].as_numpy_dtype
    read, generator = shape_reader(node, env, 2), _Generator(node)

    def run(state, algorithm, shape):
        sizes = read(shape)
        count = math.prod(sizes)
        stream = generator.reserve(state, algorithm, reserved(count))
        drawn = distributions.full_integers(stream, count, element)
        return env.to_device(torch.from_numpy(drawn).view(sizes))

    return run


@kernel("StatefulUniformInt", fresh=True)
def _(node, env):
    _check_type(node, _INTEGERS)
    element = node.attrs["dtype"].as_numpy_dtype
    read, generator = shape_reader(node, env, 2), _Generator(node)

    def run(state, algorithm, shape, minval, maxval):
        sizes = read(shape)
        count = math.prod(sizes)
        low, high = _bound("minval", minval), _bound("maxval", maxval)
        if low >= high:
            raise errors.InvalidArgumentError(
                None, None, f"Need minval < maxval, got {low} >= {high}"
            )
        stream = generator.reserve(state, algorithm, reserved(count))
        drawn = distributions.uniform_integers(stream, count, low, high, element)
        return env.to_device(drawn.view(sizes))

    return run


def _bound(name, value):
    if value.dim() != 0:
        raise errors.InvalidArgumentError(
            None, None, f"{name} must be 0-D, got shape {list(value.shape)}"
        )
    return value.item()


@kernel("RngSkip")
def _(node):
    generator = _Generator(node)

    def run(state, algorithm, delta):
        generator.reserve(state, algorithm, reserved(_scalar(delta, 2)))

    return run


@kernel("NonDeterministicInts", fresh=True)
def _(node, env):
    _check_type(node, _INTEGERS)
    element = np.dtype(node.attrs["dtype"].as_numpy_dtype)
    read = shape_reader(node, env)

    def run(shape):
        sizes = read(shape)
        drawn = np.frombuffer(os.urandom(math.prod(sizes) * element.itemsize), element)
        return env.to_device(torch.from_numpy(drawn.copy()).view(sizes))

    return run


# Binomial -------------------------------------------------------------------------------------

_BATCH = 100  # samples of one distribution that make a batch
_RESERVED = 2 * 100  # blocks of its stream that a batch takes per sample, used or not, in quarters


@kernel("StatefulRandomBinomial", fresh=True)
def _(node, env):
    dtype = torch_type(node.attrs["dtype"])
    read, generator = shape_reader(node, env, 2), _Generator(node)

    def run(state, algorithm, shape, counts, probs):
        sizes = read(shape)
        count = math.prod(sizes)
        batches, each = _batches(sizes, count, {"counts": counts, "probs": probs})
        blocks = reserved(batches * _RESERVED * (each + 3) // 4)
        stream = generator.reserve(state, algorithm, blocks)
        given = [value.double().expand(batches).tolist() for value in (counts, probs)]
        drawn = binomial(stream, zip(*given, strict=True), each, count)
        samples = torch.tensor(drawn, dtype=torch.float64)
        return env.to_device(samples.to(dtype).view(sizes))

    return run


def _batches(sizes, count, parameters):
    """How many batches there are, and of how many samples."""
    for name, value in parameters.items():
        if value.dim() > 1:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Input {name} should be a scalar or vector, got shape: {list(value.shape)}",
            )
    if all(value.numel() == 1 for value in parameters.values()):
        return -(-count // _BATCH), _BATCH
    for name, value in parameters.items():
        if value.numel() not in (1, sizes[0]):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Input {name} should have length 1 or shape[0], got shape: {list(value.shape)}",
            )
    return sizes[0], count // max(sizes[0], 1)
