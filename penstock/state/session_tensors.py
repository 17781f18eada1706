"""Tensors that a session keeps between steps, under handles."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from penstock import errors


class SessionTensors:
    """The kept tensors of a session; a handle is `node;number;device`."""

    def __init__(self, device: str):
        self._device = device
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._values: dict[str, Any] = {}

    def keep(self, node: str, value: Any) -> str:
        with self._lock:
            handle = f"{node};{next(self._numbers)};{self._device}"
            self._values[handle] = value
            return handle

    def get(self, handle: str) -> Any:
        with self._lock:
            if handle not in self._values:
                raise _missing(handle)
            return self._values[handle]

    def delete(self, handle: str) -> None:
        with self._lock:
            if handle not in self._values:
                raise _missing(handle)
            del self._values[handle]


def _missing(handle: str) -> errors.OpError:
    return errors.InvalidArgumentError(
        None, None, f"The tensor with handle '{handle}' is not in the session store."
    )
