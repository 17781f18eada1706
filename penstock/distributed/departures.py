"""When a task that only serves others may go: the job is over.

A parameter server knows no end of its own. It learns of it from those that use it: each says so
when its program ends as it should; one that fails or is killed says nothing, and is waited for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

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
    4. Tasks that were lost are known by name until they come back, for those who wait for them.
    5. A task that has come back is not lost by the connection that it had before, which may be
       found broken only then.

    Times in, conclusions out: no threads, no clocks.

    Args:
      tasks: all other tasks of the cluster.
      chief: the task that decides; without one a job is never over.
      patience: seconds that a task has to come.
    """

    def __init__(self, tasks: Iterable[str], chief: str | None, patience: float = 60.0):
        leading = tuple(f"/job:{job}/" for job in _LEADING)
        self._expected = {task for task in tasks if task.startswith(leading)}
        self._chief = chief
        self._patience = patience
        self._links: dict[str, Hashable] = {}  # by which each of those that are there has come
        self._away: dict[str, float] = {}  # since when each of those that may come back is away
        self._missing: set[str] = set()  # were lost, and have not come back
        self._alone_since = 0.0  # if nobody is there
        self._chief_left = False
        self._told = False

    def opened(self, task: str, link: Hashable = None) -> None:
        """A task has opened a session, over a connection."""
        self._links[task] = link
        self._away.pop(task, None)
        self._missing.discard(task)
        self._expected.discard(task)
        if task == self._chief:
            self._chief_left = False

    def seen(self, task: str, link: Hashable) -> None:
        """A task has run a step, perhaps over another connection than before."""
        if self._links.get(task, self) is not link and (task in self._links or task in self._away):
            self.opened(task, link)

    def left(self, task: str, now: float, used: Iterable[str] = ()) -> bool:
        """A task has ended as it should; `used`: where it had parts of its steps run.

        Returns whether the job is over, once.
        """
        self._links.pop(task, None)
        self._away.pop(task, None)
        self._missing.discard(task)
        self._alone_since = now
        self._expected.discard(task)
        if task == self._chief:
            self._chief_left = True
            self._away.update(dict.fromkeys(self._expected.difference(used), now))
        return self._concluded()

    def lost(self, task: str, now: float, link: Hashable = None) -> None:
        """A connection to a task is broken."""
        if task in self._links and self._links[task] == link:
            del self._links[task]
            self._away[task] = now
            self._missing.add(task)
            self._alone_since = now

    def awaited(self, now: float) -> tuple[list[str], float]:
        """Who was lost, and for how long nobody has been there; none if somebody is there."""
        if self._links or self._told:
            return [], 0.0
        return sorted(self._missing), now - self._alone_since

    def look(self, now: float) -> bool:
        """Forgets tasks that have been away for long; returns whether the job is over, once."""
        gone = [task for task, since in self._away.items() if now - since > self._patience]
        for task in gone:
            del self._away[task]
        return self._concluded()

    def _concluded(self) -> bool:
        is_over = self._chief_left and not self._links and not self._away and not self._told
        self._told = self._told or is_over
        return is_over
