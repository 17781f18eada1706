"""Whether Python code in the making of a graph has been converted to graph code: AutoGraph's word.

`tensorflow.python.autograph.core.ag_ctx`. What a tensor says to code that takes it for a Python
value depends on it.
"""

from __future__ import annotations

import enum
import importlib
import threading
from collections.abc import Callable
from typing import Any


class Status(enum.Enum):
    """What was said of the conversion of the code that runs."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """A `with` block of this thread whose code has a status.

    Args:
      status: the status.
      options: whatever the conversion was asked for.
    """

    def __init__(self, status: Status, options: Any = None):
        self.status = status
        self.options = options

    def __enter__(self) -> ControlStatusCtx:
        _stack().append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        assert _stack().pop() is self

    def __repr__(self) -> str:
        return f"{type(self).__name__}[status={self.status}, options={self.options}]"


_local = threading.local()


def _stack() -> list[ControlStatusCtx]:
    if not hasattr(_local, "blocks"):
        _local.blocks = [ControlStatusCtx(Status.UNSPECIFIED)]
    blocks: list[ControlStatusCtx] = _local.blocks
    return blocks


def control_status_ctx() -> ControlStatusCtx:
    """The innermost block."""
    return _stack()[-1]


_converter: str | None = None


def set_converter(module: str) -> None:
    """Names the module whose `requested` converts functions; it is imported when one is."""
    global _converter
    _converter = module


def converted(function: Callable[..., Any], features: Any = None) -> Callable[..., Any]:
    """A function whose Python code is converted when it is called, as `tf.function` asks for.

    Args:
      function: the function.
      features: what of Python is converted besides branches and loops, by `Feature`s.
    """
    if _converter is None:
        return function
    made: Callable[..., Any] = importlib.import_module(_converter).requested(function, features)
    return made


_REASONS = {
    Status.UNSPECIFIED: " in Graph execution",
    Status.ENABLED: (
        ": AutoGraph did not convert this function. Try decorating it directly with @tf.function"
    ),
    Status.DISABLED: (
        ": AutoGraph is disabled in this function. Try decorating it directly with @tf.function"
    ),
}


def why_not_allowed() -> str:
    """How a sentence goes on that says that something is not allowed."""
    return _REASONS[control_status_ctx().status]
