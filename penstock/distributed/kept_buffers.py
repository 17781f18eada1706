"""Memory for received tensors that is used again: new memory of the system is slow to touch."""

from __future__ import annotations

import threading
import weakref

import numpy as np

SMALLEST = 1 << 20  # bytes: what is smaller, the allocator keeps
_MOST_KEPT = 1 << 28


class KeptBuffers:
    """Gives out buffers, and takes each back when nothing uses it any more.

    Args:
      most_kept: how many bytes may lie here unused.
    """

    def __init__(self, most_kept: int = _MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._lock = threading.RLock()  # a buffer may come back while one is looked for
        self._free: list[np.ndarray] = []  # the one that came back last at the end
        self._kept = 0

    @property
    def kept(self) -> int:
        """The bytes that lie here unused."""
        return self._kept

    def take(self, size: int) -> np.ndarray:
        """A buffer of so many bytes, with whatever is in it."""
        memory = self._found(size)
        if memory is None:
            memory = np.empty(size, np.uint8)
        # Parts of an array of a memoryview keep that array alive; parts of a part would not.
        given = np.frombuffer(memory.data, np.uint8, size)
        back = weakref.finalize(given, self._put, memory)
        back.atexit = False
        return given

    def _found(self, size: int) -> np.ndarray | None:
        """The latest of those that are large enough, and not much too large."""
        with self._lock:
            for i in reversed(range(len(self._free))):
                if size <= len(self._free[i]) <= 2 * size:
                    found = self._free.pop(i)
                    self._kept -= len(found)
                    return found
        return None

    def _put(self, memory: np.ndarray) -> None:
        with self._lock:
            self._free.append(memory)
            self._kept += len(memory)
            while self._kept > self._most_kept:
                self._kept -= len(self._free.pop(0))

    def clear(self) -> None:
        """Lets go of all that lies here."""
        with self._lock:
            self._free.clear()
            self._kept = 0


#: Those of this process.
received = KeptBuffers()


def buffer_of(size: int) -> np.ndarray:
    """Memory for a message's tensors."""
    return received.take(size) if size >= SMALLEST else np.empty(size, np.uint8)
