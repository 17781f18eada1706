"""When a task that only serves others may go: the job is over.

A parameter server knows no end of its own. It learns of it from those that use it: each says so
when its program ends as it should; one that fails or is killed says nothing, and is waited for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable


def chief_of(tasks: Iterable[str]) -> str | None:
    """The task whose end is that of the job: the first of chief, master or worker."""
    known = set(tasks)
    for job in ("chief", "master", "worker"):
        name = f"/job:{job}/replica:0/task:0"
        if name in known:
            return name
    return None


class Departures:
    """Who uses a task: tasks open sessions on it, leave it, or are lost.

    The job is over when the chief has left and no other task is there that has opened a session. A
    chief that opens another one after it left is back.

    Args:
      chief: the task that decides; without one a job is never over.
      over: called, once, when the job is over.
    """

    def __init__(self, chief: str | None, over: Callable[[], None]):
        self._chief = chief
        self._over = over
        self._lock = threading.Lock()
        self._users: set[str] = set()
        self._chief_left = False
        self._told = False

    def opened(self, task: str) -> None:
        """A task has opened a session."""
        with self._lock:
            self._users.add(task)
            if task == self._chief:
                self._chief_left = False

    def left(self, task: str) -> None:
        """A task has ended as it should."""
        self._gone(task, task == self._chief)

    def lost(self, task: str) -> None:
        """A task can't be reached: it may come back."""
        self._gone(task, False)

    def _gone(self, task: str, is_end: bool) -> None:
        with self._lock:
            self._users.discard(task)
            self._chief_left = self._chief_left or is_end
            is_over = self._chief_left and not self._users and not self._told
            self._told = self._told or is_over
        if is_over:
            self._over()
