"""How many threads the kernels that one thread calls are spread over.

Threads that call kernels beside each other need no threads below them: each would bring its own,
and they would wait for each other.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


def share_processors(callers: int) -> None:
    """Gives the calling thread, one of so many, its share of the processors for its kernels."""
    count = max(1, torch.get_num_threads() // callers)  # asking makes torch settle this thread's
    set_for_this_thread = _setter()
    if set_for_this_thread is not None:
        set_for_this_thread(count)


@functools.cache
def _setter() -> Callable[[int], object] | None:
    """The function that sets how many threads the calling thread's kernels use.

    torch's own would change the number for all threads. None where torch uses another kind of
    threads: their number stays as it is.
    """
    try:
        found: Callable[[int], object] = ctypes.CDLL(None).omp_set_num_threads
    except (AttributeError, OSError):
        return None
    return found


@contextmanager
def kernel_threads(count: int) -> Iterator[None]:
    """Within the block the kernels that this thread calls are spread over `count` threads."""
    before = torch.get_num_threads()
    if before == count:
        yield
        return
    set_threads = _setter() or torch.set_num_threads
    set_threads(count)
    try:
        yield
    finally:
        set_threads(before)


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
