"""Kernels of logic and shifts on the bits of integers."""

import numpy as np
import torch

from penstock.kernels.registry import direct, kernel
from penstock.kernels.unsigned import WIDE_UNSIGNED, through_numpy

direct(
    {
        "BitwiseAnd": torch.bitwise_and,
        "BitwiseOr": torch.bitwise_or,
        "BitwiseXor": torch.bitwise_xor,
    }
)


@kernel("Invert", fresh=True)
def _(node):
    unsigned = node.attrs["T"] in WIDE_UNSIGNED
    return through_numpy(np.invert) if unsigned else torch.bitwise_not


def _shift(function, numpy_function):
    def factory(node):
        last = node.attrs["T"].size * 8 - 1
        if node.attrs["T"] in WIDE_UNSIGNED:
            return through_numpy(lambda x, y: numpy_function(x, y.clip(max=last)))
        return lambda x, y: function(x, torch.clamp(y, 0, last))

    return factory


kernel("LeftShift", fresh=True)(_shift(torch.bitwise_left_shift, np.left_shift))
kernel("RightShift", fresh=True)(_shift(torch.bitwise_right_shift, np.right_shift))


@kernel("PopulationCount", fresh=True)
def _(node):
    unsigned = np.dtype(f"uint{node.attrs['T'].size * 8}")
    return through_numpy(lambda x: np.bitwise_count(x.view(unsigned)))
