"""The losses of a layer's last call, of which each thread, and so each replica, has its own."""

from __future__ import annotations

import threading
from typing import Any


class ThreadLosses(threading.local):
    """What the calls of one thread have added; a copy of it starts without any."""

    def __init__(self) -> None:
        self.added: list[Any] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> ThreadLosses:
        return ThreadLosses()

    def __reduce__(self) -> tuple[type[ThreadLosses], tuple[()]]:
        return ThreadLosses, ()
