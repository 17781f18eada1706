"""One run of a plan: what kernels that are not pure functions need to know about it."""

from __future__ import annotations

import itertools
import time
from typing import Any

from penstock import errors
from penstock.state.containers import ResourceManager
from penstock.state.waiting import Cancellation

_step_ids = itertools.count(1)
_NEVER_CANCELLED = Cancellation()


class Step:
    """A step under way: its number, its own resources, and whether it must stop."""

    __slots__ = ("_resources", "cancellation", "deadline", "id", "trace")

    def __init__(
        self, deadline: float | None = None, cancellation: Cancellation = _NEVER_CANCELLED
    ):
        self.id = next(_step_ids)
        self.deadline = deadline
        self.cancellation = cancellation
        self._resources: ResourceManager | None = None
        self.trace: Any = None  # of a traced run: what its nodes did

    @property
    def resources(self) -> ResourceManager:
        """State that ends with the step: tensor arrays, stacks, temporary variables."""
        if self._resources is None:
            self._resources = ResourceManager()
        return self._resources

    def successor(self) -> Step:
        """A step of its own for a function that runs later, and as long as its session does."""
        return Step(None, self.cancellation)

    def check(self) -> None:
        """Raises where the step's time is over."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise errors.DeadlineExceededError(
                None,
                None,
                "Timed out waiting for notification: the step did not end within its timeout_in_ms",
            )
