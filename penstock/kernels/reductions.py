"""Kernels of reductions: sums, means, products, extremes and truths over axes."""

import numpy as np
import torch

from penstock import errors, shapes
from penstock.kernels.host_loops import LARGE, shares_memory
from penstock.kernels.known_inputs import known_list, known_number
from penstock.kernels.registry import kernel, passed_on
from penstock.kernels.unsigned import WIDE_UNSIGNED, in_int64
from penstock.kernels.values import torch_type


def _reduction(op_type, choose, over_none=None, over_all=None):
    """Registers a reduction; `choose(dtype)` gives its function of (x, axes, keep).

    That function gets at least one axis: for torch, none would be all. `over_none` is what the
    reduction over no axis computes, if anything; `over_all` is a faster way to reduce floats to one
    number.
    """

    @kernel(op_type, fresh=True)
    def _(node, env):
        reduce = choose(node.dtypes[0])
        keep = node.attrs["keep_dims"]

        def checked(x, axes):
            axes = _distinct(axes, x.dim())
            return reduce(x, axes, keep) if axes else (over_none or torch.clone)(x)

        axes = known_list(node, env, 1)
        if axes is None:
            return lambda x, axes: checked(x, _as_tuple(axes.tolist()))
        axes = _as_tuple(axes)
        if not axes:
            return passed_on if over_none is None else lambda x, _: over_none(x)
        if node.inputs[0].shape is None:
            return lambda x, _: checked(x, axes)
        rank = len(node.inputs[0].shape)
        axes = _distinct(axes, rank)
        if over_all is not None and len(axes) == rank and not keep and node.dtypes[0].is_floating:
            return lambda x, _: over_all(x)
        return lambda x, _: reduce(x, axes, keep)


def _as_tuple(axes):
    return tuple(axes) if isinstance(axes, list) else (axes,)


def _distinct(axes, rank):
    """The axes, counted from the front, each once: naming an axis twice reduces over it once."""
    for axis in axes:
        if not -rank <= axis < rank:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)",
            )
    return tuple(dict.fromkeys(axis % rank for axis in axes))


# Sums and means -------------------------------------------------------------------------------


def _sum(dtype):
    if dtype in WIDE_UNSIGNED:
        return in_int64(torch.sum)
    if dtype.is_integer or dtype.is_quantized:
        own = torch_type(dtype)
        return lambda x, axes, keep: torch.sum(x, axes, keep, dtype=own)
    return torch.sum


def _mean(dtype):
    if not (dtype.is_integer or dtype.is_quantized):
        return torch.mean
    own = torch_type(dtype)

    def mean(x, axes, keep):
        total = torch.sum(x, axes, keep, dtype=torch.int64)
        count = x.numel() // max(total.numel(), 1)
        return torch.div(total, max(count, 1), rounding_mode="trunc").to(own)

    return mean


def _prod(dtype):
    def prod(x, axes, keep):
        own = x.dtype
        if len(axes) == x.dim() and not keep:
            return torch.prod(x, dtype=own)
        if len(axes) == 1:
            return torch.prod(x, axes[0], keep, dtype=own)
        for axis in axes:
            x = torch.prod(x, axis, True, dtype=own)
        return x if keep else x.squeeze(axes)

    return in_int64(prod) if dtype in WIDE_UNSIGNED else prod


_reduction("Sum", _sum, over_all=torch.sum)
_reduction("Mean", _mean, over_all=torch.mean)
_reduction("Prod", _prod)


# Extremes -------------------------------------------------------------------------------------


def _extreme(function, of_nothing):
    """The largest or smallest; over no elements TensorFlow has the lowest or highest number."""

    def choose(dtype):
        def reduce(x, axes, keep):
            if x.numel():
                return function(x, axes, keep)
            return torch.sum(x, axes, keep).to(x.dtype).fill_(of_nothing(x.dtype))

        return in_int64(function, ordered=True) if dtype in WIDE_UNSIGNED else reduce

    return choose


def _lowest(dtype):
    return -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype):
    return torch.inf if dtype.is_floating_point else torch.iinfo(dtype).max


_reduction("Max", _extreme(torch.amax, _lowest))
_reduction("Min", _extreme(torch.amin, _highest))


def _truth(function, of_bytes):
    """All or any; ATen reduces bytes with vector instructions, but truths one by one."""

    def reduce(x, axes, keep):
        if x.numel() < LARGE or not x.is_cpu:
            return function(x, axes, keep)
        return of_bytes(x.view(torch.uint8), axes, keep).view(torch.bool)

    return lambda dtype: reduce


_reduction("All", _truth(torch.all, torch.amin))
_reduction("Any", _truth(torch.any, torch.amax))


def _euclidean(dtype):
    own = torch_type(dtype)

    def norm(x, axes, keep):
        if not x.is_floating_point() and not x.is_complex():
            x = x.double()
        return torch.linalg.vector_norm(x, dim=axes, keepdim=keep).to(own)

    return norm


def _length(x):
    return torch.abs(x).to(x.dtype) if x.is_floating_point() or x.is_complex() else x.clone()


_reduction("EuclideanNorm", _euclidean, over_none=_length)


def _by_numpy(name, function):
    """ATen's loop goes element by element; NumPy's, on the host, is vectorised."""

    def find(x, axis):
        if shares_memory(x):
            return torch.from_numpy(np.asarray(getattr(x.numpy(force=True), name)(axis)))
        return function(x, axis)

    return find


def _arg_extreme(op_type, function):
    @kernel(op_type, fresh=True)
    def _(node, env):
        find = function
        if node.attrs["T"] in WIDE_UNSIGNED:
            find = in_int64(function, ordered=True, index=True)
        elif node.attrs["T"].is_bool:
            find = lambda x, axis: function(x.view(torch.uint8), axis)  # noqa: E731
        else:
            find = _by_numpy(op_type.lower(), function)
        target = torch_type(node.attrs["output_type"])
        axis = known_number(node, env, 1)
        if axis is None:
            return lambda x, axis: _checked(find, x, int(axis)).to(target)
        if target is torch.int64:
            return lambda x, _: _checked(find, x, axis)
        return lambda x, _: _checked(find, x, axis).to(target)


def _checked(find, x, axis):
    if not -x.dim() <= axis < x.dim():
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Expected dimension in the range [{-x.dim()}, {x.dim()}), but got {axis}",
        )
    if x.shape[axis] == 0:
        raise errors.InvalidArgumentError(
            None, None, f"Reduction axis {axis} is empty in shape {shapes.text(tuple(x.shape))}"
        )
    return find(x, axis)


_arg_extreme("ArgMax", torch.argmax)
_arg_extreme("ArgMin", torch.argmin)
