"""Whether a pipeline's threads are gone."""

from __future__ import annotations

import threading
import time


def threads_end(before: int, patience: float = 5.0) -> bool:
    """Whether there are no more threads than before, now or soon."""
    end = time.monotonic() + patience
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    return threading.active_count() <= before
