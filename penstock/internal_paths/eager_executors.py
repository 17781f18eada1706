"""`tensorflow.python.eager.executor`: who runs operations; here it is always the calling thread."""

from __future__ import annotations


class Executor:
    """Stands for the thread that operations run in."""

    def __init__(self, enable_async: bool = False):
        self._is_async = bool(enable_async)

    def is_async(self) -> bool:
        """Whether it was asked to run operations in the background."""
        return self._is_async

    def wait(self) -> None:
        """Nothing to wait for: operations have run when they return."""

    def clear_error(self) -> None:
        """Nothing that could have failed in the background."""


def new_executor(enable_async: bool) -> Executor:
    return Executor(enable_async)
