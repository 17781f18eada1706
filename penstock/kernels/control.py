"""Kernels of nodes that only order others."""

import os
import sys

from penstock.kernels.registry import HOST, kernel


@kernel("NoOp", "ControlTrigger")
def _(node):
    return lambda: None


@kernel("Abort", devices=HOST)
def _(node):
    """Ends the process at once, whatever else it is doing."""
    message = f"Abort_op intentional failure; {node.attrs['error_msg']}"

    def run():
        if node.attrs["exit_without_error"]:
            os._exit(0)
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()
        os.abort()

    return run
