"""What a queue must do, as plainly as can be said: no threads, no locks, no speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock import errors

Element = tuple[int, int]


@dataclass(eq=False)
class Operation:
    """An operation on the queue: what is left of it, and once it is over, how it ended."""

    closes: bool = False
    arriving: list[Element] = field(default_factory=list)
    wanted: int = 0
    allow_fewer: bool = False
    taken: list[Any] = field(default_factory=list)
    is_over: bool = False
    error: type[errors.OpError] | None = None

    def end(self, error: type[errors.OpError] | None = None) -> None:
        self.is_over, self.error = True, error


class PlainQueue:
    """Elements in the order in which they leave, and two lines of operations that wait.

    choose: the number of the element that leaves next.
    least: how many elements stay until the queue is closed.
    """

    def __init__(self, capacity: int, choose: Callable[[list[Any]], int], least: int = 0):
        self.capacity, self.choose, self.least = capacity, choose, least
        self.elements: list[Any] = []
        self.closed = False
        self.producers: list[Operation] = []
        self.consumers: list[Operation] = []

    def begin(self, operation: Operation) -> None:
        line = self.consumers if operation.wanted else self.producers
        line.append(operation)
        self._settle()

    def close_at_once(self) -> None:
        self.closed = True
        for operation in self.producers:
            operation.end(errors.CancelledError)
        self.producers.clear()
        self._settle()

    def give_up(self, operation: Operation) -> None:
        """Ends an operation that waits: what it took goes back, what it put stays."""
        line = self.consumers if operation.wanted else self.producers
        line.remove(operation)
        self.elements[:0] = operation.taken
        operation.end(errors.CancelledError)
        self._settle()

    def _settle(self) -> None:
        while self._advance(self.producers, self._produce) or self._advance(
            self.consumers, self._consume
        ):
            pass

    @staticmethod
    def _advance(line: list[Operation], step: Callable[[Operation], bool]) -> bool:
        """Lets the first operation of a line do one step; whether it could."""
        if not line or not step(line[0]):
            return False
        if line[0].is_over:
            line.pop(0)
        return True

    def _produce(self, operation: Operation) -> bool:
        if self.closed:
            operation.end(errors.CancelledError)
        elif operation.closes:
            self.closed = True
            operation.end()
        elif not operation.arriving:
            operation.end()
        elif len(self.elements) < self.capacity:
            self.elements.append(operation.arriving.pop(0))
        else:
            return False
        return True

    def _consume(self, operation: Operation) -> bool:
        if len(operation.taken) == operation.wanted:
            operation.end()
            return True
        available = len(operation.taken) + len(self.elements)
        if self.closed and available < operation.wanted:
            if operation.allow_fewer and available:
                operation.wanted = available
                return True
            self.elements[:0] = operation.taken
            operation.end(errors.OutOfRangeError)
            return True
        if len(self.elements) <= (0 if self.closed else self.least):
            return False
        operation.taken.append(self.elements.pop(self.choose(self.elements)))
        return True
