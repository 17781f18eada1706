"""Kernels of nodes that only order others."""

from penstock.kernels.registry import kernel


@kernel("NoOp", "ControlTrigger")
def _(node):
    return lambda: None
