"""Kernels of our own for CPUs, where ATen's go through memory more often than they must.

They are written in C++, and compiled by the compiler of this machine, in the background, once a
program has had use for them often. Until then, and where there is no compiler, or
`PENSTOCK_FUSION=0` is set, ATen's kernels do the work.
"""

from __future__ import annotations

import ctypes
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from penstock.kernels.compilers import shared_library

_log = logging.getLogger("penstock.fusion")
_FOLDER = Path(__file__).with_name("native_code")
#: For this machine alone, and without sums that are rounded otherwise than they are written.
_OPTIONS = ("-march=native", "-ffp-contract=off")


class NativeCode:
    """A file of `native_code`, to be compiled after so many uses of what it takes the place of.

    `agrees` says whether a library gives the values of the kernels that it takes the place of; it
    is asked in the background, too. `library` is None until there is one that does.
    """

    def __init__(self, file: str, uses: int, agrees: Callable[[ctypes.CDLL], bool]):
        self._file, self._uses, self._agrees = file, uses, agrees
        self._uses_left = uses
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.library: ctypes.CDLL | None = None

    def count_use(self) -> None:
        self._uses_left -= 1
        if self._uses_left <= 0 and self._thread is None:
            self._start()

    def _start(self) -> None:
        if os.environ.get("PENSTOCK_FUSION") == "0":
            self._uses_left = self._uses
            return
        with self._lock:
            if self._thread is not None:
                return
            self._thread = threading.Thread(
                target=self._compile, name="penstock-fusion", daemon=True
            )
            self._thread.start()

    def _compile(self) -> None:
        try:
            text = (_FOLDER / self._file).read_text(encoding="utf-8")
            library = shared_library(text, *_OPTIONS)
            if library is not None and self._agrees(library):
                self.library = library
            elif library is not None:
                _log.info("%s is not used: its values differ from ATen's", self._file)
        except Exception:
            _log.warning("%s could not be compiled: ATen does its work", self._file, exc_info=True)

    def wait(self) -> None:
        """Returns when the background work, if there was any, is done."""
        if self._thread is not None:
            self._thread.join()
