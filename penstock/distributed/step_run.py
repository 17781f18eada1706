"""How a master follows one step over its tasks: events in, actions out, no sockets, no clocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from penstock import errors


@dataclass
class StepRun:
    """A step that some tasks run.

    The first error decides what the client is told, but for one that only says that the step was
    ended because of another. When it comes, the tasks that still run are told to stop; the step is
    over when all have answered.
    """

    running: set[str]
    error: BaseException | None = None
    ended: bool = field(default=False)

    @classmethod
    def of(cls, tasks: Iterable[str]) -> StepRun:
        return cls(set(tasks))

    def answered(self, task: str, error: BaseException | None) -> list[str]:
        """A task is done; returns the tasks to be told to stop."""
        self.running.discard(task)
        if error is None:
            return []
        if self.error is None or isinstance(self.error, errors.AbortedError):
            self.error = error if self.error is None or not _is_echo(error) else self.error
        return self._stop()

    def stop(self, error: BaseException) -> list[str]:
        """The client gives up, or its time is over; returns the tasks to be told."""
        if self.error is None:
            self.error = error
        return self._stop()

    def _stop(self) -> list[str]:
        if self.ended:
            return []
        self.ended = True
        return sorted(self.running)

    @property
    def is_over(self) -> bool:
        return not self.running


def _is_echo(error: BaseException) -> bool:
    return isinstance(error, (errors.AbortedError, errors.CancelledError))
