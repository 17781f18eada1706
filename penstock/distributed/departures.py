"""When a task that only serves others may go: the job is over.

A parameter server knows no end of its own. It learns of it from those that use it: each says so
when its program ends as it should; one that fails or is killed says nothing, and is waited for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

_LEADING = ("chief", "master", "worker")  # jobs whose tasks train, as a rule


def chief_of(tasks: Iterable[str]) -> str | None:
    """The task whose end is that of the job: the first of chief, master or worker."""
    known = set(tasks)
    for job in _LEADING:
        name = f"/job:{job}/replica:0/task:0"
        if name in known:
            return name
    return None


class Departures:
    """Who uses a task: tasks open sessions on it, leave it, or are lost.

    1. The job is over when the chief has left, and no task is there that has opened a session.
    2. A task that was lost may be on its way back, and a worker that was never seen on its way: it
       counts as being there for `patience` seconds. Workers that the chief ran parts of its own
       steps on are not expected to come for themselves.
    3. A chief that opens another session after it left is back.

    Args:
      tasks: all other tasks of the cluster.
      chief: the task that decides; without one a job is never over.
      over: called, once, when the job is over.
      patience: seconds that a task has to come.
    """

    def __init__(
        self,
        tasks: Iterable[str],
        chief: str | None,
        over: Callable[[], None],
        patience: float = 60.0,
    ):
        leading = tuple(f"/job:{job}/" for job in _LEADING)
        self._expected = {task for task in tasks if task.startswith(leading)}
        self._chief = chief
        self._over = over
        self._patience = patience
        self._lock = threading.Lock()
        self._users: dict[str, float | None] = {}  # since when each is away; None: it is there
        self._chief_left = False
        self._told = False

    def opened(self, task: str) -> None:
        """A task has opened a session."""
        with self._lock:
            self._users[task] = None
            self._expected.discard(task)
            if task == self._chief:
                self._chief_left = False

    def left(self, task: str, now: float, used: Iterable[str] = ()) -> None:
        """A task has ended as it should; `used`: where it had parts of its steps run."""
        with self._lock:
            self._users.pop(task, None)
            self._expected.discard(task)
            if task == self._chief:
                self._chief_left = True
                self._users.update(dict.fromkeys(self._expected.difference(used), now))
        self._conclude()

    def lost(self, task: str, now: float) -> None:
        """A task can't be reached."""
        with self._lock:
            if task in self._users:
                self._users[task] = now

    def look(self, now: float) -> None:
        """Forgets tasks that have been away for long."""
        with self._lock:
            for task, since in list(self._users.items()):
                if since is not None and now - since > self._patience:
                    del self._users[task]
        self._conclude()

    def _conclude(self) -> None:
        with self._lock:
            is_over = self._chief_left and not self._users and not self._told
            self._told = self._told or is_over
        if is_over:
            self._over()
