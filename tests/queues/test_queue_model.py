"""Queues of all kinds against a plain model, in random sequences of operations."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from penstock import dtypes, errors
from penstock.state import queues
from tests.queues.waiting_steps import Impatient

VALUES = st.integers(0, 5)


class QueueMachine(RuleBasedStateMachine):
    """What goes in comes out; an operation that would wait is given up and changes nothing."""

    kind = "fifo"
    capacity = 3
    least = 0

    def __init__(self) -> None:
        super().__init__()
        self.queue = self.make()
        self.model: list[tuple[int, int]] = []  # (value, number), in the order of coming
        self.number = 0
        self.closed = False

    def make(self) -> queues.Queue:
        arguments: Any = ("q", [dtypes.int64, dtypes.int64], [(), ()], self.capacity)
        if self.kind == "fifo":
            return queues.FIFOQueue(*arguments)
        if self.kind == "priority":
            return queues.PriorityQueue(*arguments)
        words = iter(range(7, 10**6, 13))
        return queues.RandomShuffleQueue(
            *arguments, min_after_dequeue=self.least, random_word=lambda: next(words)
        )

    def fresh(self, values: list[int]) -> list[tuple[int, int]]:
        elements = [(value, self.number + i) for i, value in enumerate(values)]
        self.number += len(values)
        return elements

    def ready(self) -> int:
        return len(self.model) - (0 if self.closed else self.least)

    def expect(self, taken: list[Any]) -> None:
        """Removes what was taken from the model, where it is what the model would give."""
        if self.kind == "fifo":
            assert taken == self.model[: len(taken)]
        elif self.kind == "priority":
            assert taken == heapq.nsmallest(len(taken), self.model)
        else:
            assert not Counter(taken) - Counter(self.model)
        for element in taken:
            self.model.remove(element)

    @rule(value=VALUES)
    def enqueue(self, value: int) -> None:
        (element,) = self.fresh([value])
        if self.closed:
            with pytest.raises(errors.CancelledError, match="is closed"):
                self.queue.enqueue(element, Impatient())
        elif len(self.model) == self.capacity:
            with pytest.raises(errors.DeadlineExceededError):
                self.queue.enqueue(element, Impatient())
        else:
            self.queue.enqueue(element, Impatient())
            self.model.append(element)

    @rule(values=st.lists(VALUES, max_size=5))
    @precondition(lambda self: not self.closed)
    def enqueue_many(self, values: list[int]) -> None:
        """As many as there is room for stay in the queue, though the rest is given up."""
        elements = self.fresh(values)
        room = self.capacity - len(self.model)
        if len(values) > room:
            with pytest.raises(errors.DeadlineExceededError):
                self.queue.enqueue_many(elements, Impatient())
        else:
            self.queue.enqueue_many(elements, Impatient())
        self.model += elements[:room]

    @rule()
    def dequeue(self) -> None:
        if self.ready() > 0:
            self.expect([self.queue.dequeue(Impatient())])
            return
        expected = errors.OutOfRangeError if self.closed else errors.DeadlineExceededError
        with pytest.raises(expected):
            self.queue.dequeue(Impatient())

    @rule(count=st.integers(1, 5), allow_fewer=st.booleans())
    def dequeue_many(self, count: int, allow_fewer: bool) -> None:
        if self.ready() >= count:
            self.expect(self.queue.dequeue_many(count, Impatient(), allow_fewer=allow_fewer))
        elif self.closed and allow_fewer and self.model:
            taken = self.queue.dequeue_many(count, Impatient(), allow_fewer=True)
            assert len(taken) == len(self.model)
            self.expect(taken)
        else:
            expected = errors.OutOfRangeError if self.closed else errors.DeadlineExceededError
            with pytest.raises(expected):
                self.queue.dequeue_many(count, Impatient(), allow_fewer=allow_fewer)

    @rule(cancel=st.booleans())
    def close(self, cancel: bool) -> None:
        if self.closed and not cancel:
            with pytest.raises(errors.CancelledError, match="already closed"):
                self.queue.close_for(Impatient())
        else:
            self.queue.close_for(Impatient(), cancel_pending_enqueues=cancel)
        self.closed = True

    def teardown(self) -> None:
        assert len(self.queue) == len(self.model)
        assert self.queue.closed == self.closed


@pytest.mark.parametrize("kind", ["fifo", "priority", "shuffle"])
@pytest.mark.parametrize(("capacity", "runs", "steps"), [(1, 100, 10), (3, 150, 25), (8, 90, 50)])
def test_queue_behaves_as_its_model(kind: str, capacity: int, runs: int, steps: int) -> None:
    least = 2 if kind == "shuffle" and capacity > 2 else 0
    attributes = {"kind": kind, "capacity": capacity, "least": least}
    machine = type("Machine", (QueueMachine,), attributes)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=runs, stateful_step_count=steps, derandomize=True, database=None
        ),
    )
