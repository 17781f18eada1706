"""One run of a plan: what kernels that are not pure functions need to know about it."""

from __future__ import annotations

import itertools
import time

from penstock import errors
from penstock.state.containers import ResourceManager

_step_ids = itertools.count(1)


class Step:
    """A step under way: its number, its own resources, and whether it must stop."""

    __slots__ = ("_resources", "deadline", "id")

    def __init__(self, deadline: float | None = None):
        self.id = next(_step_ids)
        self.deadline = deadline
        self._resources: ResourceManager | None = None

    @property
    def resources(self) -> ResourceManager:
        """State that ends with the step: tensor arrays, stacks, temporary variables."""
        if self._resources is None:
            self._resources = ResourceManager()
        return self._resources

    def check(self) -> None:
        """Raises where the step's time is over."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise errors.DeadlineExceededError(
                None, None, "the step did not end within its timeout_in_ms"
            )
