"""Queues of all kinds against a plain model, in random sequences of operations that may wait.

An operation that waits, according to the model, runs in a thread of its own; one that doesn't
runs at once, and fails if it has to wait after all.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from penstock import dtypes
from penstock.state import queues
from penstock.state.queue_rows import Rows
from penstock.state.waiting import Cancellation
from tests.queues.plain_queue import Element, Operation, PlainQueue
from tests.queues.waiting_steps import WAIT_SECONDS, Background, Impatient, Patient

VALUES = st.integers(0, 5)
MOST_WAITING = 4


def _first(elements: list[Any]) -> int:
    return 0


def _smallest(elements: list[Any]) -> int:
    return elements.index(min(elements))


KINDS: dict[str, tuple[type[queues.Queue], Any]] = {
    "fifo": (queues.FIFOQueue, _first),
    "padding": (queues.PaddingFIFOQueue, _first),
    "priority": (queues.PriorityQueue, _smallest),
    "shuffle": (queues.RandomShuffleQueue, _first),
}


class Words:
    """A generator for a queue that shuffles."""

    def __init__(self) -> None:
        self._last = 7

    def several(self, count: int) -> list[int]:
        return [self._next() for _ in range(count)]

    def _next(self) -> int:
        self._last = self._last * 1103515245 + 12345 & 0x7FFFFFFF
        return self._last >> 8

    def snapshot(self) -> list[int]:
        return [self._last]

    def restore(self, state: list[int]) -> None:
        (self._last,) = state


class Waiting:
    """An operation of the model, and the thread in which the queue's own one waits."""

    def __init__(self, operation: Operation, call: Any, *args: Any, **kwargs: Any):
        self.operation = operation
        self.cancellation = Cancellation()
        self.thread = Background(lambda: call(*args, Patient(self.cancellation), **kwargs))


class QueueMachine(RuleBasedStateMachine):
    """All operations end as those of the model do, those that waited too, and in its order."""

    kind = "fifo"
    in_rows = False
    capacity = 3
    least = 0

    def __init__(self) -> None:
        super().__init__()
        make, choose = KINDS[self.kind]
        arguments: Any = ("q", [dtypes.int64, dtypes.int64], [(), ()], self.capacity)
        more: Any = {}
        if make is queues.RandomShuffleQueue:
            more = {"min_after_dequeue": self.least, "random_words": Words()}
        if self.in_rows:
            more["rows"] = Rows([np.dtype(np.int64)] * 2, [(), ()])
        self.queue = make(*arguments, **more)
        self.model = PlainQueue(self.capacity, choose, self.least)
        self.waiting: list[Waiting] = []
        self.number = 0
        self.inside: Counter[Element] = Counter()  # what a queue that shuffles may give

    # Operations ----------------------------------------------------------------------------------

    @rule(values=st.lists(VALUES, min_size=1, max_size=5))
    @precondition(lambda self: len(self.waiting) < MOST_WAITING)
    def enqueue(self, values: list[int]) -> None:
        elements = [(value, self.number + i) for i, value in enumerate(values)]
        self.number += len(values)
        self.inside.update(elements)
        operation = Operation(arriving=list(elements))
        if len(elements) == 1:
            self.run(operation, self.queue.enqueue, elements[0])
        elif self.in_rows:
            self.run(operation, self.queue.enqueue_columns, list(np.array(elements).T))
        else:
            self.run(operation, self.queue.enqueue_many, elements)

    @rule()
    @precondition(lambda self: len(self.waiting) < MOST_WAITING)
    def dequeue(self) -> None:
        self.run(Operation(wanted=1), lambda waiter: [self.queue.dequeue(waiter)])

    @rule(count=st.integers(1, 5), allow_fewer=st.booleans())
    @precondition(lambda self: len(self.waiting) < MOST_WAITING)
    def dequeue_many(self, count: int, allow_fewer: bool) -> None:
        operation = Operation(wanted=count, allow_fewer=allow_fewer)
        call = self.columns if self.in_rows else self.queue.dequeue_many
        self.run(operation, call, count, allow_fewer=allow_fewer)

    def columns(self, *args: Any, **kwargs: Any) -> list[Any]:
        return list(zip(*self.queue.dequeue_columns(*args, **kwargs), strict=True))

    @rule()
    @precondition(lambda self: len(self.waiting) < MOST_WAITING and not self.model.closed)
    def close(self) -> None:
        self.run(Operation(closes=True), self.queue.close_for)

    @rule()
    def close_at_once(self) -> None:
        self.model.close_at_once()
        self.queue.close_for(Impatient(), cancel_pending_enqueues=True)
        self.compare()

    @rule(data=st.data())
    @precondition(lambda self: self.waiting)
    def give_up(self, data: st.DataObject) -> None:
        given_up = data.draw(st.sampled_from(self.waiting))
        self.model.give_up(given_up.operation)
        given_up.cancellation.cancel()
        self.compare()

    # Comparing -----------------------------------------------------------------------------------

    def run(self, operation: Operation, call: Any, *args: Any, **kwargs: Any) -> None:
        self.model.begin(operation)
        if operation.is_over:
            self.check_end(operation, lambda: call(*args, Impatient(), **kwargs))
        else:
            self.waiting.append(Waiting(operation, call, *args, **kwargs))
            self.wait_for_lines()
        self.compare()

    def wait_for_lines(self) -> None:
        """Until as many operations stand in the queue's lines as in those of the model."""
        expected = [len(self.model.producers), len(self.model.consumers)]
        end = time.monotonic() + WAIT_SECONDS
        while [len(self.queue._lines[line]) for line in (0, 1)] != expected:
            assert time.monotonic() < end, f"{expected} operations should wait"
            time.sleep(0)

    def compare(self) -> None:
        still = []
        for waiting in self.waiting:
            if waiting.operation.is_over:
                self.check_end(waiting.operation, waiting.thread.result)
            else:
                still.append(waiting)
        self.waiting = still
        self.wait_for_lines()
        assert len(self.queue) == len(self.model.elements)
        assert self.queue.closed == self.model.closed

    def check_end(self, operation: Operation, finish: Any) -> None:
        if operation.error is not None:
            with pytest.raises(operation.error):
                finish()
            self.inside.subtract(operation.arriving)  # what never came in
            return
        result = finish()
        if operation.wanted and self.in_rows:
            result = [tuple(map(int, element)) for element in result]
        if operation.wanted and self.kind == "shuffle":
            assert len(result) == operation.wanted
            assert not Counter(result) - self.inside
            self.inside.subtract(result)
        elif operation.wanted:
            assert result == operation.taken

    def teardown(self) -> None:
        while self.waiting:  # the end of one may let others go on
            self.model.give_up(self.waiting[0].operation)
            self.waiting[0].cancellation.cancel()
            self.compare()
        left = [list(map(int, element)) for element in self.queue.snapshot()["elements"]]
        if self.kind == "priority":
            assert left == [list(element) for element in sorted(self.model.elements)]
        elif self.kind != "shuffle":
            assert left == [list(element) for element in self.model.elements]
        else:
            assert Counter(map(tuple, left)) == +self.inside
        if self.queue.rows is not None:
            assert _rows_in_use(self.queue.rows) == len(left)


def _rows_in_use(rows: Rows) -> int:
    assert len(set(rows._free)) == len(rows._free)
    return len(rows._columns[0]) - len(rows._free)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("capacity", "runs", "steps"), [(1, 80, 12), (3, 100, 24), (8, 80, 40)])
def test_queue_behaves_as_its_model(kind: str, capacity: int, runs: int, steps: int) -> None:
    _compare_runs(kind, capacity, runs, steps)


@pytest.mark.parametrize("kind", ["fifo", "shuffle"])
@pytest.mark.parametrize(("capacity", "runs", "steps"), [(1, 20, 12), (3, 50, 24), (8, 30, 40)])
def test_queue_in_rows_behaves_as_its_model(
    kind: str, capacity: int, runs: int, steps: int
) -> None:
    _compare_runs(kind, capacity, runs, steps, in_rows=True)


def _compare_runs(
    kind: str, capacity: int, runs: int, steps: int, *, in_rows: bool = False
) -> None:
    least = 2 if kind == "shuffle" and capacity > 2 else 0
    attributes = {"kind": kind, "capacity": capacity, "least": least, "in_rows": in_rows}
    machine = type("Machine", (QueueMachine,), attributes)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=runs, stateful_step_count=steps, derandomize=True, database=None
        ),
    )
