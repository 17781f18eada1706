"""How many shards the TPU computation that is being built has: outside of one, None."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


class TpuContext(threading.local):
    """What the thread that builds a TPU computation knows of it."""

    def __init__(self) -> None:
        self._number_of_shards: int | None = None

    @property
    def number_of_shards(self) -> int | None:
        """The shards of the computation that is being built; None outside of one."""
        return self._number_of_shards

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        """Says how many shards the computation has from here on."""
        self._number_of_shards = number_of_shards


_current = TpuContext()


def get_tpu_context() -> TpuContext:
    """The context of this thread."""
    return _current


@contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """What is built inside belongs to a computation of so many shards."""
    if _current.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    _current.set_number_of_shards(number_of_shards)
    try:
        yield
    finally:
        _current.set_number_of_shards(None)


def on_device_training_loop(func: _Function) -> _Function:
    """Marks a function as one that holds its training loop itself, for tools that trace steps."""
    func.step_marker_location = "STEP_MARK_AT_TOP_LEVEL_WHILE_LOOP"  # type: ignore[attr-defined]
    return func
