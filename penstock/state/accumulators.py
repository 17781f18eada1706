"""Conditional accumulators: gradients are summed up until enough of them have come.

How gradients add up is the kernels' matter: here they are values with a `plus` function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.dtypes import DType
from penstock.platform import logging
from penstock.shapes import Shape, text
from penstock.state.waiting import DONE, NOTHING, Attempt, Lines, Outcome, Waiter

_TAKES = 0
_TAKE = "TakeGrad"


class _Take(Attempt):
    """One who waits for a sum, with the sum, and the number of its gradients, in the end."""

    __slots__ = ("taken",)
    taken: tuple[Any, int]


class ConditionalAccumulator:
    """A sum of gradients.

    1. A gradient of an older step than the accumulator's own is stale: it is dropped.
    2. Taking waits until enough gradients are there, empties the sum, and begins the next step.
    """

    def __init__(self, name: str, dtype: DType, shape: Shape, reduction: str, *, sparse: bool):
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.reduction = reduction
        self.sparse = sparse
        self.global_step = 0
        self.count = 0
        self.sum: Any = None
        self._lines = Lines(1)

    def apply(
        self,
        local_step: int,
        gradient: Any,
        plus: Callable[[Any, Any], Any],
        owned: Callable[[Any], Any],
    ) -> None:
        """Adds a gradient that was computed in `local_step`; the first one as a copy (`owned`)."""
        with self._lines.lock:
            if local_step < self.global_step:
                return
            self.sum = owned(gradient) if self.sum is None else plus(self.sum, gradient)
            self.count += 1
            if self._lines[_TAKES]:
                self._lines.flush()

    def take(self, required: int, waiter: Waiter) -> tuple[Any, int]:
        """The sum of at least so many gradients, and how many they are."""
        if waiter.parked is not None:
            before: _Take = self._lines.parked(_TAKES, waiter, _TAKE)
            return before.taken
        with self._lines.lock:
            if self.count >= required and not self._lines[_TAKES]:
                return self._taken()

        def take() -> Outcome:
            if self.count < required:
                return NOTHING
            attempt.taken = self._taken()
            return DONE

        attempt = _Take(take)
        self._lines.run(_TAKES, attempt, waiter, _TAKE)
        return attempt.taken

    def _taken(self) -> tuple[Any, int]:
        taken = self.sum, self.count
        self.sum, self.count = None, 0
        self.global_step += 1
        return taken

    def set_global_step(self, step: int) -> None:
        with self._lines.lock:
            if step < self.global_step:
                logging.warning(
                    "Attempt to set current_global_step_ to smaller value: current_global_step_ = "
                    "%d >= %d = new_global_step.",
                    self.global_step,
                    step,
                )
            self.global_step = step

    def read(self) -> np.ndarray:
        """What an old handle holds as a value: the names of container and accumulator."""
        return np.array([b"", self.name.encode()], dtype=object)

    def mismatch(self, other: ConditionalAccumulator) -> str | None:
        """Why a node that would make `other` can't share this accumulator."""
        shared = f"Shared conditional accumulator '{self.name}' has"
        if self.sparse != other.sparse:
            kinds = {True: "SparseConditionalAccumulator", False: "ConditionalAccumulator"}
            return f"{shared} type '{kinds[self.sparse]}', not '{kinds[other.sparse]}'"
        if self.dtype is not other.dtype:
            return f"{shared} dtype {self.dtype.name} but requested dtype is {other.dtype.name}"
        if self.shape != other.shape:
            return f"{shared} shape {text(self.shape)} but requested shape is {text(other.shape)}"
        return None
