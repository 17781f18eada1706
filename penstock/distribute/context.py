"""Which strategy a part of a program runs under, and whether it is inside of a replica.

Each thread has, for each graph, a stack of modes: outside of all strategies one is in the only
replica of the default strategy.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.ir.defaults import get_default_graph

if TYPE_CHECKING:
    from penstock.distribute.replica_context import ReplicaContext
    from penstock.distribute.strategy import Strategy

__all__ = [
    "experimental_set_strategy",
    "get_cross_replica_context",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]


class Mode(NamedTuple):
    """The strategy of a place in the program; `replica_context` is None between replicas."""

    strategy: Strategy
    replica_context: ReplicaContext | None
    is_default: bool = False


class _Modes(threading.local):
    update_device: str | None = None

    def __init__(self) -> None:
        self.of_graphs: weakref.WeakKeyDictionary[Any, list[Mode]] = weakref.WeakKeyDictionary()


_modes = _Modes()
_default: list[Mode] = []
_global_scope: list[Any] = []


def _stack() -> list[Mode]:
    return _modes.of_graphs.setdefault(get_default_graph(), [])


def _default_mode() -> Mode:
    if not _default:
        from penstock.distribute.replica_context import ReplicaContext
        from penstock.distribute.strategy import DefaultStrategy

        strategy = DefaultStrategy()
        _default.append(Mode(strategy, ReplicaContext(strategy, 0), is_default=True))
    return _default[0]


def _get_default_strategy() -> Any:
    return _default_mode().strategy


def _get_default_replica_context() -> Any:
    return _default_mode().replica_context


def current_mode() -> Mode:
    """The mode of this place in the program; a function's body is where the function is traced."""
    graph: Any = get_default_graph()
    while graph is not None:
        stack = _modes.of_graphs.get(graph)
        if stack:
            return stack[-1]
        graph = getattr(graph, "outer_graph", None)
    return _default_mode()


@contextmanager
def mode(strategy: Strategy, replica_context: ReplicaContext | None) -> Iterator[None]:
    """A part of the program under a strategy."""
    stack = _stack()
    stack.append(Mode(strategy, replica_context, strategy is _get_default_strategy()))
    try:
        yield
    finally:
        stack.pop()


@contextmanager
def updating(device: str) -> Iterator[None]:
    """A part of the program that updates the variables of one device."""
    outer, _modes.update_device = _modes.update_device, device
    try:
        yield
    finally:
        _modes.update_device = outer


def get_update_device() -> str | None:
    """The device whose variables are being updated, inside of `StrategyExtended.update`."""
    return _modes.update_device


def get_strategy() -> Any:
    """The strategy in whose scope this is called; the default one outside of any."""
    return current_mode().strategy


def has_strategy() -> bool:
    """Whether there is a strategy other than the default one."""
    return not current_mode().is_default


def get_replica_context() -> Any:
    """The context of the replica that this is called in; None between replicas."""
    return current_mode().replica_context


def get_cross_replica_context() -> Any:
    """The strategy, where this is called between its replicas; None inside of one."""
    present = current_mode()
    return present.strategy if present.replica_context is None else None


def in_cross_replica_context() -> bool:
    """Whether this is called in the scope of a strategy and not inside of a replica."""
    return current_mode().replica_context is None


def experimental_set_strategy(strategy: Any) -> None:
    """Enters a strategy's scope for good; None, or another strategy, leaves the one before."""
    if _global_scope:
        _global_scope.pop().__exit__(None, None, None)
    if has_strategy():
        raise RuntimeError(
            "Must not be called inside a `tf.distribute.Strategy` scope: experimental_set_strategy."
        )
    if strategy is not None:
        scope = strategy.scope()
        scope.__enter__()
        _global_scope.append(scope)
