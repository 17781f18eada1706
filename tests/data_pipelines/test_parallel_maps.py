"""Tasks of several calls give what calls one by one give, in order, with their errors."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import errors
from penstock.kernels.datasets import mapping
from penstock.kernels.datasets.mapping import ParallelMapped
from penstock.state.datasets import Elements

COUNT = 300


class _Numbers(Elements):
    """0, 1, … with a failure in the place of `broken`."""

    def __init__(self, broken: int | None = None):
        self._next, self._broken = 0, broken

    def next(self) -> Any:
        number, self._next = self._next, self._next + 1
        if number == self._broken:
            raise errors.DataLossError(None, None, "broken source")
        return (number,) if number < COUNT else None

    def save(self) -> Any:
        return self._next

    def restore(self, state: Any) -> None:
        self._next = state

    def close(self) -> None:
        pass


class _Context:
    in_order = True
    threads = None

    @staticmethod
    def call(function: Any, values: Any) -> Any:
        return function(*values)


def _double(number: int) -> tuple[int]:
    if number == 222:
        raise errors.InvalidArgumentError(None, None, "not this one")
    return (2 * number,)


@pytest.fixture(autouse=True)
def large_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if calls were long enough for threads, and short enough for several a task."""
    monkeypatch.setattr(mapping._Usefulness, "is_low", lambda self: False)
    monkeypatch.setattr(mapping._Usefulness, "calls_per_task", lambda self: 5)


def _mapped(source: Elements, function: Any = _double) -> ParallelMapped:
    return ParallelMapped(source, function, (), _Context(), 2, True, free=True)


def _all(elements: ParallelMapped) -> list[Any]:
    found: list[Any] = []
    while True:
        try:
            element = elements.next()
        except errors.OpError as error:
            found.append(error.message)
            continue
        if element is None:
            elements.close()
            return found
        found.append(element[0])


def test_results_are_in_order_and_one_failure_is_that_of_its_element() -> None:
    expected: list[Any] = [2 * number for number in range(COUNT)]
    expected[222] = "not this one"
    assert _all(_mapped(_Numbers())) == expected


@pytest.mark.parametrize("broken", [0, 3, 5, 100])
def test_a_failure_of_the_source_comes_after_the_results_before_it(broken: int) -> None:
    expected: list[Any] = [2 * number for number in range(COUNT)]
    expected[222] = "not this one"
    expected[broken] = "broken source"
    assert _all(_mapped(_Numbers(broken))) == expected


def test_a_function_that_ends_the_range_in_a_task_ends_the_elements() -> None:
    def ending(number: int) -> tuple[int]:
        if number >= 13:
            raise errors.OutOfRangeError(None, None, "enough")
        return (number,)

    elements = ParallelMapped(_Numbers(), ending, (), _Context(), 2, False, free=True)
    assert _all(elements) == list(range(13))


@pytest.mark.parametrize("taken", [0, 1, 5, 7, 221])
def test_saved_in_the_middle_of_a_task(taken: int) -> None:
    first = _mapped(_Numbers())
    for _ in range(taken):
        first.next()
    state = first.save()
    again = _mapped(_Numbers())
    again.restore(state)
    assert _all(again) == _all(first)


def test_a_task_is_one_call_until_their_time_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    usefulness = mapping._Usefulness(expected=True)
    assert usefulness.calls_per_task() == 1
    usefulness._calls, usefulness._wall = 100, 100 * 0.9e-3
    assert usefulness.calls_per_task() == 3
    usefulness._wall = 100 * 10.0
    assert usefulness.calls_per_task() == 1
    usefulness._wall = 0.0
    assert usefulness.calls_per_task() == mapping._MOST_PER_TASK
