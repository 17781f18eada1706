"""How many threads the kernels that one thread calls are spread over.

Threads that call kernels beside each other need no threads below them: each would bring its own,
and they would wait for each other.
"""

from __future__ import annotations

import ctypes
import os

import torch


def share_processors(callers: int) -> None:
    """Gives the calling thread, one of so many, its share of the processors for its kernels."""
    count = max(1, torch.get_num_threads() // callers)  # asking makes torch settle this thread's
    try:
        # torch's own function would change the number for all threads.
        ctypes.CDLL(None).omp_set_num_threads(count)
    except (AttributeError, OSError):  # another kind of threads: they stay as they are
        return


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
