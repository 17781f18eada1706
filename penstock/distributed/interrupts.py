"""Ctrl-C in the middle of a conversation with other tasks.

Python raises KeyboardInterrupt between any two instructions of the main thread: between the taking
of a lock and the `try` that lets go of it, too, after which everybody waits without end. So while
that thread talks to other tasks, Ctrl-C reaches it where it waits, or at the end; what it does
until then may be ended from another thread. Who presses Ctrl-C twice is obeyed at once.
"""

from __future__ import annotations

import _thread
import signal
import threading

# Whose `getsignal` makes no enum of what it finds: every step comes along here.
from _signal import getsignal  # type: ignore[import-not-found]
from collections.abc import Callable
from typing import Any


class _Main:
    """What is known of the main thread."""

    def __init__(self) -> None:
        self.thread = threading.main_thread().ident
        self.depth = 0  # of sections that are not to be interrupted
        self.has_come = False
        self.stop: Callable[[], None] | None = None  # ends what it does


_main = _Main()


def _came(number: int, frame: Any) -> None:
    if not _main.depth or _main.has_come:
        signal.default_int_handler(number, frame)
    _main.has_come = True
    if _main.stop is not None:
        # Not in this thread, which may hold any lock now, and without those of `threading`.
        _thread.start_new_thread(_main.stop, ())


class Held:
    """A section that Ctrl-C does not interrupt; it is raised at its end.

    A handler that a program has installed itself is left alone.

    Args:
      stop: ends early what the section does, from another thread.
    """

    __slots__ = ("_depth", "_outer", "_stop")

    def __init__(self, stop: Callable[[], None] | None = None):
        self._stop = stop
        self._depth = -1  # of the section around it; less in other threads

    def __enter__(self) -> None:
        if threading.get_ident() != _main.thread:
            return
        if getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _came)
        self._outer = _main.stop
        self._depth = _main.depth
        _main.depth += 1
        _main.stop = self._stop or self._outer

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._depth < 0:
            return
        _main.stop = self._outer
        _main.depth = self._depth
        if _main.has_come and not self._depth:
            _main.has_come = False
            if kind is not KeyboardInterrupt:
                raise KeyboardInterrupt


class Open:
    """A wait within such a section, which Ctrl-C does interrupt."""

    __slots__ = ("_depth",)

    def __enter__(self) -> None:
        self._depth = 0
        if threading.get_ident() != _main.thread:
            return
        if _main.has_come and _main.depth:
            raise KeyboardInterrupt
        self._depth, _main.depth = _main.depth, 0

    def __exit__(self, *_: object) -> None:
        if self._depth:
            _main.depth = self._depth
