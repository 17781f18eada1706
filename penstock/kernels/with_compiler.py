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
#: Sums that are rounded as they are written.
AS_WRITTEN = ("-ffp-contract=off",)


class NativeCode:
    """A file of `native_code`, to be compiled after so many uses of what it takes the place of.

    `is_good` says whether a library may take the place of ATen's kernels: it gives their values,
    in less time; it is asked in the background, too. `library` is None until there is one.
    """

    def __init__(
        self,
        file: str,
        uses: int,
        is_good: Callable[[ctypes.CDLL], bool],
        options: tuple[str, ...] = AS_WRITTEN,
    ):
        self._file, self._uses, self._is_good, self._options = file, uses, is_good, options
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
            library = shared_library(text, "-march=native", *self._options)
            if library is not None and self._is_good(library):
                self.library = library
            elif library is not None:
                _log.info(
                    "%s is not used: it differs from ATen's kernels, or is slower", self._file
                )
        except Exception:
            _log.warning("%s could not be compiled: ATen does its work", self._file, exc_info=True)

    def wait(self) -> None:
        """Returns when the background work, if there was any, is done."""
        if self._thread is not None:
            self._thread.join()
