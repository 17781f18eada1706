"""How many threads the kernels that one thread calls are spread over.

Threads that call kernels beside each other need no threads below them: each would bring its own,
and they would wait for each other.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

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
    set_of_mkl = _mkl_setter()
    set_threads(count)
    of_mkl = set_of_mkl(count) if set_of_mkl is not None else 0
    try:
        yield
    finally:
        set_threads(before)
        if set_of_mkl is not None:
            set_of_mkl(of_mkl)


@functools.cache
def _mkl_setter() -> Callable[[int], int] | None:
    """The function that sets how many threads MKL uses for the calling thread; 0: as for others.

    It has a number of its own, for all threads, once somebody has called torch.set_num_threads.
    """
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    try:
        found: Callable[[int], int] = ctypes.CDLL(str(library)).MKL_Set_Num_Threads_Local
    except (AttributeError, OSError):  # torch without MKL
        return None
    return found


def release_idle_threads() -> None:
    """Ends the threads that wait for the next kernel of this thread; it starts them again.

    They wait busily for some milliseconds, on processors that another thread is about to use.
    """
    release = _releaser()
    if release is not None:
        release(_SOFTLY)


_SOFTLY = 1  # omp_pause_soft: what is set stays so


@functools.cache
def _releaser() -> Callable[[int], object] | None:
    try:
        found: Callable[[int], object] = ctypes.CDLL(None).omp_pause_resource_all
    except (AttributeError, OSError):  # before OpenMP 5, or threads of another kind
        return None
    return found
