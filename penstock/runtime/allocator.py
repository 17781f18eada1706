"""Keeping large freed blocks in the process: a step then pays no page faults for its buffers.

glibc hands every block over 32 MB back to the kernel when it is freed and takes fresh, zeroed pages
for the next one: on large layers that costs more than the arithmetic. Two settings make it keep
and reuse them. `PENSTOCK_MALLOC=default` in the environment leaves malloc as it is.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # glibc's malloc.h
_LARGEST_INT = 2**31 - 1


@functools.cache
def keep_freed_memory() -> bool:
    """Sets glibc's malloc up once per process; whether it could be done."""
    if os.environ.get("PENSTOCK_MALLOC") == "default" or not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # another C library
        return False
    done = mallopt(_M_MMAP_MAX, 0) and mallopt(_M_TRIM_THRESHOLD, _LARGEST_INT)
    return bool(done)
