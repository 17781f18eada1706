"""Threads that wake others when they wait themselves."""

import threading
import time

import pytest

from penstock import errors
from penstock.runtime.step import Step
from penstock.state.waiting import (
    DONE,
    NOTHING,
    Attempt,
    Cancellation,
    Lines,
    end_of_hold,
    hold_wakes,
)

LONG = 30.0


class Place:
    """Where threads wait for numbers; `taken` has those that some thread has gone on with."""

    def __init__(self):
        self._lines = Lines(1)
        self._numbers = []
        self.taken = []

    def put(self, number):
        with self._lines.lock:
            self._numbers.append(number)
            self._lines.flush()

    def take(self, step=None):
        found = []

        def attempt():
            if not self._numbers:
                return NOTHING
            found.append(self._numbers.pop(0))
            return DONE

        self._lines.run(0, Attempt(attempt), step or Step(), "take")
        self.taken += found

    @property
    def has_waiting(self):
        with self._lines.lock:
            return bool(self._lines[0])


def waiting_thread(place):
    thread = threading.Thread(target=place.take, daemon=True)
    thread.start()
    end = time.monotonic() + LONG
    while not place.has_waiting:
        assert time.monotonic() < end
        time.sleep(0.001)
    return thread


@pytest.fixture
def held():
    hold_wakes()
    yield
    end_of_hold()


def test_who_waits_is_woken_at_the_end(held):
    place = Place()
    thread = waiting_thread(place)
    place.put(7)
    thread.join(0.1)
    assert thread.is_alive() and not place.has_waiting  # it has its number, and does not know
    end_of_hold()
    thread.join(LONG)
    assert place.taken == [7]


def test_who_is_going_to_wait_wakes_others_first(held):
    first, second = Place(), Place()

    def answer():
        first.take()
        second.put(2)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    while not first.has_waiting:
        time.sleep(0.001)
    first.put(1)
    second.take()  # would wait for ever
    thread.join(LONG)
    assert (first.taken, second.taken) == ([1], [2])


def test_a_step_that_was_cancelled_before_does_not_wait():
    """In a thread of its own: if it waited, it would do so without end."""
    cancelled = Cancellation()
    cancelled.cancel()
    refused = []

    def take():
        hold_wakes()
        try:
            Place().take(Step(None, cancelled))
        except errors.CancelledError as error:
            refused.append(error)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    thread.join(LONG)
    assert len(refused) == 1


def test_after_the_end_others_are_woken_at_once(held):
    end_of_hold()
    place = Place()
    thread = waiting_thread(place)
    place.put(7)
    thread.join(LONG)
    assert place.taken == [7]


def test_what_needs_no_wait_wakes_nobody(held):
    place = Place()
    place.put(7)
    place.take()
    assert place.taken == [7]


def test_the_end_tells_whether_there_was_something_to_end(held):
    assert end_of_hold()
    assert not end_of_hold()
