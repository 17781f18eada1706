"""Batches that several steps fill together, and parts of batches on their way back."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from penstock import errors
from penstock.state.waiting import DONE, NOTHING, SOME, Attempt, Lines, Outcome, Reminder, Waiter

_MICROSECOND = 1e-6


class Task:
    """What one step gave to a batch, and what it gets."""

    _keys = itertools.count(1)

    def __init__(self, tensors: Sequence[Any], size: int):
        self.tensors, self.size = tensors, size
        self.key = next(Task._keys)
        self.batch: OpenBatch | None = None
        self.results: Any = None


class OpenBatch:
    """Tasks that are computed together: the last one's step does it."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.is_closed = False
        self.is_computed = False
        self.error: errors.OpError | None = None

    @property
    def size(self) -> int:
        return sum(task.size for task in self.tasks)


class BatchingQueue:
    """Fills batches, one after the other.

    1. A batch is closed when it is full, when the next task does not fit, or when the time that
       its first task waits is over.
    2. Of a closed batch the step of the last task does what there is to do.
    """

    def __init__(self, name: str, most: int, timeout_micros: int, threads: int):
        self.name = name
        self._most = most
        self._timeout = max(timeout_micros, 0) * _MICROSECOND
        self._lines = Lines(1, unordered=True)
        self._open: OpenBatch | None = None
        self._threads = threading.BoundedSemaphore(max(threads, 1))

    def join(self, task: Task, waiter: Waiter) -> bool:
        """Waits until the task's batch is closed; whether it is for this step to compute it."""
        if task.size > self._most:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Task size {task.size} is larger than maximum batch size {self._most}",
            )
        attempt = Attempt(
            lambda: self._attempt(task), lambda: self._leave(task), in_parts=self._timeout > 0
        )
        reminder = Reminder(self._timeout, lambda: self._close_batch_of(task))
        self._lines.run(0, attempt, waiter, "Batch", reminder)
        assert task.batch is not None
        return task.batch.tasks[-1] is task

    def _attempt(self, task: Task) -> Outcome:
        if task.batch is None:
            batch = self._add(task)
            if self._timeout == 0:  # nobody waits
                self._close()
            return DONE if batch.is_closed else SOME
        return DONE if task.batch.is_closed else NOTHING

    def _add(self, task: Task) -> OpenBatch:
        if self._open is not None and self._open.size + task.size > self._most:
            self._close()
        if self._open is None:
            self._open = OpenBatch()
        batch = task.batch = self._open
        batch.tasks.append(task)
        if batch.size == self._most:
            self._close()
        return batch

    def _close(self) -> None:
        if self._open is not None:
            self._open.is_closed = True
            self._open = None

    def _leave(self, task: Task) -> None:
        batch = task.batch
        if batch is not None and not batch.is_closed:
            batch.tasks.remove(task)
            task.batch = None
            if not batch.tasks:
                self._open = None

    def _close_batch_of(self, task: Task) -> None:
        with self._lines.lock:
            if task.batch is self._open:
                self._close()
            self._lines.flush()

    def compute(self, batch: OpenBatch, call: Callable[[], None]) -> None:
        """Runs the call, which gives all tasks their results, for the whole batch."""
        try:
            with self._threads:
                call()
        except errors.OpError as error:
            batch.error = error
            raise
        except BaseException as error:
            batch.error = errors.InternalError(None, None, f"the batch failed: {error}")
            raise
        finally:
            with self._lines.lock:
                batch.is_computed = True
                self._lines.flush()

    def results(self, task: Task, waiter: Waiter) -> Any:
        """Waits until another step has computed the task's batch."""
        batch = task.batch
        assert batch is not None
        self._lines.run(
            0, Attempt(lambda: DONE if batch.is_computed else NOTHING), waiter, "BatchFunction"
        )
        if batch.error is not None:
            kind: Any = type(batch.error)
            raise kind(None, None, batch.error.message)
        return task.results


class PartsOnTheWay:
    """Parts of batches by the keys of tasks, from the step that has them to those that wait.

    What nobody comes for in time is dropped.
    """

    def __init__(self, name: str, timeout_micros: int | None = None):
        self.name = name
        self._timeout = None if timeout_micros is None else timeout_micros * _MICROSECOND
        self._lines = Lines(1, unordered=True)
        self._parts: dict[int, Any] = {}
        self._arrived: dict[int, float] = {}

    def put(self, parts: dict[int, Any]) -> None:
        """Leaves parts for the steps that wait for them."""
        now = time.monotonic()
        with self._lines.lock:
            if self._timeout is not None:
                late = [key for key, at in self._arrived.items() if now - at > self._timeout]
                for key in late:
                    self._drop(key)
            self._parts.update(parts)
            self._arrived.update(dict.fromkeys(parts, now))
            self._lines.flush()

    def _drop(self, key: int) -> Any:
        del self._arrived[key]
        return self._parts.pop(key)

    def take(self, keys: Sequence[int], waiter: Waiter) -> list[Any]:
        """The parts with these keys, when all are there."""

        def attempt() -> Outcome:
            if all(key in self._parts for key in keys):
                found.extend(map(self._drop, keys))
                return DONE
            if deadline is not None and time.monotonic() >= deadline:
                raise errors.DeadlineExceededError(
                    None, None, "Batched data did not arrive within timeout window."
                )
            return NOTHING

        found: list[Any] = []
        seconds = self._timeout
        deadline = None if seconds is None else time.monotonic() + seconds
        reminder = None if seconds is None else Reminder(seconds, self._flush)
        self._lines.run(0, Attempt(attempt), waiter, "Unbatch", reminder)
        return found

    def _flush(self) -> None:
        with self._lines.lock:
            self._lines.flush()
