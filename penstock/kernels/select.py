"""Kernels that choose between two tensors."""

import numpy as np
import torch

from penstock import errors
from penstock.kernels.registry import kernel
from penstock.kernels.values import is_host_type


@kernel("SelectV2", fresh=True)
def _(node):
    return _choose_host if is_host_type(node.attrs["T"]) else torch.where


def _choose_host(condition, t, e):
    return np.where(condition.cpu().numpy(), t, e)


@kernel("Select", fresh=True)
def _(node):
    choose = _choose_host if is_host_type(node.attrs["T"]) else torch.where
    shapes = [edge.shape for edge in node.inputs]
    if shapes[0] is not None and shapes[0] == shapes[1] == shapes[2] and None not in shapes[0]:
        return choose

    def run(condition, t, e):
        if t.shape != e.shape:
            raise _mismatch(
                f"'then' and 'else' must have the same size.  but received: "
                f"{list(t.shape)} vs. {list(e.shape)}"
            )
        if condition.shape != t.shape and condition.dim() > 0:
            condition = _by_row(condition, t)
        return choose(condition, t, e)

    return run


def _by_row(condition, t):
    """A vector of conditions in a shape that broadcasts along the rows."""
    if condition.dim() != 1:
        raise _mismatch(
            f"'cond' must be a scalar or a vector, but saw shape: {list(condition.shape)}"
        )
    if len(t.shape) == 0 or t.shape[0] != condition.shape[0]:
        raise _mismatch(
            f"Number of batches of 'then' must match size of 'cond', but saw: {list(t.shape)} vs. "
            f"{list(condition.shape)}"
        )
    return condition.reshape(-1, *[1] * (len(t.shape) - 1))


def _mismatch(message):
    return errors.InvalidArgumentError(None, None, message)
