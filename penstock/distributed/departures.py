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

    1. The job is over when the chief has left, and no other task is there that has opened a session.
    2. A task that was lost may be on its way back: it counts as being there for `patience` seconds.
    3. A chief that opens another session after it left is back.

    Args:
      chief: the task that decides; without one a job is never over.
      over: called, once, when the job is over.
      patience: seconds that a task has to come back.
    """

    def __init__(self, chief: str | None, over: Callable[[], None], patience: float = 60.0):
        self._chief = chief
        self._over = over
        self._patience = patience
        self._lock = threading.Lock()
        self._users: dict[str, float | None] = {}  # when each was lost; None: it is there
        self._chief_left = False
        self._told = False

    def opened(self, task: str) -> None:
        """A task has opened a session."""
        with self._lock:
            self._users[task] = None
            if task == self._chief:
                self._chief_left = False

    def left(self, task: str) -> None:
        """A task has ended as it should."""
        with self._lock:
            self._users.pop(task, None)
            self._chief_left = self._chief_left or task == self._chief
        self._conclude()

    def lost(self, task: str, now: float) -> None:
        """A task can't be reached."""
        with self._lock:
            if task in self._users:
                self._users[task] = now

    def look(self, now: float) -> None:
        """Forgets tasks that were lost long ago."""
        with self._lock:
            for task, lost in list(self._users.items()):
                if lost is not None and now - lost > self._patience:
                    del self._users[task]
        self._conclude()

    def _conclude(self) -> None:
        with self._lock:
            is_over = self._chief_left and not self._users and not self._told
            self._told = self._told or is_over
        if is_over:
            self._over()
