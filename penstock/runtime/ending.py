"""The end of the program, while other threads still run steps: daemons, as queue runners are.

Torch lets go of the interpreter while a kernel computes, and while it frees memory. A thread that
wants it back after Python has begun to end is ended by Python, there and then. C++ allows that in
no function that must not fail: it would abort the process, whatever its exit status was to be. So
such a thread is made to stay where it is; it holds nothing that the end of the program needs.
"""

from __future__ import annotations

import atexit
import ctypes
import functools


@functools.cache
def let_threads_stay_at_the_end() -> None:
    """From the end of the program on, C++ puts a thread to sleep instead of aborting."""
    atexit.register(_put_to_sleep)


def _put_to_sleep() -> None:
    try:
        set_terminate = ctypes.CDLL("libstdc++.so.6")["_ZSt13set_terminatePFvvE"]
        pause = ctypes.CDLL(None)["pause"]
    except (OSError, AttributeError):
        return  # a system with another C++ library
    set_terminate(ctypes.cast(pause, ctypes.c_void_p))
