"""The debuggers that send tensors over the network: TensorBoard's debugger plugin has ended."""

from __future__ import annotations

from typing import Any

from penstock import absent


class _Remote:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        symbol = f"tf.python.debug.{type(self).__name__}"
        absent.met.add(symbol)
        raise RuntimeError(
            f"{symbol}: tensors are not sent to a debug server, which today's TensorBoard has no "
            "longer. DumpingDebugWrapperSession writes them to files, `penstock debug` stops at "
            "nodes and looks for NaNs."
        )


class GrpcDebugWrapperSession(_Remote):
    """RuntimeError: tensors are not sent to a debug server."""


class GrpcDebugHook(_Remote):
    """RuntimeError: tensors are not sent to a debug server."""


class TensorBoardDebugWrapperSession(_Remote):
    """RuntimeError: tensors are not sent to TensorBoard."""


class TensorBoardDebugHook(_Remote):
    """RuntimeError: tensors are not sent to TensorBoard."""
