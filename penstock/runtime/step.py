"""One run of a plan: what kernels that are not pure functions need to know about it."""

from __future__ import annotations

import copy
import itertools
import time
from typing import Any

from penstock import errors
from penstock.state.containers import ResourceManager
from penstock.state.waiting import Cancellation, Gate

_step_ids = itertools.count(1)
_NEVER_CANCELLED = Cancellation()


class Step:
    """A step under way: its number, its own resources, and whether it must stop."""

    # What most steps have is that of the class: making one costs what it does not share.
    _resources: ResourceManager | None = None
    only_tries = False  # an op that has to wait raises MustWait instead
    rendezvous: Any = None  # where the parts of a step on several devices meet
    frame: tuple[int, ...] = ()  # the iterations of the loops over devices around a node
    trace: Any = None  # of a traced run: what its nodes did
    observer: Any = None  # of a debugged run: who sees its nodes
    resumption: Gate | None = None  # of a run that needs no thread while it waits: has it go on
    gate: Gate | None = None  # the same, for a kernel that may be called again after its wait
    parked: Any = None  # what such a kernel has waited for

    def __init__(
        self, deadline: float | None = None, cancellation: Cancellation = _NEVER_CANCELLED
    ):
        self.id = next(_step_ids)
        self.deadline = deadline
        self.cancellation = cancellation

    @property
    def resources(self) -> ResourceManager:
        """State that ends with the step: tensor arrays, stacks, temporary variables."""
        if self._resources is None:
            self._resources = ResourceManager()
        return self._resources

    def view(self, *, only_tries: bool = False, cancellation: Cancellation | None = None) -> Step:
        """The same step under other rules of waiting."""
        seen = copy.copy(self)
        seen._resources = self.resources
        seen.only_tries = only_tries
        if cancellation is not None:
            seen.cancellation = cancellation
        return seen

    def successor(self) -> Step:
        """A step of its own for a function that runs later, and as long as its session does."""
        return Step(None, self.cancellation)

    def check(self) -> None:
        """Raises where the step's time is over or it was cancelled."""
        if self.cancellation.is_cancelled:
            raise errors.CancelledError(None, None, "Step was cancelled")
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise errors.DeadlineExceededError(
                None,
                None,
                "Timed out waiting for notification: the step did not end within its timeout_in_ms",
            )
