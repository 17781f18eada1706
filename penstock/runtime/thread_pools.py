"""The thread pools of a session: how many parts of a step, or of several steps, run at once.

The parts of a step on several devices have a thread each, which spends much of its life waiting
for the others. A pool of n threads means that at most n of them compute at a time: one that waits
gives its turn away, so that a pool of one thread runs the parts one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from penstock import errors
from penstock.platform.processors import processors
from penstock.state.turns import Turns

CALLERS_THREAD = -1  # RunOptions.inter_op_thread_pool: no threads but the caller's

_shared: dict[str, tuple[int, Turns]] = {}  # pools with a name are the process's
_shared_lock = threading.Lock()
_chosen: ContextVar[Turns | None] = ContextVar("thread_pool", default=None)


class ThreadPools:
    """The pools that the steps of a session may choose among; None is one without a limit."""

    def __init__(self, inter_op_threads: int = 0, pools: Any = ()):
        own = None if inter_op_threads == 0 else Turns(max(1, inter_op_threads))
        listed: list[Turns | None] = [_pool(each.num_threads, each.global_name) for each in pools]
        self._pools = listed or [own]

    @classmethod
    def from_config(cls, config: Any) -> ThreadPools:
        """The pools of a ConfigProto."""
        return cls(config.inter_op_parallelism_threads, config.session_inter_op_thread_pool)

    @property
    def default(self) -> Turns | None:
        return self._pools[0]

    @contextmanager
    def choose(self, number: int) -> Iterator[None]:
        """Runs the steps of the block in a pool, as RunOptions.inter_op_thread_pool says."""
        if not CALLERS_THREAD <= number < len(self._pools):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Invalid inter_op_thread_pool: {number} (the session has {len(self._pools)})",
            )
        pool = Turns(1) if number == CALLERS_THREAD else self._pools[number]
        token = _chosen.set(pool)
        try:
            yield
        finally:
            _chosen.reset(token)


def chosen() -> Turns | None:
    """The pool that this run has chosen."""
    return _chosen.get()


def _pool(threads: int, name: str) -> Turns:
    if not name:
        return Turns(threads or processors())
    with _shared_lock:
        asked, turns = _shared.setdefault(name, (threads, Turns(threads or processors())))
    if asked != threads:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Pool '{name}' configured previously with num_threads={asked}; cannot re-configure "
            f"with num_threads={threads}",
        )
    return turns
