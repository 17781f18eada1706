"""Sparse tensors put aside under a number, to be taken out as a batch later."""

from __future__ import annotations

import threading
from typing import Any

from penstock import errors


class SparseTensorsMap:
    """Each sparse tensor (its indices, values and shape) has a handle and is taken out once."""

    def __init__(self, name: str):
        self.name = name
        self._lock = threading.Lock()
        self._tensors: dict[int, tuple[Any, Any, Any]] = {}
        self._next = 0

    def add(self, indices: Any, values: Any, shape: Any) -> int:
        with self._lock:
            handle = self._next
            self._next += 1
            self._tensors[handle] = (indices, values, shape)
            return handle

    def take(self, handles: list[int]) -> list[tuple[Any, Any, Any]]:
        """Removes and returns the tensors of these handles."""
        with self._lock:
            for handle in handles:
                if handle not in self._tensors:
                    raise errors.InvalidArgumentError(
                        None, None, f"Unable to find SparseTensor: {handle} in map: {self.name}"
                    )
            return [self._tensors.pop(handle) for handle in handles]
