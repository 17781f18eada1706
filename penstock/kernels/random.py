"""Kernels of random operations: of seeded ones TensorFlow's numbers, of others torch's.

A node without a seed draws from the device's generator. A seeded node has a generator of its own,
which all plans of a session share: the numbers of a session depend on the seeds alone.
"""

import functools
import math
import os
from contextlib import suppress

import numpy as np
import torch

from penstock import errors
from penstock.kernels import distributions
from penstock.kernels.distributions import reserved
from penstock.kernels.philox import Generator, Stream, mixed
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type
from penstock.shapes import is_full


def is_seeded(node):
    return bool(node.attrs["seed"] or node.attrs["seed2"])


def generator_of(node, env):
    """The generator of a node in this session; one without seeds starts anywhere."""
    seeds = node.attrs["seed"], node.attrs["seed2"]

    def make():
        if is_seeded(node):
            return Generator(*seeds)
        return Generator(*np.frombuffer(os.urandom(16), np.int64).tolist())

    # A function has generators of its own: it may be one of several with nodes of the same names.
    # In eager mode the kernel is kept, and its generator with it.
    origin = node.origin
    if origin is not None and (origin.graph.building_function or origin.graph.is_eager):
        return make()
    return env.resources.own.get_or_create(Generator, "", node.name, make)


def shape_reader(node, env, index=0):
    """A function from a node's shape input to a tuple, decided ahead where the shape is known."""
    known = env.constant(node, index)
    if known is not None:
        fixed = sizes_of(known)
        return lambda shape: fixed
    return sizes_of


def sizes_of(shape):
    if shape.dim() != 1:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"shape must be a vector of {{int32,int64}}, got shape {list(shape.shape)}",
        )
    sizes = tuple(shape.tolist())
    if any(size < 0 for size in sizes):
        worst = min(sizes)
        raise errors.InvalidArgumentError(None, None, f"Dimension {worst} must be >= 0")
    return sizes


# Of one type ----------------------------------------------------------------------------------


def _torch_uniform(sizes, dtype, env):
    return torch.rand(sizes, dtype=dtype, generator=env.generator, device=env.torch_device)


def _torch_normal(sizes, dtype, env):
    return torch.randn(sizes, dtype=dtype, generator=env.generator, device=env.torch_device)


_BOUND = math.erf(math.sqrt(2))  # what erf maps the bounds of a truncated normal number to


def _torch_truncated_normal(sizes, dtype, env):
    precision = torch.float64 if dtype is torch.float64 else torch.float32
    drawn = torch.empty(sizes, dtype=precision, device=env.torch_device)
    drawn.uniform_(-_BOUND, _BOUND, generator=env.generator)
    return drawn.erfinv_().mul_(math.sqrt(2)).clamp_(-2, 2).to(dtype)


_SAMPLERS = {
    "RandomUniform": (distributions.uniform, _torch_uniform),
    "RandomStandardNormal": (distributions.normal, _torch_normal),
    "TruncatedNormal": (distributions.truncated_normal, _torch_truncated_normal),
}


@kernel(*_SAMPLERS, fresh=True)
def _(node, env):
    sampler, unseeded = _SAMPLERS[node.type]
    dtype = torch_type(node.attrs["dtype"])
    read = shape_reader(node, env)
    if not is_seeded(node):
        if is_full(node.shapes[0]):
            return functools.partial(_ignoring_input, unseeded, node.shapes[0], dtype, env)
        return lambda shape: unseeded(read(shape), dtype, env)
    generator, device = generator_of(node, env), env.torch_device

    def run(shape):
        sizes = read(shape)
        count = math.prod(sizes)
        return sampler(generator.reserve(reserved(count)), count, dtype, device).view(sizes)

    return run


def _ignoring_input(function, sizes, dtype, env, shape):
    return function(sizes, dtype, env)


@kernel("RandomUniformInt", fresh=True)
def _(node, env):
    dtype = torch_type(node.attrs["Tout"])
    element = node.attrs["Tout"].as_numpy_dtype
    read = shape_reader(node, env)
    if not is_seeded(node):
        where = {"device": env.torch_device, "generator": env.generator}
        known = [env.constant(node, index) for index in range(3)]
        if all(each is not None for each in known):
            with suppress(errors.InvalidArgumentError):  # which belongs to the run
                sizes = sizes_of(known[0])
                low, high = _bounds(known[1], known[2], sizes)
                return lambda *_: torch.randint(low, high, sizes, dtype=dtype, **where)

        def run_unseeded(shape, minval, maxval):
            sizes = read(shape)
            low, high = _bounds(minval, maxval, sizes)
            return torch.randint(low, high, sizes, dtype=dtype, **where)

        return run_unseeded
    generator = generator_of(node, env)

    def run(shape, minval, maxval):
        sizes = read(shape)
        count = math.prod(sizes)
        low, high = _bounds(minval, maxval, sizes)
        stream = generator.reserve(reserved(count))
        drawn = distributions.uniform_integers(stream, count, low, high, element)
        return env.to_device(drawn.view(sizes))

    return run


def _bounds(minval, maxval, sizes):
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if bound.dim() != 0:
            raise errors.InvalidArgumentError(
                None, None, f"{name} must be 0-D, got shape {list(bound.shape)}"
            )
    low, high = minval.item(), maxval.item()
    if low >= high:
        if math.prod(sizes) == 0:
            return 0, 1
        raise errors.InvalidArgumentError(None, None, f"Need minval < maxval, got {low} >= {high}")
    return low, high


@kernel("RandomShuffle", fresh=True)
def _(node, env):
    generator = generator_of(node, env) if is_seeded(node) else None

    def run(value):
        count = value.shape[0] if value.ndim else 1
        if count <= 1:
            return value.copy() if isinstance(value, np.ndarray) else value.clone()
        if generator is not None:
            order = distributions.shuffled(generator.reserve((count + 2) // 4), count)
        else:
            order = torch.randperm(count, generator=env.generator, device=env.torch_device)
        if isinstance(value, np.ndarray):
            return value[np.asarray(order)]
        return value.index_select(0, torch.as_tensor(order, device=value.device))

    return run


# Of a seed input ------------------------------------------------------------------------------


def stateless_stream(seed):
    if seed.shape != (2,):
        raise errors.InvalidArgumentError(
            None, None, f"seed must have shape [2], not {list(seed.shape)}"
        )
    return mixed(*seed.tolist())


def _keyed(key, counter, alg):
    """The stream that a key and a counter stand for; the automatic choice is Philox."""
    if alg.item() not in (1, 3):
        raise errors.InvalidArgumentError(
            None, None, f"Unsupported algorithm id: {alg.item()}; use Philox (1) or automatic (3)"
        )
    if key.shape != (1,) or counter.dim() != 1 or counter.numel() < 2:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"key must have shape [1] and counter at least 2 elements, got {list(key.shape)} and "
            f"{list(counter.shape)}",
        )
    low, high = counter.view(torch.int64).tolist()[:2]
    return Stream(key.view(torch.int64).item() % 2**64, high % 2**64, low % 2**64)


_STATELESS = {
    "StatelessRandomUniform": distributions.uniform,
    "StatelessRandomNormal": distributions.normal,
    "StatelessTruncatedNormal": distributions.truncated_normal,
}


@kernel(*_STATELESS, *(f"{name}V2" for name in _STATELESS), fresh=True)
def _(node, env):
    sampler = _STATELESS[node.type.removesuffix("V2")]
    dtype, device = torch_type(node.attrs["dtype"]), env.torch_device
    read = shape_reader(node, env)
    stream_of = _keyed if node.type.endswith("V2") else stateless_stream

    def run(shape, *seeds):
        sizes = read(shape)
        return sampler(stream_of(*seeds), math.prod(sizes), dtype, device).view(sizes)

    return run


@kernel("StatelessRandomUniformInt", "StatelessRandomUniformIntV2", fresh=True)
def _(node, env):
    element = node.attrs["dtype"].as_numpy_dtype
    read = shape_reader(node, env)
    stream_of = _keyed if node.type.endswith("V2") else stateless_stream

    def run(shape, *inputs):
        *seeds, minval, maxval = inputs
        sizes = read(shape)
        low, high = _bounds(minval, maxval, sizes)
        count = math.prod(sizes)
        drawn = distributions.uniform_integers(stream_of(*seeds), count, low, high, element)
        return env.to_device(drawn.view(sizes))

    return run


@kernel("StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2", fresh=True)
def _(node, env):
    element = node.attrs["dtype"].as_numpy_dtype
    read = shape_reader(node, env)
    stream_of = _keyed if node.type.endswith("V2") else stateless_stream

    def run(shape, *seeds):
        sizes = read(shape)
        drawn = distributions.full_integers(stream_of(*seeds), math.prod(sizes), element)
        return env.to_device(torch.from_numpy(drawn).view(sizes))

    return run


@kernel("StatelessRandomGetKeyCounter", fresh=True)
def _(node, env):
    def run(seed):
        stream = stateless_stream(seed)
        key = torch.from_numpy(np.array([stream.key], np.uint64))
        counter = torch.from_numpy(np.array([stream.low, stream.high], np.uint64))
        return env.to_device(key), env.to_device(counter)

    return run
