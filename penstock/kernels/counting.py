"""Kernels of counts and histograms."""

import numpy as np
import torch

from penstock import errors
from penstock.kernels.host_loops import vectorised
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _bins(x, weights, size, dtype, binary):
    """Counts (or sums of weights) of the numbers 0 to size - 1 in a vector; others are ignored."""
    low, high = map(int, torch.aminmax(x)) if x.numel() else (0, -1)
    if low < 0:
        raise _invalid("Input arr must be non-negative!")
    if high >= size:
        inside = x < size
        x = x[inside]
        weights = weights[inside] if weights.numel() else weights
    if binary:
        return torch.bincount(x, minlength=size).clamp_(max=1).to(dtype)
    if not weights.numel():
        return torch.bincount(x, minlength=size).to(dtype)
    return torch.zeros(size, dtype=dtype, device=x.device).index_add_(0, x, weights)


def _size(size):
    count = int(size)
    if count < 0:
        raise _invalid(f"size ({count}) must be non-negative")
    return count


@kernel("Bincount", fresh=True)
def _(node):
    dtype = torch_type(node.attrs["T"])

    def run(x, size, weights):
        if weights.numel() and weights.shape != x.shape:
            raise _invalid(
                f"`weights` must be the same shape as `arr` or empty, got {list(weights.shape)} "
                f"and {list(x.shape)}"
            )
        return _bins(x.reshape(-1), weights.reshape(-1), _size(size), dtype, False)

    return run


@kernel("DenseBincount", fresh=True)
def _(node):
    dtype, binary = torch_type(node.attrs["T"]), node.attrs["binary_output"]

    def run(x, size, weights):
        size = _size(size)
        if weights.numel() and weights.shape != x.shape:
            raise _invalid(
                f"`weights` must be the same shape as `input` or empty, got {list(weights.shape)} "
                f"and {list(x.shape)}"
            )
        if x.dim() == 1:
            return _bins(x, weights, size, dtype, binary)
        if x.dim() != 2:
            raise _invalid(f"Shape must be at most rank 2 but is rank {x.dim()}")
        rows = [
            _bins(row, weights[i] if weights.numel() else weights, size, dtype, binary)
            for i, row in enumerate(x)
        ]
        return torch.stack(rows) if rows else x.new_zeros((0, size), dtype=dtype)

    return run


_is_nan = vectorised(torch.isnan, np.isnan)


@kernel("HistogramFixedWidth", fresh=True)
def _(node):
    dtype = torch_type(node.attrs["dtype"])

    def run(values, ends, nbins):
        count = int(nbins)
        if count <= 0:
            raise _invalid(f"nbins should be a positive number, but got '{count}'")
        low, high = ends.tolist()
        if not low < high:
            raise _invalid(
                f"value_range should satisfy value_range[0] < value_range[1], but got "
                f"'[{low:g}, {high:g}]'"
            )
        flat = values.reshape(-1)
        if bool(_is_nan(flat).any()):
            raise _invalid("Cannot calculate a histogram of NaN")
        precise = flat if flat.is_floating_point() else flat.double()
        bins = torch.sub(precise, low).div_((high - low) / count)
        index = bins.clamp_(0, count - 1).to(torch.int32)
        return torch.bincount(index, minlength=count).to(dtype)

    return run


@kernel("Bucketize", fresh=True)
def _(node, env):
    boundaries = node.attrs["boundaries"]
    if list(boundaries) != sorted(boundaries):
        raise _invalid("Expected sorted boundaries")
    precise = torch.float32 if node.attrs["T"].name == "float32" else torch.float64
    # The attr holds numbers of single precision.
    edges = env.to_device(torch.tensor(boundaries, dtype=torch.float32).to(precise))
    return lambda x: torch.bucketize(x.to(precise), edges, right=True, out_int32=True)
