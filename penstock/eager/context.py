"""The mode of a thread: `tf.enable_eager_execution`, `eager_mode()`, `graph_mode()`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from penstock.eager.graph import EagerGraph
from penstock.ir import defaults


def eager_mode() -> AbstractContextManager[Any]:
    """A block of this thread in which operations run at once."""
    graph = defaults.get_default_graph()
    return defaults.mode_scope(graph if graph.is_eager else EagerGraph())


def graph_mode() -> AbstractContextManager[Any]:
    """A block of this thread in which operations are added to a graph."""
    return defaults.mode_scope(defaults.innermost_plain_graph())


def enable() -> None:
    """Lets operations outside of all graphs run at once, in every thread from now on."""
    if defaults.starts_eagerly():
        return
    if defaults.has_built():
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    defaults.run_eagerly_from_start(EagerGraph())


def disable() -> None:
    """Undoes `enable`."""
    defaults.run_eagerly_from_start(None)
