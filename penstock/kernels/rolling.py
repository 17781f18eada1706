"""The kernel of `tf.roll`."""

import numpy as np
import torch

from penstock.kernels.known_inputs import is_text, known_list
from penstock.kernels.matrix_checks import invalid
from penstock.kernels.registry import kernel


@kernel("Roll", fresh=True)
def _(node, env):
    roll = (lambda x, shifts, axes: np.roll(x, shifts, axes)) if is_text(node) else torch.roll
    known_shifts, known_axes = known_list(node, env, 1), known_list(node, env, 2)

    def run(x, shift, axis):
        shifts = _as_list(shift.tolist() if known_shifts is None else known_shifts, "shift")
        axes = _as_list(axis.tolist() if known_axes is None else known_axes, "axis")
        rank = x.ndim
        if rank < 1:
            raise invalid("input must be 1-D or higher")
        if len(shifts) != len(axes):
            raise invalid("shift and axis must have the same size")
        for entry in axes:
            if not -rank <= entry < rank:
                raise invalid(f"axis {entry} is out of range [{-rank}, {rank})")
        return roll(x, tuple(shifts), tuple(axes)) if axes else _copy(x)

    return run


def _copy(x):
    return x.copy() if isinstance(x, np.ndarray) else x.clone()


def _as_list(value, what):
    entries = value if isinstance(value, list) else [value]
    if entries and isinstance(entries[0], list):
        raise invalid(f"{what} must be a scalar or a 1-D vector.")
    return entries
