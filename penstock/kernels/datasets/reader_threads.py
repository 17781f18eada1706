"""The threads that read pipelines ahead of time."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable
from typing import Protocol

_LONGEST_ELEMENT = 5  # seconds that the end of the program waits for a thread


class Reading(Protocol):
    """What a thread does until it is told to stop; it must not know its reader, which tells it."""

    def run(self) -> None: ...

    def stop(self) -> None: ...


_under_way: weakref.WeakKeyDictionary[Reading, threading.Thread] = weakref.WeakKeyDictionary()


def start(reading: Reading, name: str) -> None:
    """Starts the thread of a reading."""
    thread = threading.Thread(target=reading.run, name=name, daemon=True)
    _under_way[reading] = thread
    thread.start()


def stop_with(reader: object, stop: Callable[[], None]) -> None:
    """Stops readings when their reader is forgotten."""
    weakref.finalize(reader, stop)


@atexit.register
def _end_threads() -> None:
    """Python must not end while a thread is in a kernel: the process would be aborted."""
    for reading, thread in list(_under_way.items()):
        reading.stop()
        thread.join(_LONGEST_ELEMENT)
