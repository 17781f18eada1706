"""The host's memory: what is freed stays in the process, and what is used often is in huge pages.

1. glibc hands every block over 32 MB back to the kernel when it is freed and takes fresh, zeroed
   pages for the next one: on large layers that costs more than the arithmetic. Two settings make it
   keep and reuse them.
2. Kernels that read tens of megabytes wait for the addresses of small pages: a recurrent network's
   step took 4 % less time in huge ones.

`PENSTOCK_MALLOC=default` in the environment leaves both as they are.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # glibc's malloc.h
_LARGEST_INT = 2**31 - 1
_MADV_COLLAPSE = 25  # Linux 6.1 and later
_HUGE_PAGE = 1 << 21
#: Bytes that are moved at most: a second or two of a thread in the background.
_MOST_IN_HUGE_PAGES = 1 << 30


@functools.cache
def keep_freed_memory() -> bool:
    """Sets glibc's malloc up once per process; whether it could be done."""
    library = _c_library()
    if library is None:
        return False
    done = library.mallopt(_M_MMAP_MAX, 0) and library.mallopt(_M_TRIM_THRESHOLD, _LARGEST_INT)
    return bool(done)


def use_huge_pages() -> int:
    """Moves the memory that the process has taken so far into huge pages; how many bytes of it.

    For steps that are known to run often, since all of it is copied once. Where the kernel has no
    such call, or no huge pages left, everything stays as it is.
    """
    library = _c_library()
    if library is None:
        return 0
    moved, left = 0, _MOST_IN_HUGE_PAGES
    for begin, end in _own_memory():
        size = min(end - begin, left)
        if library.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(size), _MADV_COLLAPSE) == 0:
            moved += size
            left -= size
    return moved


def _own_memory() -> Iterator[tuple[int, int]]:
    """Where the process keeps data of its own: the parts that whole huge pages fit into."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, access, _, _, _, *name = line.split(maxsplit=5)
        if access != "rw-p" or name not in ([], ["[heap]"]):
            continue
        begin, end = (int(address, 16) for address in addresses.split("-"))
        begin, end = -(-begin // _HUGE_PAGE) * _HUGE_PAGE, end // _HUGE_PAGE * _HUGE_PAGE
        if begin < end:
            yield begin, end


@functools.cache
def _c_library() -> ctypes.CDLL | None:
    """glibc, unless memory is to be left alone; None with another library or system."""
    if os.environ.get("PENSTOCK_MALLOC") == "default" or not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL("libc.so.6")
        return library if library.mallopt and library.madvise else None
    except (OSError, AttributeError):
        return None
