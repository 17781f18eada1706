"""What code asks of `tensorflow.python.eager`: every program runs as a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

GRAPH_MODE = 0
EAGER_MODE = 1
SYNC, ASYNC = 0, 1
DEVICE_PLACEMENT_EXPLICIT = 0
DEVICE_PLACEMENT_WARN = 1
DEVICE_PLACEMENT_SILENT = 2
DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3


def executing_eagerly() -> bool:
    return False


in_eager_mode = executing_eagerly


def in_graph_mode() -> bool:
    return True


@contextmanager
def graph_mode() -> Iterator[None]:
    """The mode that is always on."""
    yield


@contextmanager
def device(name: Any) -> Iterator[None]:
    from penstock.ops.control import device as graph_device

    with graph_device(name):
        yield


class _Context:
    """The one context of the process."""

    def executing_eagerly(self) -> bool:
        return False

    def num_gpus(self) -> int:
        return 0

    @property
    def device_name(self) -> str | None:
        return None

    @property
    def scope_name(self) -> str:
        from penstock.ir.defaults import get_default_graph

        return get_default_graph().get_name_scope()


_CONTEXT = _Context()


def context() -> _Context:
    return _CONTEXT


def num_gpus() -> int:
    return _CONTEXT.num_gpus()
