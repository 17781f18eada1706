"""Threads that run the parts of steps: as many as parts run at once, kept for the next step."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from penstock.kernels.kernel_threads import kernel_threads
from penstock.state.turns import Turns

Job = Callable[[], Any]


class Crew:
    """A growing set of threads: jobs may wait for each other, so none waits for a free thread.

    `kernel_threads` says how many threads the kernels of a job are spread over, if not torch's
    number; `turns` how many jobs compute at once, if there is a limit.
    """

    def __init__(self, name: str, kernel_threads: int = 0, turns: Turns | None = None):
        self._name = name
        self._kernel_threads = kernel_threads
        self.turns = turns
        self._idle: list[SimpleQueue[Job | None]] = []
        self._lock = threading.Lock()
        self._closed = False

    def start(self, job: Job) -> None:
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = SimpleQueue()
            threading.Thread(target=self._work, args=(inbox,), name=self._name, daemon=True).start()
        inbox.put(job)

    def _work(self, inbox: SimpleQueue[Job | None]) -> None:
        if self._kernel_threads:
            with kernel_threads(self._kernel_threads):
                self._work_off(inbox)
        else:
            self._work_off(inbox)

    def _work_off(self, inbox: SimpleQueue[Job | None]) -> None:
        while (job := inbox.get()) is not None:
            job()
            del job
            with self._lock:
                if self._closed:
                    return
                self._idle.append(inbox)

    def close(self) -> None:
        """Ends the threads; those at work end after their job."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for inbox in idle:
            inbox.put(None)
