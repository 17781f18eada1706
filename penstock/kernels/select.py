"""Kernels that choose between two tensors."""

import numpy as np
import torch

from penstock.kernels.host_loops import LARGE
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import as_signed
from penstock.kernels.values import is_host_type

_BITS = {
    torch.float32: torch.int32,
    torch.int32: torch.int32,
    torch.float64: torch.int64,
    torch.int64: torch.int64,
}


def choose(condition, t, e):
    """torch.where; on the host by bits, since ATen's loop there branches at every element."""
    bits = _BITS.get(t.dtype)
    if (
        bits is None
        or t.numel() < LARGE
        or not t.is_cpu
        or not condition.shape == t.shape == e.shape
        or t.dtype != e.dtype
        or t.is_neg()
        or e.is_neg()
    ):
        return torch.where(condition, as_signed(t), as_signed(e)).view(t.dtype)
    else_bits = e.view(bits)
    differing = torch.bitwise_xor(t.view(bits), else_bits)
    chosen = differing.bitwise_and_(condition.to(bits).neg_())
    return chosen.bitwise_xor_(else_bits).view(t.dtype)


@kernel("SelectV2", fresh=True)
def _(node):
    return _choose_host if is_host_type(node.attrs["T"]) else choose


def _choose_host(condition, t, e):
    return np.where(condition.cpu().numpy(), t, e)


@kernel("Select", fresh=True)
def _(node):
    own = _choose_host if is_host_type(node.attrs["T"]) else choose
    shapes = [edge.shape for edge in node.inputs]
    if shapes[0] is not None and shapes[0] == shapes[1] == shapes[2] and None not in shapes[0]:
        return own

    def run(condition, t, e):
        if t.shape != e.shape:
            raise ValueError("'then' and 'else' differ in shape")
        if condition.shape != t.shape and condition.dim() > 0:
            condition = _by_row(condition, t)
        return own(condition, t, e)

    return run


def _by_row(condition, t):
    """A vector of conditions in a shape that broadcasts along the rows."""
    if condition.dim() != 1 or len(t.shape) == 0 or t.shape[0] != condition.shape[0]:
        raise ValueError("'cond' and 'then' differ in their rows")
    return condition.reshape(-1, *[1] * (len(t.shape) - 1))
