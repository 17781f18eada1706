"""Kernels of the primitives that steer dataflow: which outputs are alive.

The executor does what concerns frames and iterations; here is only what happens to values.
"""

import torch

from penstock import errors
from penstock.kernels.registry import kernel


class _Dead:
    """The value of an edge that is not taken: it flows on and kills what depends on it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<dead>"


DEAD = _Dead()


@kernel("Switch", "RefSwitch")
def _(node):
    return lambda data, pred: (DEAD, data) if pred.item() else (data, DEAD)


@kernel("RefSelect")
def _(node):
    def run(index, *inputs):
        chosen = index.item()
        if not 0 <= chosen < len(inputs):
            raise errors.InvalidArgumentError(
                None, None, f"Index must be in the range [0, {len(inputs)}) but got {chosen}"
            )
        return inputs[chosen]

    return run


@kernel("Merge", "RefMerge")
def _(node):
    indices = [torch.tensor(i, dtype=torch.int32) for i in range(node.attrs["N"])]

    def run(*inputs):
        """Takes the first input that is alive; the executor gives the others as dead."""
        for i, value in enumerate(inputs):
            if value is not DEAD:
                return value, indices[i]
        return DEAD, DEAD

    return run


@kernel(
    "Enter",
    "RefEnter",
    "Exit",
    "RefExit",
    "NextIteration",
    "RefNextIteration",
    "LoopCond",
)
def _(node):
    return lambda value: value
