"""Arithmetic on uint16, uint32 and uint64, which torch stores but hardly computes with.

Two ways round: NumPy, which shares memory with tensors on the host, for element-wise functions;
int64 for the rest. All values of uint16 and uint32 fit into int64. Those of uint64 do by their
bits: sums and products wrap alike, and with the top bit flipped they have the same order.
"""

import functools

import numpy as np
import torch

from penstock import dtypes

WIDE_UNSIGNED = frozenset({dtypes.uint16, dtypes.uint32, dtypes.uint64})
TOP_BIT = -(2**63)


def through_numpy(function):
    """A function of arrays as a function of tensors; a result is on the device of the inputs."""

    @functools.wraps(function)
    def run(*tensors):
        with np.errstate(all="ignore"):
            result = function(*[tensor.cpu().numpy() for tensor in tensors])
        return torch.from_numpy(np.asarray(result)).to(tensors[0].device)

    return run


def in_int64(function, *, ordered=False, index=False):
    """Runs a function of one tensor (and other arguments) on int64 in place of unsigned numbers.

    `ordered` says that it compares values, `index` that its result is no value but a position.
    """

    def run(x, *arguments):
        flip = ordered and x.dtype is torch.uint64
        wide = x.to(torch.int64)
        result = function(wide ^ TOP_BIT if flip else wide, *arguments)
        if index:
            return result
        return (result ^ TOP_BIT if flip else result).to(x.dtype)

    return run
