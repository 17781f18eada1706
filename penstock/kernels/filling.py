"""Kernels of tensors made from numbers."""

import numpy as np
import torch

from penstock import dtypes, errors, shapes
from penstock.kernels.host_loops import LARGE
from penstock.kernels.known_inputs import is_text, known_list, known_number
from penstock.kernels.registry import direct, kernel
from penstock.kernels.values import torch_type
from penstock.ops.filling import range_length


def _refuse_negative(sizes):
    for size in sizes:
        if size < 0:
            raise errors.InvalidArgumentError(None, None, f"Dimension {size} must be >= 0")


@kernel("Fill", fresh=True)
def _(node, env):
    if is_text(node, 1):
        return _fill_text
    known = known_list(node, env, 0)
    given = env.constant(node, 1)
    value = None if given is None or given.ndim else known_number(node, env, 1)
    if value is None:
        return _fill_computed if known is None else (lambda _, value: _expanded(known, value))
    dtype, device = torch_type(node.dtypes[0]), env.torch_device
    if known is not None:
        _refuse_negative(known)
        return lambda dims, _: torch.full(known, value, dtype=dtype, device=device)

    def run(dims, _):
        sizes = dims.tolist()
        if sizes and min(sizes) < 0:
            _refuse_negative(sizes)
        return torch.full(sizes, value, dtype=dtype, device=device)

    return run


def _fill_computed(dims, value):
    return _expanded(dims.tolist(), value)


def _expanded(sizes, value):
    _refuse_negative(sizes)
    if value.dim():
        message = f"value must be a scalar, got shape {shapes.text(tuple(value.shape))}"
        raise errors.InvalidArgumentError(None, None, message)
    return torch.empty(sizes, dtype=value.dtype, device=value.device).copy_(value)


def _fill_text(dims, value):
    sizes = dims.tolist()
    _refuse_negative(sizes)
    return np.full(sizes, value, dtype=object)


@kernel("Empty", fresh=True)
def _(node, env):
    make = torch.zeros if node.attrs["init"] else torch.empty
    if node.attrs["dtype"] is dtypes.string:
        return lambda dims: np.full(dims.tolist(), b"", dtype=object)
    dtype, device = torch_type(node.attrs["dtype"]), env.torch_device

    def run(dims):
        sizes = dims.tolist()
        _refuse_negative(sizes)
        return make(sizes, dtype=dtype, device=device)

    return run


@kernel("ZerosLike", fresh=True)
def _(node):
    if node.dtypes[0] is dtypes.variant:
        return lambda x: x.zeros_like()
    if is_text(node):
        return lambda x: np.full(x.shape, b"", dtype=object)
    return torch.zeros_like


direct({"OnesLike": torch.ones_like})


# Sequences ------------------------------------------------------------------------------------


_BLOCK = 1024


def count_up(length, dtype, device):
    """The numbers from 0 up to `length`: many as a sum of blocks, which is vectorised."""
    if length < LARGE:
        return torch.arange(length, dtype=dtype, device=device)
    blocks = torch.arange(0, length, _BLOCK, dtype=dtype, device=device).unsqueeze(1)
    block = torch.arange(_BLOCK, dtype=dtype, device=device)
    return torch.add(blocks, block).view(-1)[:length]


@kernel("Range", fresh=True)
def _(node, env):
    dtype, device = torch_type(node.dtypes[0]), env.torch_device
    start, _, delta = (known_number(node, env, i) for i in range(3))
    # ATen counts in signed types alone.
    counted = _COUNTED.get(dtype, dtype)
    if start == 0 and delta == 1 and not dtype.is_floating_point:

        def count(_, limit, __):
            length = limit.item()
            if length < 0:
                range_length(0, length, 1)
            return count_up(length, counted, device).to(dtype)

        return count

    def run(start, limit, delta):
        first, last, step = start.item(), limit.item(), delta.item()
        length = range_length(first, last, step)
        if not dtype.is_floating_point:
            last = first + length * step  # also right where the last step would leave the type
        return torch.arange(first, last, step, dtype=counted, device=device)[:length].to(dtype)

    return run


_COUNTED = {torch.uint16: torch.int32, torch.uint32: torch.int64, torch.uint64: torch.int64}


@kernel("LinSpace", fresh=True)
def _(node, env):
    dtype, device = torch_type(node.dtypes[0]), env.torch_device
    exact = 1 / torch.finfo(dtype).eps  # up to here a type tells whole numbers apart

    def run(start, stop, num):
        count = num.item()
        if count <= 0:
            raise errors.InvalidArgumentError(None, None, f"Requires num > 0: {count}")
        first, last = start.item(), stop.item()
        if LARGE <= count <= exact:
            step = (last - first) / (count - 1)
            values = count_up(count, dtype, device).mul_(step).add_(first)
            values[-1] = last
            return values
        return torch.linspace(first, last, count, dtype=dtype, device=device)

    return run


# One-hot --------------------------------------------------------------------------------------


def _counted(depth, device):
    if depth < 0:
        raise errors.InvalidArgumentError(None, None, f"depth must be non-negative, got: {depth}")
    return torch.arange(depth, dtype=torch.int64, device=device)


def _mask_reader(node, env):
    """A function from indices and depth to a mask: true where the new position is the index."""
    axis, device = node.attrs["axis"], env.torch_device
    known = known_number(node, env, 1)
    fixed = None if known is None or known < 0 else _counted(known, device)

    def read(indices, depth):
        rank = indices.dim()
        if not -1 <= axis <= rank:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Expected axis to be -1 or between [0, {rank + 1}).  But received: {axis}",
            )
        steps = _counted(depth.item(), device) if fixed is None else fixed
        after = 0 if axis == -1 else rank - axis
        if after:
            steps = steps.view((steps.shape[0],) + (1,) * after)
        return torch.eq(indices.unsqueeze(axis), steps)

    return read


@kernel("OneHot", fresh=True)
def _(node, env):
    read = _mask_reader(node, env)
    if is_text(node, 2):
        return lambda indices, depth, on, off: np.where(read(indices, depth).numpy(), on, off)
    dtype = torch_type(node.dtypes[0])
    axis = node.attrs["axis"]
    on, off = known_number(node, env, 2), known_number(node, env, 3)
    if on == 1 and off == 0:
        return lambda indices, depth, *_: _ones_and_zeros(read, indices, depth, dtype, axis)
    return lambda indices, depth, on, off: torch.where(read(indices, depth), on, off)


def _ones_and_zeros(read, indices, depth, dtype, axis):
    """Ones put into zeros where the result is large and all of them have a place in it."""
    large = indices.is_cpu and indices.numel() * int(depth) >= LARGE
    if large and axis in (-1, indices.dim()):
        low, high = torch.aminmax(indices)
        if int(low) >= 0 and int(high) < int(depth):
            zeros = torch.zeros((*indices.shape, int(depth)), dtype=dtype, device=indices.device)
            return zeros.scatter_(-1, indices.long().unsqueeze(-1), 1)
    return read(indices, depth).to(dtype)
