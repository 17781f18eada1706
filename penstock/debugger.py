"""`tensorflow.python.debug`: a program that imports the debugger runs, one that starts it stops.

Most programs wrap their session only when a flag asks for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import absent

__all__ = [
    "DumpingDebugHook",
    "DumpingDebugWrapperSession",
    "GrpcDebugHook",
    "GrpcDebugWrapperSession",
    "LocalCLIDebugHook",
    "LocalCLIDebugWrapperSession",
    "TensorBoardDebugHook",
    "TensorBoardDebugWrapperSession",
    "has_inf_or_nan",
]


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a dumped tensor holds an infinite number or a NaN; other than floats never do."""
    del datum  # the filter of a debugger gets the dump's description, too
    if not isinstance(tensor, np.ndarray) or tensor.dtype.kind not in "fc":
        return False
    return not bool(np.isfinite(tensor).all())


class _Debugger:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        symbol = f"tf.python.debug.{type(self).__name__}"
        absent.met.add(symbol)
        raise RuntimeError(
            f"{symbol}: there is no debugger of sessions. Fetch the tensors "
            "of interest, or let the step check them: tf.add_check_numerics_ops(), tf.Print."
        )


class LocalCLIDebugWrapperSession(_Debugger):
    """RuntimeError: a session can't be stepped through."""


class LocalCLIDebugHook(_Debugger):
    """RuntimeError: a session can't be stepped through."""


class DumpingDebugWrapperSession(_Debugger):
    """RuntimeError: the tensors of a step are not dumped to files."""


class DumpingDebugHook(_Debugger):
    """RuntimeError: the tensors of a step are not dumped to files."""


class GrpcDebugWrapperSession(_Debugger):
    """RuntimeError: the tensors of a step are not sent to a debugger."""


class GrpcDebugHook(_Debugger):
    """RuntimeError: the tensors of a step are not sent to a debugger."""


class TensorBoardDebugWrapperSession(_Debugger):
    """RuntimeError: the tensors of a step are not sent to TensorBoard's debugger."""


class TensorBoardDebugHook(_Debugger):
    """RuntimeError: the tensors of a step are not sent to TensorBoard's debugger."""
